#!/usr/bin/env python3
"""Runs text cases against a program. Usage: run_cases.py PROGRAM FILE...

A case starts with `## title`, then:
  $ paceline ARGS     the words, quoted as in a shell; MODEL, BASE, BROKEN, UNKNOWN and TMP are replaced by paths;
                      TMP/full is a cache with the starter model
  < TEXT              standard input; \\n, \\0 and \\xHH are escapes. Without such a line it is empty.
  > LINE              the next line of standard output, exactly;  >~ REGEX matches it;  >* skips the rest
  ! LINE              the next line of standard error, exactly;   !~ REGEX
  ? CODE              exit code, default 0
Lines of # are comments.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = {"MODEL": "fake.gguf", "BASE": "base.gguf", "BROKEN": "broken.gguf", "UNKNOWN": "unknown.gguf"}


class Case:
    def __init__(self, title, where):
        self.title, self.where = title, where
        self.command, self.stdin, self.code = None, b"", 0
        self.expected = {">": [], "!": []}


def unescape(text):
    return text.encode("utf-8").decode("unicode_escape").encode("latin-1")


def parse(path):
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            cases.append(Case(line[3:], f"{path}:{number}"))
        elif line.startswith("$ paceline"):
            cases[-1].command = line[len("$ paceline") :]
        elif line.startswith("<"):
            cases[-1].stdin += unescape(line[2:])
        elif line.startswith("?"):
            cases[-1].code = int(line[1:])
        elif line[:1] in (">", "!"):
            cases[-1].expected[line[0]].append(line[1:])
        elif line.strip() and not line.startswith("#"):
            raise SystemExit(f"{path}:{number}: cannot read '{line}'")
    return cases


def compare(expected, found, stream):
    """A complaint or None."""
    lines = found.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    for index, rule in enumerate(expected):
        if rule.startswith("*"):
            return None
        line = lines[index] if index < len(lines) else None
        if line is None:
            return f"{stream} ends after {index} lines, expected '{rule}'"
        wanted = rule[2:] if rule.startswith("~") else rule[1:]
        if not (re.search(wanted, line) if rule.startswith("~") else line == wanted):
            return f"{stream} line {index + 1}: found '{line}', expected '{rule.strip()}'"
    if len(lines) > len(expected):
        return f"{stream} has an unexpected line '{lines[len(expected)]}'"
    return None


def words_of(case, folder):
    words = []
    for word in shlex.split(case.command):
        for name, file in FILES.items():
            word = re.sub(rf"\b{name}\b", str(folder / file), word)
        words.append(word.replace("TMP", str(folder)))
    return words


def check(case, program, folder):
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C"}
    result = subprocess.run(
        [program, *words_of(case, folder)], input=case.stdin, capture_output=True, env=environment, timeout=300
    )
    output, error = (stream.decode("utf-8").replace(str(folder), "TMP") for stream in (result.stdout, result.stderr))
    complaints = [compare(case.expected[">"], output, "output"), compare(case.expected["!"], error, "error")]
    if result.returncode != case.code:
        complaints.append(f"exit code {result.returncode}, expected {case.code}")
    return [f"{case.where}: {case.title}: {text}" for text in complaints if text] and [
        *(f"{case.where}: {case.title}: {text}" for text in complaints if text),
        f"  stdout: {output!r}\n  stderr: {error!r}",
    ]


def cache_starter(cache):
    """A file that passes for the starter model: the right name and size, no bytes on disk."""
    catalogue = Path(__file__).resolve().parents[2] / "src" / "cli" / "catalogue.json"
    starter = json.loads(catalogue.read_text(encoding="utf-8"))["models"][0]
    (cache / "models").mkdir(parents=True)
    (cache / "models" / starter["file"]).touch()
    os.truncate(cache / "models" / starter["file"], starter["bytes"])


def main():
    program = Path(sys.argv[1]).resolve()
    failures = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (*FILES.values(), "my fake.gguf"):
            (folder / file).write_bytes(b"")
        cache_starter(folder / "full")
        for path in map(Path, sys.argv[2:]):
            for case in parse(path):
                count += 1
                complaints = check(case, program, folder)
                failures += bool(complaints)
                print("\n".join(complaints), end="\n" if complaints else "")
    print(f"{count - failures} of {count} cases passed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
