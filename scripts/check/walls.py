"""Walls: names and types that may not leave their folder. Comments do not count, strings do."""

import re

import cpp
from common import CPP, Finding, is_test, read
from layers import folder_of

RULES = {
    "model-names": "no model name outside models/ (excepted: text's vocabulary tables, cli's catalogue, tests, docs)",
    "drafter-names": "no drafter name outside draft/",
    "engine-types": "no HTTP or JSON type in engine/ or include/ (no nlohmann, no boost)",
    "mlx": "no mlx:: and no MLX header in server/ cli/ text/ sampling/ formats/ blocks/ base/ and include/",
    "heavy-headers": "headers do not include mlx/mlx.h, nlohmann/json.hpp, CLI11 or boost",
    "library-manners": "the library does not print, exit, abort or read the environment (only cli/ and server/ may)",
}

MODEL = re.compile(
    r"^(llama|smollm|qwen|gemma|mistral|mixtral|deepseek|phi[2-9]|falcon|olmo|granite|glm|kimi|minimax|nemotron"
    r"|starcoder|command[_-]?r|cohere|internlm|exaone|gptoss)\d*$"
)
DRAFTER = re.compile(r"^(eagle|mtp|dflash|medusa|ngram)\d*$")
VOCABULARY = re.compile(r"vocab|pre_tokenizer|tokenizer_gguf|end_tokens")  # names of files in text/
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
MLX_FREE = {"server", "cli", "text", "sampling", "formats", "blocks", "base", "api"}
MLX = re.compile(r"\bmlx\s*::|\bmx\s*::|#\s*include\s*[<\"]mlx/")
JSON_OR_HTTP = re.compile(r"#\s*include\s*[<\"](nlohmann|boost)/|\bnlohmann\s*::|\bboost\s*::")
HEAVY = re.compile(r"#\s*include\s*[<\"](mlx/mlx\.h|nlohmann/json\.hpp|CLI/|boost/)")
MANNERS = re.compile(
    r"\bstd::(cout|cerr|clog)\b|(?<![\w.>])(?:std::|::)?(printf|fprintf|puts|fputs|getenv|secure_getenv|exit|_exit|abort"
    r"|quick_exit)\s*\(|\bfmt::print\b"
)


def _lines(pattern, text):
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match


def _names(pattern, text):
    """(line, word) of identifiers and string contents with a part that the pattern knows."""
    for line, match in _lines(WORD, text):
        if any(pattern.match(part.lower()) for part in PART.findall(match[0])):
            yield line, match[0]


def _may_name_models(path, folder):
    if folder == "models":
        return True
    if folder == "text":
        return VOCABULARY.search(path) is not None
    return folder == "cli" and "catalogue" in path


def _check_file(path, folder, findings):
    text = read(path)
    code = cpp.strip_comments(text)
    bare = cpp.strip_comments_and_strings(text)
    if not _may_name_models(path, folder):
        findings += [Finding("model-names", path, f"'{word}'", line) for line, word in _names(MODEL, code)]
    if folder != "draft":
        findings += [Finding("drafter-names", path, f"'{word}'", line) for line, word in _names(DRAFTER, code)]
    patterns = []
    if folder in ("engine", "api"):
        patterns.append(("engine-types", JSON_OR_HTTP, code))
    if folder in MLX_FREE:
        patterns.append(("mlx", MLX, code))
    if path.endswith(".h"):
        patterns.append(("heavy-headers", HEAVY, code))
    if folder not in ("cli", "server"):
        patterns.append(("library-manners", MANNERS, bare))
    for rule, pattern, where in patterns:
        findings += [Finding(rule, path, f"'{match[0].strip()}'", line) for line, match in _lines(pattern, where)]


def check(files):
    findings = []
    for path in files:
        folder = folder_of(path)
        if folder is not None and path.endswith(CPP) and not is_test(path):
            _check_file(path, folder, findings)
    return findings
