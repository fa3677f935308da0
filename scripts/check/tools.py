"""Checks by other programs: clang-format, clang-tidy, shellcheck, Python's parser. Passed files are remembered."""

import ast
import hashlib
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import cpp
from common import CPP, ROOT, Finding, git, read

RULES = {
    "format": "C++ is formatted by clang-format-19 (scripts/format.sh does it)",
    "tidy": "clang-tidy-19 with .clang-tidy finds nothing",
    "scripts": "shell scripts pass bash -n and shellcheck (where installed), Python scripts parse",
}
CACHE = ROOT / "build" / "check"
BUILD = ROOT / "build" / "release"
JOBS = 2


def _remembered(kind, key):
    return (CACHE / kind / key).exists()


def _remember(kind, key):
    (CACHE / kind).mkdir(parents=True, exist_ok=True)
    (CACHE / kind / key).touch()


def _digest(*parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _missing(rule, program, findings):
    if shutil.which(program):
        return False
    findings.append(Finding(rule, "scripts/check.sh", f"{program} is not installed: scripts/bootstrap.sh --tests"))
    return True


def check_format(files):
    findings = []
    if _missing("format", "clang-format-19", findings):
        return findings
    style = read(".clang-format")
    open_files = {}
    for path in (p for p in files if p.endswith(CPP)):
        key = _digest(style, (ROOT / path).read_bytes())
        if not _remembered("format", key):
            open_files[path] = key

    def run(item):
        command = ["clang-format-19", "--dry-run", "--Werror", item[0]]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return item, result.returncode, result.stderr

    with ThreadPoolExecutor(JOBS) as pool:
        for (path, key), code, text in pool.map(run, open_files.items()):
            if code == 0:
                _remember("format", key)
            else:
                lines = [int(x.split(":")[1]) for x in text.splitlines() if x.startswith(path + ":")]
                findings.append(Finding("format", path, "not formatted", lines[0] if lines else 0))
    return findings


def _base_commit():
    for name in ("main", "origin/main"):
        result = subprocess.run(["git", "merge-base", "HEAD", name], cwd=ROOT, capture_output=True, text=True)
        head = git("rev-parse", "HEAD").strip()
        if result.returncode == 0 and result.stdout.strip() != head:
            return result.stdout.strip()
    result = subprocess.run(["git", "rev-parse", "--verify", "-q", "HEAD~"], cwd=ROOT, capture_output=True, text=True)
    return result.stdout.strip() or None


def _changed_files(files):
    base = _base_commit()
    if base is None:
        return set(files)
    changed = git("diff", "--name-only", "-z", base).split("\0")
    new = git("ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return {*changed, *new} & set(files)


class Headers:
    """The repository's headers that a file includes, directly or not."""

    def __init__(self, files):
        self.files, self.known = set(files), {}

    def direct(self, path):
        if path not in self.known:
            found = []
            for _, name, _ in cpp.includes(read(path)):
                found += [p for p in (f"src/{name}", f"include/{name}", f"tests/{name}") if p in self.files]
            self.known[path] = found
        return self.known[path]

    def closure(self, path):
        seen, todo = set(), [path]
        while todo:
            for header in self.direct(todo.pop()):
                if header not in seen:
                    seen.add(header)
                    todo.append(header)
        return sorted(seen)


def _commands(findings):
    database = BUILD / "compile_commands.json"
    if not database.exists():
        command = ["cmake", "--preset", "release"]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if result.returncode != 0:
            findings.append(Finding("tidy", "CMakeLists.txt", "cmake --preset release fails: " + result.stderr.strip()))
            return {}
    commands = {}
    for entry in json.loads(database.read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        commands.setdefault(path, entry["command"])
    return commands


def _chosen(files, commands, headers, everything):
    if everything:
        return sorted(commands)
    changed = _changed_files(files)
    chosen = changed & set(commands)
    for header in (path for path in changed if path.endswith(".h")):
        users = [path for path in sorted(commands) if header in headers.direct(path)]
        if users and not chosen & set(users):
            chosen.add(users[0])
    return sorted(chosen)


def _tidy_command(path):
    extra = ["-Wno-error", "-Wno-unknown-warning-option"]
    return ["clang-tidy-19", "--quiet", "-p", str(BUILD), *(f"--extra-arg={flag}" for flag in extra), str(ROOT / path)]


def check_tidy(files, everything, progress):
    findings = []
    if _missing("tidy", "clang-tidy-19", findings):
        return findings
    commands = {path: command for path, command in _commands(findings).items() if path in set(files)}
    headers = Headers(files)
    settings = read(".clang-tidy") + subprocess.run(["clang-tidy-19", "--version"], capture_output=True, text=True).stdout
    todo = {}
    for path in _chosen(files, commands, headers, everything):
        contents = [(ROOT / name).read_bytes() for name in (path, *headers.closure(path))]
        key = _digest(settings, commands[path], " ".join(_tidy_command(path)), *contents)
        if not _remembered("tidy", key):
            todo[path] = key

    def run(item):
        result = subprocess.run(_tidy_command(item[0]), cwd=ROOT, capture_output=True, text=True)
        return item, result.returncode, result.stdout + result.stderr

    with ThreadPoolExecutor(JOBS) as pool:
        for done, ((path, key), code, text) in enumerate(pool.map(run, todo.items()), 1):
            progress(f"clang-tidy {done} of {len(todo)}")
            if code == 0:
                _remember("tidy", key)
            else:
                findings += _tidy_findings(path, text)
    return list({str(finding): finding for finding in findings}.values())


def _tidy_findings(path, text):
    found = []
    for line in text.splitlines():
        where, _, message = line.partition(": error: ")
        parts = where.rsplit(":", 2)
        if message and len(parts) == 3 and parts[1].isdigit():
            found.append(Finding("tidy", os.path.relpath(os.path.join(ROOT, parts[0]), ROOT), message, int(parts[1])))
    return found or [Finding("tidy", path, "clang-tidy failed: " + text.strip()[-2000:])]


def _shebang(path):
    with open(ROOT / path, "rb") as file:
        first = file.readline(100)
    return first.startswith(b"#!") and (b"bash" in first or first.rstrip().endswith(b"/sh"))


def check_scripts(files):
    findings = []
    shell = [path for path in files if path.endswith(".sh") or ("." not in path.split("/")[-1] and _shebang(path))]
    for path in shell:
        result = subprocess.run(["bash", "-n", path], cwd=ROOT, capture_output=True, text=True)
        if result.returncode != 0:
            findings.append(Finding("scripts", path, result.stderr.strip()))
    if shell and shutil.which("shellcheck"):
        command = ["shellcheck", "--external-sources", "--format=gcc", *shell]
        for line in subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines():
            path, number, _, message = line.split(":", 3)
            findings.append(Finding("scripts", path, message.strip(), int(number)))
    for path in (p for p in files if p.endswith(".py")):
        try:
            ast.parse(read(path))
        except SyntaxError as error:
            findings.append(Finding("scripts", path, str(error.msg), error.lineno or 0))
    return findings
