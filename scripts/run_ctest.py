#!/usr/bin/env python3
"""Runs ctest and closes with 'N passed, N failed' (', N skipped' when there are any), counted in test cases.

Usage: run_ctest.py [--check passed|failed] PRESET[=LABEL]... -- [ctest arguments]
A doctest or unittest program counts with its cases, any other test as one. A case that prints a line
'skipped: REASON' counts as skipped. --check adds the outcome of scripts/check.sh.
"""

import argparse
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCTEST = re.compile(r"\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed")
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*?^(?:OK|FAILED)(?: \((.*?)\))?$", re.M | re.S)
SKIPPED = re.compile(r"^skipped: .*", re.M)
JOBS = "2"


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: list = field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.reasons += other.reasons

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def count_cases(output):
    """(passed, failed, skipped) as the program itself counted, or None."""
    found = DOCTEST.search(output)
    if found:
        return int(found[2]), int(found[3]), 0
    found = UNITTEST.search(output)
    if found:
        parts = dict(re.findall(r"(\w+)=(\d+)", found[2] or ""))
        failed = int(parts.get("failures", 0)) + int(parts.get("errors", 0))
        skipped = int(parts.get("skipped", 0))
        return int(found[1]) - failed - skipped, failed, skipped
    return None


def count_test(status, output):
    """Counts of one ctest test; status is junit's run, fail, disabled or notrun."""
    reasons = SKIPPED.findall(output)
    if status in ("disabled", "notrun"):
        return Counts(skipped=1, reasons=reasons or ["skipped: " + status])
    passed, failed, skipped = count_cases(output) or ((1, 0, 0) if status == "run" else (0, 1, 0))
    if status == "fail" and failed == 0:  # crashed, timed out, or failed outside a case
        failed = 1
    told = min(len(reasons), passed)
    return Counts(passed - told, failed, skipped + told, reasons)


def count_junit(path):
    """{test: Counts} of a ctest --output-junit file."""
    counts = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        counts[case.get("name")] = count_test(case.get("status"), output)
    return counts


def run_preset(preset, label, arguments):
    """Runs ctest; returns ({test: Counts}, exit code)."""
    build = ROOT / "build" / preset
    junit = build / "ctest.xml"
    junit.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--parallel", JOBS]
    command += ["--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000"]
    command += ["--output-junit", str(junit), *(["--label-regex", f"^{label}$"] if label else []), *arguments]
    code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode
    return (count_junit(junit) if junit.exists() else {}), code


def parse_arguments():
    """(options, what stands behind --)"""
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", choices=("passed", "failed"))
    parser.add_argument("presets", nargs="+")
    return parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]


def main():
    options, rest = parse_arguments()
    total, worst = Counts(), 0
    lines = []
    if options.check:
        total.add(Counts(passed=1) if options.check == "passed" else Counts(failed=1))
        lines.append(f"check: {options.check}")
    for preset in options.presets:
        name, _, label = preset.partition("=")
        counts, code = run_preset(name, label, rest)
        worst = max(worst, abs(code))
        for test, count in counts.items():
            total.add(count)
            lines.append(f"{name}/{test}: {count}")
            lines += [f"  {reason}" for reason in count.reasons]
    if worst and not total.failed:
        total.failed = 1
    print("\n" + "\n".join(lines) + f"\n{total}", flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
