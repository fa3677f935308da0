"""scripts/run_ctest.py counts test cases and gives the right exit code."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import run_ctest  # noqa: E402

DOCTEST = "[doctest] test cases:  6 |  5 passed | 1 failed | 0 skipped\n"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(t NONE)
enable_testing()
add_test(NAME good COMMAND sh -c "echo '[doctest] test cases: 3 | 3 passed | 0 failed'; echo 'skipped: not cached'")
add_test(NAME bad COMMAND sh -c "exit %d")
set_tests_properties(bad PROPERTIES LABELS sad)
"""


class CountTest(unittest.TestCase):
    def counts(self, status, output):
        counts = run_ctest.count_test(status, output)
        return counts.passed, counts.failed, counts.skipped

    def test_doctest_cases(self):
        self.assertEqual(self.counts("fail", DOCTEST), (5, 1, 0))

    def test_unittest_cases(self):
        self.assertEqual(self.counts("run", "...\nRan 3 tests in 0.1s\n\nOK\n"), (3, 0, 0))
        self.assertEqual(self.counts("run", "Ran 3 tests in 0.1s\n\nOK (skipped=1)\n"), (2, 0, 1))
        output = "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=2)\n"
        self.assertEqual(self.counts("fail", output), (2, 3, 0))

    def test_plain_programs(self):
        self.assertEqual(self.counts("run", "fine"), (1, 0, 0))
        self.assertEqual(self.counts("fail", "Segmentation fault"), (0, 1, 0))

    def test_a_crash_after_passing_cases_is_a_failure(self):
        self.assertEqual(self.counts("fail", "[doctest] test cases: 6 | 6 passed | 0 failed\n"), (6, 1, 0))

    def test_skipped_cases_are_not_passed(self):
        output = "skipped: not cached\nskipped: no AVX-512\n[doctest] test cases: 6 | 6 passed | 0 failed\n"
        self.assertEqual(self.counts("run", output), (4, 0, 2))

    def test_not_run(self):
        self.assertEqual(self.counts("notrun", ""), (0, 0, 1))

    def test_closing_line(self):
        self.assertEqual(str(run_ctest.Counts(3, 0)), "3 passed, 0 failed")
        self.assertEqual(str(run_ctest.Counts(3, 1, 2)), "3 passed, 1 failed, 2 skipped")


class WholeRunTest(unittest.TestCase):
    def run_project(self, exit_code, arguments, check="passed"):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "CMakeLists.txt").write_text(PROJECT % exit_code)
            build = root / "build" / "p"
            subprocess.run(["cmake", "-S", folder, "-B", str(build)], check=True, capture_output=True)
            program = (
                f"import sys, pathlib; sys.path.insert(0, {str(Path(run_ctest.__file__).parent)!r}); import run_ctest;"
                f"run_ctest.ROOT = pathlib.Path({folder!r}); sys.exit(run_ctest.main())"
            )
            command = [sys.executable, "-c", program, "--check", check, "p", "--", *arguments]
            result = subprocess.run(command, capture_output=True, text=True)
            return result.returncode, result.stdout.splitlines()[-1]

    def test_exit_codes_and_closing_lines(self):
        self.assertEqual(self.run_project(0, []), (0, "4 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.run_project(3, []), (1, "3 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.run_project(3, ["-R", "good"]), (0, "3 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.run_project(0, [], "failed"), (1, "3 passed, 1 failed, 1 skipped"))


if __name__ == "__main__":
    unittest.main()
