#!/usr/bin/env python3
"""Token ids of awkward strings from libllama -> tests/golden/tokenizer/*.jsonl.

<model>.jsonl and vocab-<name>.jsonl: the first line is {"gguf": file name, ...}; every other line is
{"text": ..., "parse_special": bool, "ids": [...]}, made with llama_tokenize(add_special=false).
Vocabulary-only files come with the llama.cpp source (models/ggml-vocab-*.gguf, MIT); they are copied to the cache. Their
cases are the lines of the .inp files there, checked against the .out files, and our own strings.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from common import CATALOGUE, GOLDEN, MODELS, PEERS
from llama import Llama

FILES = {"smollm2-135m": ["smollm2:135m"], "gemma3-270m": ["gemma3:270m"],
         "qwen2.5-coder": ["qwen2.5-coder:0.5b", "qwen2.5-coder:1.5b"]}
VOCABS = ["gpt-2", "llama-bpe", "llama-spm", "qwen2", "qwen35", "deepseek-llm", "deepseek-coder", "falcon", "starcoder",
          "command-r", "refact", "phi-3", "gemma-4"]
SEPARATOR = "\n__ggml_vocab_test__\n"

SPECIALS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<s>", "</s>",
            "<unk>", "<pad>", "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|repo_name|>", "<unused0>", "<0x0A>", "<mask>",
            "[multimodal]", "<|begin_of_text|>", "<|eot_id|>", "<reponame>", "<|vision_start|>", "<start_of_image>"]


def spaces() -> list[str]:
    """Runs of white space of every kind, alone, leading, trailing, inside."""
    kinds = [" ", "\t", "\n", "\r", "\r\n", "\u00a0", "\u2003", "\u200b", "\u3000", "\u2028", "\u2029", "\ufeff", "\u0085",
             "\v", "\f", "\u202f", "\u2060", "\u180e", "\u1680", "\u00ad"]
    out = []
    for k in kinds:
        out += [k, k * 2, k * 3, "a" + k + "b", k + "word", "word" + k + k + "next" + k]
    runs = [" " * n for n in (4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100)] + ["\n" * n for n in (4, 5, 8, 16)]
    mixed = [" \n", "\n ", " \t ", "\t\n\t", "\n\n \n", "  \n  x", "x  \n\n  y", "a \n b", "a\n\n\nb", "\n\n\n a", "x\t\ty",
             " \u00a0 ", "\u00a0\u00a0x", "end  ", "end\n", "end \n", " a  b   c    d", "if x:\n    y\n        z\n",
             "\tif (a)\n\t\tb();\n", "a\u200bb", "a\u2009b", "line\r\nline\r\n\r\n", "\r\r\n\n"]
    return out + runs + mixed


def numbers() -> list[str]:
    return ["0", "1", "12", "123", "1234", "12345", "123456", "1234567", "3.14159", "1,000,000", "1_000", "0x1F", "1e-9", "-5",
            "+7", "$19.99", "50%", "10:45", "2026-01-15T10:45:00Z", "v1.2.3", "a1b2c3", "1st 2nd 3rd", "x=42;y=7", "007", "٣٤٥",
            "१२३", "１２３", "②③", "½ ¾", "x² y³", "Ⅳ", "1 2 3", "12 34", "9" * 40, "192.168.0.1", "+44 20 7946 0958", "1/2",
            "๑๒๓", "৪৫", "〇一二三", "1a2b", "4½", "H₂O"]


def scripts() -> list[str]:
    """Writing systems, joiners, marks, directions."""
    return ["你好，世界", "我想在apple工作1314151天～", "日本語のテキスト。カタカナ、ひらがな", "안녕하세요 세계", "한국어와 English 섞기",
            "Привет, мир! Ёлка", "нещо на Български", "Γειά σου Κόσμε", "שלום עולם", "שָׁלוֹם", "مرحبا بالعالم", "اَلْعَرَبِيَّةُ",
            "abc שלום def", "\u202eright to left\u202c", "\u200fx\u200e", "नमस्ते दुनिया", "क्षत्रिय ज्ञ", "বাংলা ভাষা", "தமிழ் மொழி",
            "ภาษาไทยไม่มีช่องว่าง", "កាន់តែពិសេស", "မြန်မာဘာသာ", "ქართული", "Հայերեն", "አማርኛ", "ᏣᎳᎩ", "ᠮᠣᠩᠭᠣᠯ", "བོད་ཡིག", "ꦗꦮ",
            "Tiếng Việt có dấu", "Cửa Việt", "Zażółć gęślą jaźń", "Übergrößenträger", "Ærøskøbing", "İstanbul ıspanak", "ǅ ǆ Ǆ", "ß ẞ",
            "café", "cafe\u0301", "\u00c5", "A\u030a", "\u212b", "n\u0303", "\u00f1", "ệ", "e\u0323\u0302", "e\u0302\u0323", "\uac00",
            "\u1100\u1161", "\u0301", "\u0301\u0301", " \u0301", "a\u0301\u0302\u0303b", "Z\u0351\u036b\u0343a\u0310l\u034dgo", "ﬁ ﬂ ﬃ",
            "ａｂｃ ＡＢＣ", "𝐇𝐞𝐥𝐥𝐨 𝕨𝕠𝕣𝕝𝕕", "𐍈𐌰𐌽", "𒀀𒁀", "𓀀𓁐", "🦙", "🦙.cpp", " 🦙 🦙", "😀😃😄", "👩‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "🇩🇪🇫🇷🇯🇵", "🇩", "☺️ ☺",
            "1️⃣2️⃣", "❤️‍🔥", "😶‍🌫️x", "🚀 (normal) ✅", "a\u200db", "a\u200cb", "\u200d", "\ufe0f", "x\ufe0fy", "👍🏿👍", "⚡️→⇒⟹", "∑∫√∞≠≤≥",
            "“smart” ‘quotes’ — dash – en … dots", "«guillemets» ‹x›", "„German“", "¿Qué? ¡No!", "·•‣", "│┌─┐", "░▒▓█", "™®©", "№5", "€£¥₿",
            "\ue000\uf8ff", "\ufffd", "\ufffc", "\u0001", "a\u0000b", "\u007f\u0080\u009f", "\U0010ffff", "\ufdd0", "\U000e0041"]


def code() -> list[str]:
    return ["int main() { return 0; }", "for (int i = 0; i < n; ++i) {\n    a[i] += b[i];\n}", "def f(x):\n\treturn x**2\n",
            "std::vector<std::pair<int,int>> v{{1,2},{3,4}};", "x = {'a': [1, 2, 3], \"b\": None}", "SELECT * FROM t WHERE a='b' AND c>=10;",
            "<div class=\"x\">&nbsp;</div>", "<!-- comment -->", "{\"key\": \"va\\\"lue\", \"n\": -1.5e+10}", "a->b.c[0](&d, *e)", "#include <stdio.h>",
            "// TODO(x): fix\n", "/* multi\n * line\n */", "$ ls -la | grep '^d' && echo \"$HOME\"", "\\frac{a}{b} \\sum_{i=0}^{n}", "λx. x → y",
            "camelCaseName snake_case_name SCREAMING_CASE kebab-case", "HTTPServerError2XMLParser", "a+b=c", "!==", "<<=>>=", "&&||", "...", "----",
            "====", "####", "****", "!!!!!!", "?!?!", "((((", "))))", "[[]]{}{}", "''''", "\"\"\"doc\"\"\"", "```python\nprint('hi')\n```",
            "https://example.org/a/b?c=d&e=f%20g#h", "ftp://user:pw@host:21/", "mailto:first.last+tag@example.org", "C:\\Users\\name\\file.txt",
            "/usr/local/lib/x.so.1.2", "../..", "~/.config", "@user #tag", "a@b", "foo_bar__baz___", "__init__", "\\n\\t\\\\", "%d %s %5.2f",
            "0b1010 0o17 0xFFu", "i++ + ++i", "# Heading\n\n- item\n  - nested\n\n1. one\n", "| a | b |\n|---|---|\n", "\x1b[31mred\x1b[0m"]


def words() -> list[str]:
    return ["Hello", " Hello", "  Hello", "Hello world", "Hello, world!", "HELLO", "hElLo", "don't", "DON'T", "I'm you're he'll we've I'd it's",
            "IT'S Y'ALL'D'VE", "'tis", "' s", "'S", "o'clock", "rock'n'roll", "’s don’t", "x's 's", "'''s", "a'b'c", "'re're", "'l 'v", "'ſ", "the", " the",
            "The the THE", "antidisestablishmentarianism", "Donaudampfschifffahrtsgesellschaftskapitän", "pneumonoultramicroscopicsilicovolcanoconiosis",
            "a", " a", "A", "aaaaaaaaaa", "a" * 100, "ab" * 60, "x" * 257, "supercali" * 20, "e" * 33 + " " + "f" * 33, "Lorem ipsum dolor sit amet",
            "well-known state-of-the-art", "e.g. i.e. etc.", "U.S.A.", "Mr. O'Neil", "and/or", "a,b;c:d", "yes?no", "one.two.three", "( x )", "[ ]", " (", ") ", "\" \"",
            "it is\nnot\n\nso", "tab\tseparated\tvalues", "MixedCASE123word", "résumé naïve façade", "", "ünïcödé", "word.\nNext", "end.)\n", "x:\n\n", "a\n b\n  c"]


def literals() -> list[str]:
    """Literals of control tokens inside text."""
    out = list(SPECIALS)
    for s in SPECIALS[:8]:
        out += [f"a{s}b", f" {s} ", f"{s}{s}", s[:-1], s.upper()]
    return out + ["<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", "<start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n",
                  "<|im_start|><|im_end|>", "x <|im_end|> y\n", "<| im_end |>", "<|im_\u200bend|>", "&lt;|im_end|&gt;", "<|endoftext|>\n\n<|endoftext|>",
                  "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", "<bos>text<eos>", "<bos> text <eos> ", "\n<bos>\n"]


def strings() -> list[str]:
    """All our strings, in order, each once."""
    everything = spaces() + numbers() + scripts() + code() + words() + literals()
    return list(dict.fromkeys(everything))


def cases(model: Llama) -> list[dict]:
    plain = [(t, False) for t in strings()]
    special = [(t, True) for t in list(dict.fromkeys(literals() + spaces()[:12] + scripts()[:4] + code()[:3]))]
    return [{"text": t, "parse_special": p, "ids": model.tokenize(t, p)} for t, p in plain + special]


def write(path: Path, header: dict, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(r, ensure_ascii=True, separators=(",", ":")) for r in [header, *rows]]
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.name}: {len(rows)} cases, {path.stat().st_size} bytes")


def real(out: Path) -> None:
    for stem, names in FILES.items():
        results = []
        for name in names:
            model = Llama(MODELS / CATALOGUE[name], vocab_only=True)
            results.append(cases(model))
            flags = {"add_bos": model.add_bos}
            model.close()
        assert all(r == results[0] for r in results), f"{names}: vocabularies differ"
        for row in results[0]:
            # llama.cpp turns this user-defined token (type 4) into a control token because of its name alone
            if stem.startswith("gemma") and "</s>" in row["text"] and not row["parse_special"]:
                row["quirk"] = "by GGUF token types this is the single id 212"
        write(out / f"{stem}.jsonl", {"gguf": [CATALOGUE[n] for n in names], "folder": "models", **flags}, results[0])


def vocab_only(out: Path, source: Path) -> None:
    """llama.cpp's own lines, and ours without the long runs of spaces, for vocabulary-only files."""
    for name in VOCABS:
        file = source / f"ggml-vocab-{name}.gguf"
        (PEERS / "vocab").mkdir(parents=True, exist_ok=True)
        shutil.copy(file, PEERS / "vocab" / file.name)
        model = Llama(file, vocab_only=True)
        texts = Path(f"{file}.inp").read_bytes().decode().split(SEPARATOR)
        listed = [[int(i) for i in line.split()] for line in Path(f"{file}.out").read_text().split("\n")]
        rows = [{"text": t, "parse_special": False, "ids": model.tokenize(t, False)} for t in texts]
        differing = sum(r["ids"] != w for r, w in zip(rows, listed))
        seen = set(texts)
        rows += [{"text": t, "parse_special": False, "ids": model.tokenize(t, False)} for t in strings()[::2] if t not in seen]
        write(out / f"vocab-{name}.jsonl", {"gguf": [file.name], "folder": "peers/vocab", "add_bos": model.add_bos}, rows)
        print(f"  {name}: {len(texts)} lines of llama.cpp, {differing} differ from its .out file")
        model.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=GOLDEN / "tokenizer")
    parser.add_argument("--source", type=Path, default=PEERS / "llama.cpp" / "models")
    args = parser.parse_args()
    real(args.out)
    vocab_only(args.out, args.source)


if __name__ == "__main__":
    main()
