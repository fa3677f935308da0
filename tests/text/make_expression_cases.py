"""Writes expression_cases.json: small templates and what transformers renders for them (or that it fails).

    python tests/text/make_expression_cases.py        (transformers 5.24, jinja2 3.1.6)
"""
import json
import pathlib
import re

from transformers.utils.chat_template_utils import _cached_compile_jinja_template as compile_template

FOLDER = pathlib.Path(__file__).parent

VARIABLES = {
    "s": "Hello World", "e": "", "n": None, "t": True, "f": False, "i": 7, "neg": -7, "x": 2.5, "big": 1e20,
    "small": 1e-7, "whole": 3.0, "l": [1, 2, 3], "ls": ["b", "a", "C"], "mix": [1, "a", None, True, 2.5, {"k": "v"}],
    "d": {"b": 1, "a": {"x": [1, "é"]}, "C": None}, "q": "it's \"q\"\n\t\\ é", "emptyl": [], "emptyd": {},
    "recs": [{"n": "x", "v": 1, "g": True}, {"n": "y", "v": 2, "g": False}, {"n": "x", "v": 3}],
    "html": "<a href='x'>&</a>", "uni": "naïve 日本 👩‍💻", "ws": "  pad \n", "nested": {"p": {"q": {"r": 1}}},
}


def render(source):
    try:
        return {"expected": compile_template(source).render(
            messages=[], tools=None, documents=None, add_generation_prompt=True, bos_token="<s>", eos_token="</s>",
            **VARIABLES)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def sources():
    """Lines of expressions are cut into single ones; templates stand alone, \\n for a line end."""
    kind = None
    for line in (FOLDER / "expressions.txt").read_text().splitlines():
        if line.startswith("#"):
            kind = line[1:].strip()
        elif line and kind == "expressions":
            yield from re.findall(r"\{\{.*?\}\}(?=\s*(?:\{\{|$))", line)
        elif line:
            yield line.replace("⏎", "\n")


cases = [{"source": source, **render(source)} for source in dict.fromkeys(sources())]
text = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
variables = json.dumps(VARIABLES, ensure_ascii=False)
(FOLDER / "expression_cases.json").write_text(f'{{"variables": {variables},\n"cases": [\n{text}\n]}}\n')
print(len(cases), "cases,", sum("error" in case for case in cases), "of them fail")
