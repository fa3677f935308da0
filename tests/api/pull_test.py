#!/usr/bin/env python3
"""`pull` and `rm` with a stand-in for fetch_model.py beside a copy of the program. Usage: pull_test.py PROGRAM"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = ""
STARTER, BYTES = "SmolLM2-135M-Instruct.Q4_1.gguf", 98362432
HELPER = """
import os, pathlib, sys, time
print("helper", sys.argv[1:], file=sys.stderr, flush=True)
mode = os.environ["MODE"]
if mode == "fail":
    print("paceline: no network", file=sys.stderr)
    sys.exit(1)
if mode == "slow":
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        print("paceline: interrupted; finished parts are kept", file=sys.stderr)
        sys.exit(130)
folder = pathlib.Path(sys.argv[3]) / "models"
folder.mkdir(parents=True, exist_ok=True)
os.truncate(os.open(folder / "@FILE@", os.O_CREAT | os.O_RDWR), @BYTES@)
""".replace("@FILE@", STARTER).replace("@BYTES@", str(BYTES))


class Pull(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "bin").mkdir()
        (self.root / "share" / "paceline").mkdir(parents=True)
        self.program = shutil.copy(PROGRAM, self.root / "bin" / "paceline")
        (self.root / "share" / "paceline" / "fetch_model.py").write_text(HELPER)

    def tearDown(self):
        self.folder.cleanup()

    def environment(self, mode, **more):
        return {"HOME": str(self.root), "PATH": os.environ["PATH"], "MODE": mode, **more}

    def run_program(self, *words, mode="work", **more):
        return subprocess.run(
            [self.program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env=self.environment(mode, **more), timeout=120,
        )

    def test_pull_fetches_once_and_rm_deletes(self):
        first = self.run_program("pull", "smollm2:135m")
        path = self.root / ".cache" / "paceline" / "models" / STARTER
        self.assertEqual((first.returncode, first.stdout), (0, f"smollm2:135m: {path} (98.4 MB, Apache-2.0)\n"))
        self.assertIn("'smollm2:135m', '--cache-dir'", first.stderr)
        again = self.run_program("pull", "smollm2:135m")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertRegex(self.run_program("list").stdout, r"smollm2:135m +98.4 MB +yes")
        removed = self.run_program("rm", "smollm2:135m")
        self.assertEqual((removed.returncode, removed.stdout), (0, "smollm2:135m: deleted, 98.4 MB freed\n"))
        self.assertFalse(path.exists())

    def test_run_fetches_the_starter(self):
        result = self.run_program("run", "smollm2:135m", "hello", XDG_CACHE_HOME=str(self.root / "x"))
        self.assertEqual((result.returncode, result.stdout), (0, "1 messages, last: hello\n"))
        self.assertTrue((self.root / "x" / "paceline" / "models" / STARTER).exists())

    def test_a_failure_is_the_helpers_line_and_code_1(self):
        result = self.run_program("run", "smollm2:135m", "hello", mode="fail")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.splitlines()[-1], "paceline: no network")

    def test_accept_licence_and_cache_dir_are_passed_on(self):
        result = self.run_program("pull", "smollm2:135m", "--accept-licence", "--cache-dir", str(self.root / "c d"))
        self.assertIn(f"['smollm2:135m', '--cache-dir', '{self.root}/c d', '--accept-licence']", result.stderr)

    def test_a_name_that_is_not_in_the_catalogue(self):
        result = self.run_program("pull", "smollm:135m")
        self.assertEqual(result.returncode, 1)
        self.assertIn("did you mean 'smollm2:135m'?", result.stderr)

    def test_without_python(self):
        result = self.run_program("pull", "smollm2:135m", PATH=str(self.root))
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot start python3", result.stderr)

    def test_ctrl_c_lets_the_helper_finish(self):
        process = subprocess.Popen(
            [self.program, "pull", "smollm2:135m"], stderr=subprocess.PIPE, text=True,
            env=self.environment("slow"), process_group=0,
        )
        self.assertIn("helper", process.stderr.readline())
        time.sleep(0.2)  # into the sleep of the stand-in
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        self.assertIn("finished parts are kept", process.stderr.read())
        process.stderr.close()


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
