"""scripts/check.sh: prints every rule with its findings; exits 1 when a rule is broken."""

import argparse
import os
import sys
import time

import layers
import sizes
import tools
import walls
from common import Exemptions, repository_files

RULES = {**layers.RULES, **walls.RULES, **sizes.RULES, **tools.RULES}
EXEMPTIONS_RULE = "scripts/exemptions.txt holds only exceptions that are still needed, each with a reason"


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/check.sh", description=__doc__)
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--all", action="store_true", help="clang-tidy on every file (default when CI=true)")
    scope.add_argument("--changed", action="store_true", help="clang-tidy on files that differ from main (default)")
    parser.add_argument("--no-tidy", action="store_true", help="leave clang-tidy out")
    return parser.parse_args()


def collect(options):
    files = repository_files()
    findings = layers.check(files) + walls.check(files) + sizes.check(files)
    findings += tools.check_format(files) + tools.check_scripts(files)
    if not options.no_tidy:
        everything = options.all or (os.environ.get("CI") == "true" and not options.changed)
        findings += tools.check_tidy(files, everything, progress)
        progress("")
    exemptions = Exemptions(RULES)
    kept = [finding for finding in findings if finding.warning or not exemptions.covers(finding)]
    return kept + exemptions.problems()


def report(findings, left_out):
    """Prints rules and findings, returns the number of broken rules."""
    broken = 0
    for rule, text in {**RULES, "exemptions": EXEMPTIONS_RULE}.items():
        mine = [finding for finding in findings if finding.rule == rule]
        if rule in left_out:
            print(f"--   {rule}: not checked")
            continue
        failed = any(not finding.warning for finding in mine)
        broken += failed
        print(f"{'FAIL' if failed else 'ok  '} {rule}: {text}")
        for finding in sorted(mine, key=lambda f: (f.path, f.line)):
            print(f"     {finding}")
    return broken


def main():
    begin = time.monotonic()
    options = parse_arguments()
    left_out = {"tidy"} if options.no_tidy else set()
    broken = report(collect(options), left_out)
    rules = len(RULES) + 1 - len(left_out)
    print(f"check: {rules - broken} of {rules} rules hold ({time.monotonic() - begin:.1f} s)")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
