"""Layers: which folder may include which, from layers.txt."""

import re
from pathlib import PurePosixPath

import cpp
from common import CPP, ROOT, Finding, is_test, read

RULES = {
    "layers": "a folder of src/ includes only the folders that layers.txt lists for it, and links only those",
    "cycles": "neither folders nor headers include each other in a cycle",
}


def load():
    table = {}
    for line in read("layers.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            folder, _, allowed = line.partition(":")
            table[folder.strip()] = allowed.split()
    return table


def folder_of(path):
    parts = PurePosixPath(path).parts
    if path.startswith("include/paceline/"):
        return "api"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def target_of(name, table):
    """The folder that an include names, or None for a library's header."""
    first = name.split("/")[0]
    if first == "paceline":
        return "api"
    return first if first in table or (ROOT / "src" / first).is_dir() else None


def find_cycle(graph):
    """One cycle as a list of nodes, or None."""
    state = {}

    def visit(node, path):
        state[node] = 1
        for other in graph.get(node, ()):
            if state.get(other) == 1:
                return path[path.index(other) :] + [other]
            if other not in state:
                cycle = visit(other, path + [other])
                if cycle:
                    return cycle
        state[node] = 2
        return None

    for node in sorted(graph):
        if node not in state:
            cycle = visit(node, [node])
            if cycle:
                return cycle
    return None


def _check_includes(path, folder, table, findings):
    allowed = {folder, "api", *table.get(folder, [])}
    if is_test(path):
        allowed.add("support")
    for line, name, quoted in cpp.includes(read(path)):
        target = target_of(name, table) if "/" in name else None  # <array> is the standard library's
        if target is None and not quoted:
            continue
        if target is None and "/" not in name:
            findings.append(Finding("layers", path, f'include "{name}" with its folder: "{folder}/{name}"', line))
        elif target is not None and target not in allowed:
            findings.append(Finding("layers", path, f"{folder} may not include {target} ({name})", line))


def _check_links(path, table, findings):
    text = re.sub(r"#[^\n]*", "", read(path))
    for match in re.finditer(r"paceline_library\(([^)]*)\)", text):
        words = match[1].split()
        folder = folder_of(path)
        if folder is None or "DEPS" not in words:
            continue
        for name in words[words.index("DEPS") + 1 :]:
            if name in ("SRCS", "LIBS", "NAME"):
                break
            own = name.startswith(folder + "_")  # a folder may have several libraries
            if not own and name not in table.get(folder, []):
                findings.append(Finding("layers", path, f"{folder} may not link {name}"))


def check(files):
    table, findings = load(), []
    headers = {}
    for path in files:
        folder = folder_of(path)
        if folder is None:
            continue
        if folder not in table and folder != "api":
            findings.append(Finding("layers", path, f"folder '{folder}' is not in layers.txt"))
        elif path.endswith(CPP):
            _check_includes(path, folder, table, findings)
        elif path.endswith("CMakeLists.txt"):
            _check_links(path, table, findings)
        if path.endswith(".h"):
            name = path.removeprefix("src/").removeprefix("include/")
            headers[name] = [included for _, included, _ in cpp.includes(read(path))]
    for graph, file in ((table, "layers.txt"), (headers, "src")):
        cycle = find_cycle(graph)
        if cycle:
            findings.append(Finding("cycles", file, " -> ".join(cycle)))
    return findings
