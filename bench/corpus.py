#!/usr/bin/env python3
"""Assembles text for paceline_perplexity from what a Debian machine has offline: english.txt and code.txt.

  corpus.py FOLDER [--bytes-per-kind 200000]

FOLDER lies outside the repository; nothing of it is committed. Every source gives at most its share, a contiguous
piece behind its head (licence comments repeat). Prints a table of the sources with sizes and sha256 of what was taken,
so that results name their text. 200 kB a kind are about 55 thousand tokens, of which the second half of each window,
25 thousand or more, is scored.
"""

import argparse
import gzip
import hashlib
import pydoc_data.topics
import re
import sysconfig
from pathlib import Path

HEAD = 3000  # bytes left out at the start of a file
STDLIB = Path(sysconfig.get_paths()["stdlib"])

ENGLISH = [
    "python topics",
    "/usr/share/info/coreutils.info.gz",
    "/usr/share/info/find.info-1.gz",
    "/usr/share/info/diffutils.info.gz",
    "/usr/share/vim/vim*/doc/usr_41.txt",
    "/usr/share/vim/vim*/doc/intro.txt",
    "/usr/share/vim/vim*/doc/editing.txt",
    "/usr/share/perl/5.*.0/Locale/Maketext.pod",
    "/usr/share/perl/5.*.0/pod/perldiag.pod",
    "/usr/share/doc/dpkg/spec/triggers.txt",
    "/usr/share/doc/dbus-daemon/NEWS.gz",
    "/usr/share/common-licenses/GPL-3",
    "/usr/share/common-licenses/MPL-2.0",
    "/usr/share/common-licenses/GFDL-1.3",
    "/usr/share/common-licenses/Artistic",
]
CODE = [
    *(str(STDLIB / name) for name in ("argparse.py", "tarfile.py", "heapq.py", "http/server.py", "ast.py", "csv.py")),
    "/usr/include/c++/*/bits/stl_algo.h",
    "/usr/include/c++/*/bits/hashtable.h",
    "/usr/include/nlohmann/detail/output/serializer.hpp",
    "/usr/include/fmt/core.h",
    "/usr/include/zlib.h",
    "/usr/include/linux/perf_event.h",
    "/usr/share/perl/5.*.0/File/Find.pm",
    "/usr/share/perl/5.*.0/Text/Balanced.pm",
    "/usr/lib/git-core/git-submodule",
    "/usr/share/cmake-*/Modules/FindPython/Support.cmake",
]


def find(source):
    """The first file of a pattern, or None."""
    if source == "python topics":
        return source
    found = sorted(Path("/").glob(source.lstrip("/")))
    return found[0] if found else None


def read(path):
    if path == "python topics":
        return "\n\n".join(text for _, text in sorted(pydoc_data.topics.topics.items()))
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", data.decode("utf-8", "ignore"))


def collect(sources, wanted):
    """[(source, text)] of about `wanted` bytes: equal shares, what short files leave goes to later ones."""
    found = [(path, read(path)) for path in map(find, sources) if path is not None]
    found.sort(key=lambda entry: len(entry[1]))
    pieces, left = [], wanted
    for index, (path, text) in enumerate(found):
        share = left // (len(found) - index)
        start = HEAD if len(text) > 2 * HEAD else 0
        piece = text[start : start + share]
        pieces.append((path, piece))
        left -= len(piece.encode())
    if left > wanted // 10:
        raise SystemExit(f"found {wanted - left} of {wanted} bytes: install vim-runtime, perl-modules or more headers")
    return sorted(pieces, key=lambda entry: str(entry[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bytes-per-kind", type=int, default=200_000)
    options = parser.parse_args()
    repository = Path(__file__).resolve().parents[1]
    if repository in options.folder.resolve().parents:
        raise SystemExit(f"{options.folder} lies in the repository, expected a folder outside of it")
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| file | source | bytes | sha256 |\n|---|---|---|---|")
    for name, sources in (("english.txt", ENGLISH), ("code.txt", CODE)):
        pieces = collect(sources, options.bytes_per_kind)
        for path, piece in pieces:
            data = piece.encode()
            print(f"| {name} | {path} | {len(data)} | {hashlib.sha256(data).hexdigest()[:16]} |")
        whole = "\n\n".join(piece for _, piece in pieces).encode()
        (options.folder / name).write_bytes(whole)
        print(f"| {name} | all | {len(whole)} | {hashlib.sha256(whole).hexdigest()} |")


if __name__ == "__main__":
    main()
