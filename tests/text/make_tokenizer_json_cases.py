"""Writes tokenizer_json_cases.json: small tokenizer.json files and what Hugging Face's library says about texts.

    python tests/text/make_tokenizer_json_cases.py        (tokenizers 0.22)
"""
import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

FOLDER = pathlib.Path(__file__).parent
CORPUS = ["hello world, hello tokens; the quick brown fox jumps over the lazy dog's back 1234 times",
          "naïve café 日本語 русский текст", "def main():\n    return 42\n\n\nclass A:\n\tpass\n"] * 20
TEXTS = ["", " ", "hello", " hello  world ", "hello<|im_end|>\nworld", "<|im_start|>user\nHi<|im_end|>", "<tool_call>{}</tool_call>",
         "naïve 日本語 👩‍💻", "  <mask>  x", "a<mask> b", "monday Day DAY", "day", "xDay", "\n\n\n\t", "12345", "<|im_end|><|im_end|>",
         "hello\u2581world", "don't 'LL", "\u0000\u200b"]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    split = Regex(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(split, "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=340, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>", AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.add_tokens([AddedToken("<tool_call>", normalized=False), AddedToken("Day", single_word=True, normalized=True)])
    return tokenizer


def sentencepiece(scheme):
    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    pieces += ["▁", *"helowrd", "he", "ll", "hell", "hello", "▁hello", "wo", "rld", "wor", "▁wo", "▁world"]
    merges = [("h", "e"), ("l", "l"), ("he", "ll"), ("hell", "o"), ("▁", "hello"), ("w", "o"), ("▁", "wo")]
    tokenizer = Tokenizer(models.BPE({p: i for i, p in enumerate(pieces)}, merges, unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    if scheme == "llama":
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                               decoders.Strip(" ", 1, 0)])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<s>", "</s>", "<|im_start|>", "<|im_end|>", AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.add_tokens([AddedToken("<tool_call>", normalized=False)])
    return tokenizer


def cases(tokenizer):
    for text in TEXTS:
        parsed = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = False
        yield {"text": text, "parse": parsed, "plain": plain, "decoded": tokenizer.decode(parsed, skip_special_tokens=True)}


kinds = {"byte-level": byte_level(), "llama": sentencepiece("llama"), "metaspace-first": sentencepiece("metaspace")}
file = {name: {"tokenizer": json.loads(t.to_str()), "cases": list(cases(t))} for name, t in kinds.items()}
(FOLDER / "tokenizer_json_cases.json").write_text(json.dumps(file, ensure_ascii=False) + "\n")
print({name: len(entry["cases"]) for name, entry in file.items()})
