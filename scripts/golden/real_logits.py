#!/usr/bin/env python3
"""Next-token distributions of the real models from llama.cpp in float32 -> tests/golden/real/<model>.safetensors.

Oracle: the GGUF file expanded to F32 (`llama-quantize --allow-requantize IN OUT F32`), libllama on the CPU, K/V in f32,
flash attention off, all tokens of a text in one batch. Texts: prose.txt, code.txt; of each the first 257 tokens
(begin-of-sequence included where the file's metadata asks for it) give 256 scored positions, 512 in all.

  tokens  i32 [514]     the ids, one text after the other
  starts  i32 [2]       index in `tokens` where each text begins: 0, 257
  ids     i32 [512,64]  the 64 most probable next ids, most probable first
  logprobs f32 [512,64] their natural-log probabilities
  rest    f32 [512]     log of the probability left for all other ids
  target  f32 [512]     log-probability of the id that really follows

Position p (text k = p / 256, i = p % 256) is the distribution after tokens[starts[k] .. starts[k]+i], that is of the id
tokens[starts[k]+i+1].
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np

from common import CACHE, CATALOGUE, GOLDEN, MODELS, save_safetensors
from llama import LIBS, Llama

TEXTS, COUNT, TOP = ("prose.txt", "code.txt"), 257, 64


def expanded(name: str) -> Path:
    """The F32 expansion of a catalogue model in the cache, made when missing."""
    out = CACHE / "peers" / "f32" / (CATALOGUE[name].rsplit(".", 2)[0] + ".F32.gguf")
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_suffix(".part")
        done = subprocess.run([LIBS / "llama-quantize", "--allow-requantize", MODELS / CATALOGUE[name], part, "F32", "2"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-800:] + done.stderr[-800:]
        part.rename(out)
    return out


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """f32 [P,V] -> f64 [P,V]."""
    x = logits.astype(np.float64)
    x -= x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def tokens_of(model: Llama, text: str) -> list[int]:
    ids = ([model.bos] if model.add_bos else []) + model.tokenize(text, parse_special=False)
    assert len(ids) >= COUNT, f"text too short: {len(ids)}"
    return ids[:COUNT]


def score(path: Path, texts: list[str]) -> tuple[np.ndarray, np.ndarray, bool]:
    """(tokens i32 [514], log-probabilities f64 [512,V], begin-of-sequence added)."""
    model = Llama(path)
    tokens = [tokens_of(model, t) for t in texts]
    logs = np.concatenate([log_softmax(model.logits(t)[:-1]) for t in tokens])
    flags = model.add_bos
    model.close()
    return np.concatenate(tokens).astype(np.int32), logs, flags


def pack(tokens: np.ndarray, logs: np.ndarray) -> dict:
    ids = np.argsort(-logs, axis=-1, kind="stable")[:, :TOP].astype(np.int32)
    top = np.take_along_axis(logs, ids.astype(np.int64), -1)
    others = np.exp(logs)
    np.put_along_axis(others, ids.astype(np.int64), 0.0, -1)
    following = tokens.reshape(len(TEXTS), COUNT)[:, 1:].reshape(-1)
    return {"tokens": tokens, "starts": np.array([0, COUNT], np.int32), "ids": ids, "logprobs": top.astype(np.float32),
            "rest": np.log(others.sum(-1)).astype(np.float32),
            "target": logs[np.arange(len(logs)), following].astype(np.float32)}


def compare(want: np.ndarray, got: np.ndarray, tokens: np.ndarray) -> dict:
    """KL(want || got) per position over the whole vocabulary, agreement, and perplexities."""
    kl = (np.exp(want) * (want - got)).sum(-1)
    following = tokens.reshape(len(TEXTS), COUNT)[:, 1:].reshape(-1)
    rows = np.arange(len(want))
    ppl = [float(np.exp(-x[rows, following].mean())) for x in (want, got)]
    later = rows % (COUNT - 1) > 0
    return {"kl_mean": float(kl.mean()), "kl_max": float(kl.max()), "kl_first_positions": [float(x) for x in kl[~later]],
            "kl_mean_of_others": float(kl[later].mean()), "kl_max_of_others": float(kl[later].max()),
            "same_top": float((want.argmax(-1) == got.argmax(-1)).mean()), "perplexity_f32": ppl[0], "perplexity": ppl[1],
            "mean_ln_ratio": float(np.log(ppl[1] / ppl[0]))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(CATALOGUE), help="catalogue names")
    parser.add_argument("--out", type=Path, default=GOLDEN / "real")
    parser.add_argument("--keep", action="store_true", help="keep the F32 files")
    args = parser.parse_args()
    texts = [(args.out / t).read_text() for t in TEXTS]
    info_path = args.out / "info.json"
    info = json.loads(info_path.read_text()) if info_path.exists() else {}
    for name in args.models:
        path = expanded(name)
        tokens, want, bos = score(path, texts)
        save_safetensors(args.out / (name.replace(":", "-") + ".safetensors"), pack(tokens, want))
        same, quantised, _ = score(MODELS / CATALOGUE[name], texts)
        assert (same == tokens).all()
        info[name] = {"file": CATALOGUE[name], "bos_added": bos, "llama_cpp_quantised_against_f32": compare(want, quantised, tokens)}
        print(name, json.dumps(info[name], indent=1))
        info_path.write_text(json.dumps(info, indent=1) + "\n")
        if not args.keep:
            path.unlink()


if __name__ == "__main__":
    main()
