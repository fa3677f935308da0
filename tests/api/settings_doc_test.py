#!/usr/bin/env python3
"""docs/settings.md names the flags, values and defaults that --help prints. Usage: settings_doc_test.py PROGRAM"""

import re
import subprocess
import sys
from pathlib import Path


def documented():
    """{command: {flag: (value, default)}} of the tables."""
    commands, rows = {}, None
    for line in Path("docs/settings.md").read_text(encoding="utf-8").splitlines():
        heading = re.match(r"## (?:paceline (\w+))?", line)
        if heading:
            rows = commands.setdefault(heading[1], {}) if heading[1] else None
        elif rows is not None and line.startswith("| `--"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            rows[cells[0].strip("`")] = (cells[1].replace("\\|", "|"), cells[2])
    return commands


def help_of(program, *words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout


def printed(program, command):
    flags = {}
    for line in help_of(program, command).splitlines():
        match = re.match(r"  (?:-\w,)?(--[\w-]+) *(\S*?)  +.*\(default: (.*)\)$", line + "")
        if match:
            flags[match[1]] = (match[2], match[3])
        elif re.match(r"  (-\w,)?--", line) and "--help" not in line:
            sys.exit(f"{command}: cannot read '{line}'")
    return flags


def main():
    program = sys.argv[1]
    tables = documented()
    commands = re.findall(r"^  (\w+)  ", help_of(program).split("Subcommands:")[1].split("Examples:")[0], re.MULTILINE)
    bad = []
    if sorted(commands) != sorted(tables):
        bad.append(f"commands: help has {sorted(commands)}, docs/settings.md {sorted(tables)}")
    for command in commands:
        found, expected = printed(program, command), tables.get(command, {})
        for flag in sorted(found.keys() | expected.keys()):
            if found.get(flag) != expected.get(flag):
                bad.append(f"{command} {flag}: help says {found.get(flag)}, docs/settings.md {expected.get(flag)}")
    print("\n".join(bad) or f"{len(commands)} commands agree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
