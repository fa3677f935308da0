#!/usr/bin/env python3
"""Second opinion on tests/golden/real: mlx-lm in float32 on the GGUF file's decoded values, first text only.

Decodes every tensor with the gguf package, un-permutes llama's q and k, runs 256 positions, and prints the KL of mlx-lm from
the stored 64 best plus rest. For Gemma it runs twice: embedding factor sqrt(H) as mlx-lm has it (rounded to bf16) and as
llama.cpp has it (float). Slow: mlx-lm does 4 GFLOP/s here.
"""

from __future__ import annotations

import sys

import gguf
import mlx.core as mx
import numpy as np

from common import CATALOGUE, GOLDEN, MODELS, load_safetensors
from real_logits import COUNT, log_softmax
from tiny_gguf import from_gguf_values, gguf_name
from tiny_models import build, tensor_shapes

KINDS = {"llama": "llama", "qwen2": "qwen2", "gemma3": "gemma3_text"}


def config_of(reader: gguf.GGUFReader) -> dict:
    """An HF-style config from GGUF metadata."""
    arch = reader.get_field("general.architecture").contents()

    def key(name, default=None):
        f = reader.get_field(f"{arch}.{name}")
        return f.contents() if f else default

    names = {t.name for t in reader.tensors}
    c = dict(model_type=KINDS[arch], hidden_size=key("embedding_length"), intermediate_size=key("feed_forward_length"),
             num_hidden_layers=key("block_count"), num_attention_heads=key("attention.head_count"),
             num_key_value_heads=key("attention.head_count_kv"), rms_norm_eps=key("attention.layer_norm_rms_epsilon"),
             rope_theta=key("rope.freq_base", 10000.0), max_position_embeddings=key("context_length"), rope_scaling=None,
             tie_word_embeddings="output.weight" not in names,
             vocab_size=len(reader.get_field("tokenizer.ggml.tokens").contents()))
    if arch == "gemma3":
        c |= dict(head_dim=key("attention.key_length"), query_pre_attn_scalar=key("attention.key_length"),
                  sliding_window=key("attention.sliding_window"), sliding_window_pattern=6,
                  rope_local_base_freq=key("rope.freq_base_swa", 10000.0))
    return c


def weights_of(reader: gguf.GGUFReader, config: dict) -> dict:
    tensors = {t.name: t for t in reader.tensors}
    out = {}
    for name, shape in tensor_shapes(config).items():
        t = tensors[gguf_name(name, config["model_type"])]
        x = gguf.quants.dequantize(np.array(t.data), t.tensor_type).astype(np.float32).reshape(shape)
        out[name] = from_gguf_values(name, x, config)
    return out


def kl(want: dict, got: np.ndarray) -> str:
    """KL over the 64 best and the rest; want: the stored file, got: log-probabilities f64 [256,V]."""
    ids, p = want["ids"][:COUNT - 1].astype(np.int64), want["logprobs"][:COUNT - 1].astype(np.float64)
    rest, q = want["rest"][:COUNT - 1].astype(np.float64), np.take_along_axis(got, ids, -1)
    other = np.log(np.maximum(1 - np.exp(q).sum(-1), 1e-12))
    d = (np.exp(p) * (p - q)).sum(-1) + np.exp(rest) * (rest - other)
    same = (got.argmax(-1) == ids[:, 0]).mean()
    return f"KL mean {d.mean():.2e} max {d.max():.2e}, same top {same:.4f}, largest |log p| difference {np.abs(p - q).max():.1e}"


def main() -> None:
    mx.set_default_device(mx.cpu)
    for name in sys.argv[1:] or ["smollm2:135m", "gemma3:270m", "qwen2.5-coder:0.5b"]:
        want = load_safetensors(GOLDEN / "real" / (name.replace(":", "-") + ".safetensors"))
        reader = gguf.GGUFReader(MODELS / CATALOGUE[name])
        config = config_of(reader)
        weights = weights_of(reader, config)
        tokens = mx.array(want["tokens"][:COUNT - 1])[None]
        factors = [1.0] if config["model_type"] != "gemma3_text" else [1.0, exact_factor(config["hidden_size"])]
        for factor in factors:
            model = build(config, weights)
            h = model.model.embed_tokens(tokens) * factor
            got = log_softmax(np.array(model(tokens, input_embeddings=h)[0]))
            print(name, "embedding factor corrected:" if factor != 1 else ":", kl(want, got), flush=True)


def exact_factor(hidden: int) -> float:
    """What turns mlx-lm's bf16 sqrt(hidden) into the float one."""
    return float(hidden ** 0.5 / np.array(mx.array(hidden ** 0.5, mx.bfloat16).astype(mx.float32)))


if __name__ == "__main__":
    main()
