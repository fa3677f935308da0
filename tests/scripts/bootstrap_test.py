"""scripts/bootstrap.sh in a folder of its own, with a PATH that holds only what a test puts there."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = "bash cat dirname flock grep head mkdir mktemp mv rm sed sha256sum tail touch".split()
WHEEL = "mlx/lib/libmlx.so"

# Enough of every tool that bootstrap.sh asks: versions, and a compiler that finds every header.
FAKES = {
    "g++": 'case "$1" in -dumpversion) echo 12 ;; *) cat >/dev/null ;; esac',
    "cmake": 'echo "cmake version 3.25.1"',
    "ninja": "",
    "ccache": "",
    "git": "",
    "cargo": 'echo "cargo 1.87.0 (fake)"',
    "rustc": 'echo "rustc 1.87.0 (fake)"',
    "dpkg": "",
    "apt-get": 'echo "$*" >>"$FAKE_LOG"; exit 100',
    "python3": """
case "$*" in
  *"pip --version"*) ;;
  "-m pip download"*)
    echo "$*" >>"$FAKE_LOG"
    while [ "$1" != --dest ]; do shift; done
    exec "$REAL_PYTHON" -c "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr('WHEEL', 'whole')" "$2/mlx.whl"
    ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
""".replace("WHEEL", WHEEL),
}


class BootstrapTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="paceline-bootstrap-"))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "bootstrap.sh", self.root / "scripts")
        self.bin, self.log = self.root / "bin", self.root / "log"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, body in FAKES.items():
            self.fake(name, body)
        self.user(1000)
        version = re.search(r"MLX_VERSION=(\S+)", (ROOT / "scripts" / "bootstrap.sh").read_text())[1]
        self.mlx = self.root / ".deps" / f"mlx-cpu-{version}"

    def fake(self, name, body):
        (self.bin / name).write_text(f"#!{shutil.which('sh')}\n{body}\n")
        (self.bin / name).chmod(0o755)

    def user(self, number):
        self.fake("id", f"echo {number}")

    def bootstrap(self, *words):
        environment = {"PATH": str(self.bin), "FAKE_LOG": str(self.log), "REAL_PYTHON": sys.executable}
        command = [self.bin / "bash", self.root / "scripts" / "bootstrap.sh", *words]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def assert_fetched(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.mlx / WHEEL).read_text(), "whole")

    def test_without_root_it_says_what_to_install_and_stops(self):
        for tool in ("ninja", "ccache"):
            (self.bin / tool).unlink()
        result = self.bootstrap()
        self.assertEqual(result.returncode, 1)
        first, second = result.stderr.splitlines()
        self.assertEqual(first, "paceline: these Debian packages or their like are missing: ninja-build ccache")
        self.assertTrue(second.endswith("apt-get install --no-install-recommends ninja-build ccache"), second)
        self.assertEqual(self.calls(), [])
        self.assertFalse(self.mlx.exists())

    def test_an_old_cargo_is_missing_rust(self):
        self.fake("cargo", 'echo "cargo 1.63.0"')
        result = self.bootstrap()
        self.assertEqual(result.returncode, 1)
        self.assertIn("missing: rustc-web cargo-web (rustc-web and cargo-web: any Rust and Cargo from 1.87 on)", result.stderr)

    def test_the_checks_need_more(self):
        result = self.bootstrap("--tests")
        self.assertIn("missing: clang-format-19 clang-tidy-19\n", result.stderr)
        self.assertEqual(result.returncode, 1)

    def test_root_calls_apt_and_reports_its_failure(self):
        self.user(0)
        (self.bin / "ninja").unlink()
        result = self.bootstrap()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(self.calls()), 1)
        self.assertTrue(self.calls()[0].endswith(" update"), self.calls())
        self.assertIn("missing: ninja-build\n", result.stderr)

    def test_mlx_is_fetched_once_by_hash(self):
        self.assert_fetched(self.bootstrap())
        self.assertEqual(len(self.calls()), 1)
        self.assertIn("--require-hashes", self.calls()[0])
        self.assert_fetched(self.bootstrap())
        self.assertEqual(len(self.calls()), 1)

    def test_dead_links_are_replaced(self):
        (self.root / ".deps").symlink_to("nowhere")
        self.assert_fetched(self.bootstrap())
        self.assertFalse((self.root / ".deps").is_symlink())
        shutil.rmtree(self.mlx)
        self.mlx.symlink_to("nowhere")
        self.assert_fetched(self.bootstrap())
        self.assertFalse(self.mlx.is_symlink())

    def test_a_link_to_a_folder_without_mlx_is_replaced_and_the_folder_kept(self):
        other = self.root / "other"
        other.mkdir()
        (other / "kept").touch()
        self.mlx.parent.mkdir()
        self.mlx.symlink_to(other)
        self.assert_fetched(self.bootstrap())
        self.assertFalse(self.mlx.is_symlink())
        self.assertTrue((other / "kept").exists())


if __name__ == "__main__":
    unittest.main()
