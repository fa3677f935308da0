"""Sizes of files, functions and parameter lists."""

import re

import cpp
from common import CPP, Finding, is_test, read
from layers import folder_of

RULES = {
    "file-size": "a source (or x_inl.h) has at most 500 lines (warning above 300), a header 250 (150), a test 600",
    "function-size": "a function has at most 70 lines; in kernels/ 120 with a line '// Long: reason' before it",
    "parameters": "warning: a function takes at most 5 parameters, then a struct with designated initialisers",
}
SOURCES = (*CPP, ".rs", ".py", ".sh")
REASON = re.compile(r"//\s*Long: \S")


def _check_file_size(path, text, findings):
    count = text.count("\n")
    if is_test(path):
        warn = cap = 600
    elif path.endswith(".h") and not path.endswith("_inl.h"):
        warn, cap = 150, 250
    else:
        warn, cap = 300, 500
    if count > cap:
        findings.append(Finding("file-size", path, f"{count} lines, at most {cap}"))
    elif count > warn:
        findings.append(Finding("file-size", path, f"{count} lines, look for the second idea at {warn}", warning=True))


def _cap(path, text, function):
    if folder_of(path) != "kernels":
        return 70
    lines = text.split("\n")
    before = "\n".join(lines[max(0, function.line - 4) : function.line])
    return 120 if REASON.search(before) else 70


def _check_functions(path, text, findings):
    for function in cpp.functions(text):
        cap = _cap(path, text, function)
        if function.lines > cap:
            message = f"{function.name} has {function.lines} lines, at most {cap}"
            findings.append(Finding("function-size", path, message, function.line, function.name))
        if function.parameters > 5:
            message = f"{function.name} takes {function.parameters} parameters"
            findings.append(Finding("parameters", path, message, function.line, function.name, warning=True))


def check(files):
    findings = []
    for path in files:
        if not path.endswith(SOURCES) or path.startswith("third_party/"):
            continue
        text = read(path)
        _check_file_size(path, text, findings)
        if path.endswith(CPP):
            _check_functions(path, text, findings)
    return findings
