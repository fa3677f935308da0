"""What every rule shares: the repository's files, findings, exemptions."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP = (".h", ".cpp", ".c")


@dataclass
class Finding:
    rule: str
    path: str
    text: str
    line: int = 0
    name: str = ""
    warning: bool = False

    def __str__(self):
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {'warning: ' if self.warning else ''}{self.text}"


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True).stdout


def repository_files():
    """Tracked and new files, as paths relative to the root, without deleted ones."""
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted({name for name in names if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink()})


def is_test(path):
    stem = Path(path).stem
    return path.startswith("tests/") or stem.endswith(("_test", "_bench"))


def read(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


class Exemptions:
    """scripts/exemptions.txt: `RULE PATH[:NAME]  # reason`."""

    FILE = "scripts/exemptions.txt"
    LINE = re.compile(r"^(\S+)\s+([^\s:]+)(?::(\S+))?\s+#\s*(\S.*)$")

    def __init__(self, rules):
        self.entries, self.used, self.malformed = {}, set(), []
        for number, line in enumerate(read(self.FILE).splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            match = self.LINE.match(line)
            if match is None or match[1] not in rules:
                self.malformed.append(Finding("exemptions", self.FILE, "expected 'RULE PATH[:NAME]  # reason'", number))
            else:
                self.entries[(match[1], match[2], match[3] or "")] = number

    def covers(self, finding):
        for name in {finding.name, ""}:
            key = (finding.rule, finding.path, name)
            if key in self.entries:
                self.used.add(key)
                return True
        return False

    def problems(self):
        unused = [
            Finding("exemptions", self.FILE, f"'{rule} {path}{':' + name if name else ''}' is no longer needed", number)
            for (rule, path, name), number in self.entries.items()
            if (rule, path, name) not in self.used
        ]
        return self.malformed + unused
