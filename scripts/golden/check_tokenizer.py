#!/usr/bin/env python3
"""Second opinion on the tokenizer cases: the Hugging Face tokenizers library built from the same GGUF metadata.

Prints the cases (parse_special false) whose ids differ from libllama's. Built as a GGUF loader would: no normalizer for
gpt2-type vocabularies, the regexes of llama.cpp's `pre` names, for "llama" vocabularies merges derived from the scores
(highest score first, then left id, right id). User-defined tokens (type 4) are cut out of plain text, control tokens are not.
"""

from __future__ import annotations

import json

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from common import CACHE, GOLDEN

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
QWEN2 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def field(reader: gguf.GGUFReader, key: str):
    f = reader.get_field("tokenizer.ggml." + key)
    return f.contents() if f else None


def byte_level(reader: gguf.GGUFReader) -> Tokenizer:
    tokens = field(reader, "tokens")
    merges = [tuple(m.split(" ")) for m in field(reader, "merges")]
    tok = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=field(reader, "pre") == "smollm")
    first = pre_tokenizers.Digits(individual_digits=True) if field(reader, "pre") == "smollm" else \
        pre_tokenizers.Split(Regex(QWEN2), "isolated")
    tok.pre_tokenizer = pre_tokenizers.Sequence([first, level])
    return tok


def from_scores(reader: gguf.GGUFReader) -> Tokenizer:
    tokens, scores = field(reader, "tokens"), field(reader, "scores")
    ids = {t: i for i, t in enumerate(tokens)}
    merges = []
    for piece, i in ids.items():
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in ids and right in ids:
                merges.append((-scores[i], ids[left], ids[right], left, right))
    merges.sort()
    tok = Tokenizer(models.BPE(ids, [m[3:] for m in merges], byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tok.normalizer = normalizers.Replace(" ", "\u2581")
    return tok


def build(path) -> Tokenizer:
    reader = gguf.GGUFReader(path)
    tok = byte_level(reader) if field(reader, "model") == "gpt2" else from_scores(reader)
    tokens, types = field(reader, "tokens"), field(reader, "token_type")
    tok.add_tokens([AddedToken(t, normalized=False, special=False) for t, k in zip(tokens, types) if k == 4])
    return tok


def main() -> None:
    for stem in ("smollm2-135m", "qwen2.5-coder", "gemma3-270m"):
        header, *rows = [json.loads(line) for line in (GOLDEN / "tokenizer" / f"{stem}.jsonl").read_text().splitlines()]
        tok = build(CACHE / header["folder"] / header["gguf"][0])
        plain = [r for r in rows if not r["parse_special"]]
        bad = [(r, tok.encode(r["text"], add_special_tokens=False).ids) for r in plain]
        bad = [(r, got) for r, got in bad if got != r["ids"]]
        print(f"{stem}: {len(bad)} of {len(plain)} differ")
        for r, got in bad:
            print("  ", ascii(r["text"])[:90], "llama.cpp", r["ids"][:12], "tokenizers", got[:12])


if __name__ == "__main__":
    main()
