"""A small scanner of C++ text: comments and strings blanked, includes, function bodies. Heuristic, made for our style."""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r'//[^\n]*(?:\\\n[^\n]*)*|/\*.*?\*/|R"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'',
    re.S,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def strip_comments(text):
    """Comments become spaces; strings and line numbers stay."""
    return TOKEN.sub(lambda m: _blank(m[0]) if m[0].startswith("/") else m[0], text)


def strip_comments_and_strings(text):
    """Comments become spaces, literals become quotes around spaces."""

    def replace(match):
        found = match[0]
        return _blank(found) if found.startswith("/") else '"' + _blank(found[1:-1]) + '"'

    return TOKEN.sub(replace, text)


def includes(text):
    """(line, name, is_quoted) of every include."""
    clean = strip_comments(text)
    return [(clean.count("\n", 0, m.start(2)) + 1, m[2], m[1] == '"') for m in INCLUDE.finditer(clean)]


def _without_preprocessor(text):
    """Directives blanked, and every #else / #elif branch, so that braces stay balanced."""
    out, skipping, continued = [], [], False
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if continued or directive:
            if directive and not continued:
                word = directive[1]
                if word in ("if", "ifdef", "ifndef"):
                    skipping.append(False)
                elif word in ("else", "elif") and skipping:
                    skipping[-1] = True
                elif word == "endif" and skipping:
                    skipping.pop()
            continued = line.rstrip().endswith("\\")
            out.append("")
        else:
            out.append("" if any(skipping) else line)
    return "\n".join(out)


@dataclass
class Function:
    name: str
    line: int  # of its first line, 1-based
    lines: int
    parameters: int


SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
NOT_FUNCTION = {"if", "for", "while", "switch", "catch", "return", "else", "do", "try", "sizeof", "decltype", "noexcept"}
# identifier (possibly qualified, ~, operator) that is followed by a parameter list
NAME = re.compile(r"((?:[A-Za-z_]\w*(?:<[^<>()]*>)?\s*::\s*)*(?:operator\s*(?:\(\s*\)|[^\s\w(]+|\s[\w: ]+)|~?[A-Za-z_]\w*))\s*$")


def _close(text, start, opening, closing):
    """Index just behind the bracket that closes text[start]."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == opening:
            depth += 1
        elif text[i] == closing:
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def _parameter_count(text):
    if not text.strip() or text.strip() == "void":
        return 0
    depth, count = 0, 1
    for i, c in enumerate(text):
        if c in "([{" or (c == "<" and i > 0 and re.match(r"\w", text[i - 1])):
            depth += 1
        elif c in ")]}" or (c == ">" and depth > 0 and text[i - 1] != "-"):
            depth -= 1
        elif c == "," and depth == 0:
            count += 1
    return count


def _signature(head):
    """(name, parameters) when head, the text before a '{', is a function's signature, else None."""
    at = 0
    while (opening := head.find("(", at)) >= 0:
        end = _close(head, opening, "(", ")")
        match = NAME.search(head[:opening])
        if match:
            name = re.sub(r"\s+", "", match[1])
            if name == "operator":  # operator()(...)
                at = end
                continue
            if name in ("alignas", "__attribute__", "requires", "decltype", "noexcept", "explicit"):
                at = end
                continue
            if name in NOT_FUNCTION or re.search(r"=\s*$|=[^=]*$", head[: match.start()].split("operator")[0]):
                return None
            return name, _parameter_count(head[opening + 1 : end - 1])
        at = end
    return None


def _is_member_initialiser(head):
    """True for the '{' of `: a_{...}` in a constructor: an identifier before it, a colon after the parameters."""
    end = head.rfind(")")
    tail = re.sub(r"::", "  ", head)
    return bool(re.search(r"\)[^()]*:[^:]", tail)) and bool(re.search(r"[\w>]\s*$", head)) and end >= 0 and not re.search(
        r"\)\s*(const|noexcept|override|final|try|mutable)\s*$", head
    )


def functions(text):
    """Every function defined at namespace or class level; lambdas belong to the function around them."""
    code = _without_preprocessor(strip_comments_and_strings(text))
    found, i, start = [], 0, 0
    while i < len(code):
        c = code[i]
        if c == "(":
            i = _close(code, i, "(", ")")
            continue
        if c in ";}":
            start = i + 1
        elif c == "{":
            head = code[start:i]
            if _is_member_initialiser(head):
                i = _close(code, i, "{", "}")
                continue
            signature = None if re.search(r"=\s*$", head) else _signature(head)
            if signature is None and SCOPE.search(head) and not re.search(r"\benum\b|=\s*$", head):
                start = i + 1
            else:
                end = _close(code, i, "{", "}")
                if signature is not None:
                    first = start + len(head) - len(head.lstrip())
                    line = code.count("\n", 0, first) + 1
                    found.append(Function(signature[0], line, code.count("\n", first, end) + 1, signature[1]))
                    start = end
                i = end
                continue
        i += 1
    return found
