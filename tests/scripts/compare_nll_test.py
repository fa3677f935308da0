#!/usr/bin/env python3
"""bench/compare_nll.py: paired windows, their standard error, and runs that do not fit together."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "compare_nll.py"


def compare(a, b):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, windows in (("a", a), ("b", b)):
            path = Path(folder) / name
            lines = [{"file": f, "window": w, "tokens": 2, "nll": nll} for (f, w), nll in windows.items()]
            lines.append({"model": "m", "tokens": 2 * len(windows), "mean_nll": 0})
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            paths.append(path)
        return subprocess.run([sys.executable, "-B", SCRIPT, *paths], capture_output=True, text=True)


class CompareNll(unittest.TestCase):
    def test_mean_and_standard_error_of_pairs(self):
        result = compare({("x", 0): 2.02, ("x", 1): 9.06}, {("x", 0): 2.00, ("x", 1): 9.00})
        # Per token 1 % and 3 %: mean 2 %, standard deviation sqrt(2) %, error 1 %.
        self.assertIn("= +2.0000 % +- 1.0000 %", result.stdout)
        self.assertIn("over 4 tokens in 2 windows", result.stdout)

    def test_different_windows_are_refused(self):
        result = compare({("x", 0): 2, ("x", 1): 9}, {("x", 0): 2, ("y", 1): 9})
        self.assertEqual(result.returncode, 1)
        self.assertIn("('x', 1)", result.stderr)

    def test_one_window_has_no_error(self):
        self.assertIn("found 1 windows", compare({("x", 0): 2}, {("x", 0): 2}).stderr)


if __name__ == "__main__":
    unittest.main()
