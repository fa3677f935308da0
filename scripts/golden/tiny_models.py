#!/usr/bin/env python3
"""Tiny seeded checkpoints and their logits from mlx-lm in float32 on the CPU.

Writes tests/golden/tiny/<case>/: config.json + model.safetensors, or model.gguf, and expected.safetensors.
The stored file is read back, decoded to f32 exactly (numpy / the gguf package), and mlx-lm runs those values.

expected.safetensors: two sequences; the second one's names start with "b.".
  tokens      i32 [T]    the ids
  logits      f32 [T,V]  one forward over all T ids, empty cache
  step_logits f32 [S,V]  prefill of T-S ids, then S ids one at a time; row i compares with logits[T-S+i]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import mlx.core as mx
import numpy as np
from gguf import GGMLQuantizationType as Q
from mlx_lm.utils import _get_classes, load_model

from common import Bf16, GOLDEN, dequantize_mlx, f32, load_safetensors, save_safetensors, to_bf16
from tiny_gguf import VOCAB, write_gguf

STEPS = 8
LENGTHS = {"": 24, "b.": 13}
LONG = {"": 40, "b.": 21}  # configs with a sliding window

LLAMA = dict(model_type="llama", architectures=["LlamaForCausalLM"], hidden_size=64, intermediate_size=64,
             num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-5, vocab_size=VOCAB,
             max_position_embeddings=512, rope_theta=10000.0, rope_scaling=None, attention_bias=False, mlp_bias=False,
             tie_word_embeddings=True, bos_token_id=0, eos_token_id=2)
LLAMA_WIDE = LLAMA | dict(intermediate_size=128)
ROPE3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
             original_max_position_embeddings=64)
QWEN2 = LLAMA | dict(model_type="qwen2", architectures=["Qwen2ForCausalLM"], rms_norm_eps=1e-6, rope_theta=1000000.0,
                     use_sliding_window=False)
QWEN3 = LLAMA | dict(model_type="qwen3", architectures=["Qwen3ForCausalLM"], rms_norm_eps=1e-6, hidden_size=32, head_dim=16,
                     rope_theta=1000000.0)
GEMMA3 = dict(model_type="gemma3_text", architectures=["Gemma3ForCausalLM"], hidden_size=32, intermediate_size=64,
              num_hidden_layers=6, num_attention_heads=4, num_key_value_heads=1, head_dim=16, rms_norm_eps=1e-6,
              vocab_size=VOCAB, max_position_embeddings=512, rope_theta=1000000.0, rope_local_base_freq=10000.0,
              rope_scaling=None, query_pre_attn_scalar=24, sliding_window=8, sliding_window_pattern=3,
              final_logit_softcapping=None, attn_logit_softcapping=None, hidden_activation="gelu_pytorch_tanh",
              tie_word_embeddings=True, bos_token_id=0, eos_token_id=2)


# ---------------------------------------------------------------------------------------------- weights


def tensor_shapes(c: dict) -> dict:
    """HF tensor names -> shapes for a config of one of the four families."""
    h, i, nq, nk = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"], c["num_key_value_heads"]
    d = c.get("head_dim") or h // nq
    kind = c["model_type"]
    out = {"model.embed_tokens.weight": (c["vocab_size"], h), "model.norm.weight": (h,)}
    if not c["tie_word_embeddings"]:
        out["lm_head.weight"] = (c["vocab_size"], h)
    for n in range(c["num_hidden_layers"]):
        p = f"model.layers.{n}."
        linears = {"self_attn.q_proj": (nq * d, h), "self_attn.k_proj": (nk * d, h), "self_attn.v_proj": (nk * d, h),
                   "self_attn.o_proj": (h, nq * d), "mlp.gate_proj": (i, h), "mlp.up_proj": (i, h),
                   "mlp.down_proj": (h, i)}
        for name, shape in linears.items():
            out[p + name + ".weight"] = shape
            attn, kqv = name.startswith("self_attn"), name[-6] in "qkv"
            if (c.get("attention_bias") and attn) or (c.get("mlp_bias") and not attn) or (kind == "qwen2" and attn and kqv):
                out[p + name + ".bias"] = (shape[0],)
        norms = ["input_layernorm", "post_attention_layernorm"]
        if kind == "gemma3_text":
            norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        out |= {f"{p}{name}.weight": (h,) for name in norms}
        if kind in ("qwen3", "gemma3_text"):
            out |= {f"{p}self_attn.{name}.weight": (d,) for name in ("q_norm", "k_norm")}
    return out


def random_weights(c: dict, seed: int) -> dict:
    """f32 weights, large enough that attention is not flat and logits spread; gemma norms are around 0 (1+w)."""
    rng = np.random.default_rng(seed)
    out = {}
    for name, shape in sorted(tensor_shapes(c).items()):
        x = rng.standard_normal(shape).astype(np.float32)
        if name.endswith("norm.weight"):
            out[name] = np.float32(0.3) * x + np.float32(0 if c["model_type"] == "gemma3_text" else 1)
        elif "embed_tokens" in name or name == "lm_head.weight":
            out[name] = np.float32(0.5) * x
        elif name.endswith(".bias"):
            out[name] = np.float32(0.5) * x
        else:
            out[name] = np.float32(1.5 / np.sqrt(shape[1])) * x
    return out


# ---------------------------------------------------------------------------------------------- the oracle


def build(config: dict, weights: dict):
    """An mlx-lm model holding exactly these f32 weights."""
    cls, args = _get_classes(config)
    model = cls(args.from_dict(config))
    arrays = {k: mx.array(np.ascontiguousarray(v, dtype=np.float32)) for k, v in weights.items()}
    model.load_weights(list(model.sanitize(arrays).items()) if hasattr(model, "sanitize") else list(arrays.items()))
    return model


def run(model, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(logits [T,V], step_logits [S,V]) of one sequence."""
    from mlx_lm.models.cache import make_prompt_cache

    whole = np.array(model(mx.array(tokens)[None])[0].astype(mx.float32))
    cache = make_prompt_cache(model)
    mx.eval(model(mx.array(tokens[:-STEPS])[None], cache=cache))
    rows = [np.array(model(mx.array(tokens[t:t + 1])[None], cache=cache)[0, 0].astype(mx.float32))
            for t in range(len(tokens) - STEPS, len(tokens))]
    return whole, np.stack(rows)


def expected(config: dict, weights: dict, seed: int) -> dict:
    """The contents of expected.safetensors; checks spread and step-by-step agreement."""
    rng, model, out = np.random.default_rng(seed + 1000), build(config, weights), {}
    for prefix, length in (LONG if config.get("sliding_window") else LENGTHS).items():
        tokens = rng.integers(0, config["vocab_size"], length).astype(np.int32)
        whole, steps = run(model, tokens)
        assert np.isfinite(whole).all() and (whole.max(-1) - whole.min(-1)).min() > 1, "logits too flat"
        assert np.abs(steps - whole[-STEPS:]).max() < 2e-3, "decode disagrees with prefill"
        out |= {prefix + "tokens": tokens, prefix + "logits": whole, prefix + "step_logits": steps}
    return out


# ---------------------------------------------------------------------------------------------- HF layout


def write_hf(folder: Path, config: dict, weights: dict, dtype: str) -> dict:
    """config.json + model.safetensors in bf16 or f32; returns what is stored, as f32."""
    stored = {k: to_bf16(v) if dtype == "bfloat16" else v for k, v in weights.items()}
    save_safetensors(folder / "model.safetensors", stored, {"format": "pt"})
    write_json(folder / "config.json", config | {"torch_dtype": dtype})
    return {k: f32(v) for k, v in load_safetensors(folder / "model.safetensors").items()}


def write_json(path: Path, value) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


# ---------------------------------------------------------------------------------------------- MLX layout


def as_stored(x: mx.array):
    """mx array -> numpy or Bf16."""
    return Bf16(np.array(x.view(mx.uint16))) if x.dtype == mx.bfloat16 else np.array(x)


def write_mlx(folder: Path, config: dict, weights: dict, quantization: dict, scale_dtype: str) -> dict:
    """Quantises every linear and the embedding with mx.quantize as `quantization` says; returns the stored values."""
    dtype = getattr(mx, scale_dtype)
    stored, plans = {}, {}
    for name, value in weights.items():
        path = name.removesuffix(".weight")
        plan = quantization.get(path, {k: quantization[k] for k in ("group_size", "bits", "mode") if k in quantization})
        if value.ndim < 2 or plan is False:
            stored[name] = as_stored(mx.array(value).astype(dtype))
            continue
        parts = mx.quantize(mx.array(value).astype(dtype), **plan)
        stored |= {path + s: as_stored(p) for s, p in zip((".weight", ".scales", ".biases"), parts)}
        plans[path] = plan
    save_safetensors(folder / "model.safetensors", stored, {"format": "mlx"})
    write_json(folder / "config.json", config | {"quantization": quantization, "quantization_config": quantization})
    return decode_mlx(load_safetensors(folder / "model.safetensors"), plans)


def decode_mlx(stored: dict, plans: dict) -> dict:
    out = {k: f32(v) for k, v in stored.items() if k.rsplit(".", 1)[0] not in plans}
    for path, p in plans.items():
        out[path + ".weight"] = dequantize_mlx(stored[path + ".weight"], stored[path + ".scales"],
                                               stored.get(path + ".biases"), p["bits"], p["group_size"],
                                               p.get("mode", "affine"))
        if path + ".bias" in stored:
            out[path + ".bias"] = f32(stored[path + ".bias"])
    return out


def check_mlx(folder: Path, want: dict, case: str) -> None:
    """mlx-lm's own loader accepts the folder and its quantised kernels agree closely with the dense oracle."""
    model, _ = load_model(folder)
    model.set_dtype(mx.float32)
    got, _ = run(model, want["tokens"])
    print(f"  {case}: mlx-lm on the quantised folder, max abs difference {np.abs(got - want['logits']).max():.2e}")


# ---------------------------------------------------------------------------------------------- cases


def q(bits: int, group: int, mode: str | None = None) -> dict:
    return {"group_size": group, "bits": bits} | ({"mode": mode} if mode else {})


MIXED = q(4, 64, "affine") | {
    "model.embed_tokens": q(8, 64), "lm_head": q(6, 32),
    "model.layers.0.self_attn.q_proj": q(3, 64), "model.layers.0.self_attn.k_proj": q(5, 32),
    "model.layers.0.self_attn.v_proj": q(6, 64), "model.layers.0.self_attn.o_proj": q(8, 32),
    "model.layers.0.mlp.gate_proj": q(4, 32, "mxfp4"), "model.layers.0.mlp.up_proj": q(8, 32, "mxfp8"),
    "model.layers.0.mlp.down_proj": q(4, 16, "nvfp4"), "model.layers.1.self_attn.q_proj": False,
    "model.layers.1.mlp.down_proj": q(4, 128)}

HF_CASES = {
    "llama-hf-gqa-tied": (LLAMA, "bfloat16"),
    "llama-hf-llama3-untied": (LLAMA | dict(rope_scaling=ROPE3, tie_word_embeddings=False, rope_theta=500000.0), "bfloat16"),
    "llama-hf-linear-bias": (LLAMA | dict(rope_scaling=dict(type="linear", factor=4.0), attention_bias=True, mlp_bias=True,
                                          hidden_size=32, head_dim=12), "float32"),
    "llama-hf-sliding": (LLAMA | dict(hidden_size=32, sliding_window=8, layer_types=["sliding_attention", "full_attention"]), "bfloat16"),
    "qwen2-hf": (QWEN2, "bfloat16"),
    "qwen3-hf": (QWEN3 | dict(tie_word_embeddings=False), "bfloat16"),
    "gemma3-hf": (GEMMA3 | dict(rope_local_base_freq=5000.0, rope_scaling=dict(rope_type="linear", factor=8.0)), "bfloat16"),
}
MLX_CASES = {
    "llama-mlx-4bit-g32": (LLAMA, q(4, 32, "affine"), "bfloat16"),
    "llama-mlx-8bit-g64": (LLAMA_WIDE | dict(num_hidden_layers=1), q(8, 64), "float16"),
    "llama-mlx-mxfp4": (LLAMA, q(4, 32, "mxfp4"), "bfloat16"),
    "llama-mlx-mixed": (LLAMA_WIDE | dict(tie_word_embeddings=False), MIXED, "bfloat16"),
    "qwen2-mlx-4bit-g32": (QWEN2 | dict(tie_word_embeddings=False), q(4, 32, "affine"), "bfloat16"),
    "qwen3-mlx-4bit-g32": (QWEN3, q(4, 32, "affine"), "float16"),
    "gemma3-mlx-4bit-g32": (GEMMA3 | dict(num_hidden_layers=4), q(4, 32, "affine"), "bfloat16"),
}
BASE = {"": Q.Q8_0, "token_embd": Q.Q8_0, "attn_q": Q.Q4_0, "attn_k": Q.F16, "ffn_up": Q.Q4_0, "output": Q.F32}
GGUF_CASES = {
    "llama-gguf-mix-tied": (LLAMA, BASE, ()),
    "llama-gguf-llama3-untied": (LLAMA | dict(rope_scaling=ROPE3, tie_word_embeddings=False, rope_theta=500000.0),
                                 {"": Q.Q4_0, "token_embd": Q.Q4_0, "output": Q.Q8_0, "attn_v": Q.F16}, ()),
    "llama-gguf-types-bias": (LLAMA | dict(attention_bias=True, rope_scaling=dict(rope_type="linear", factor=4.0)),
                              {"": Q.Q8_0, "token_embd": Q.Q5_1, "attn_q": Q.Q4_1, "attn_k": Q.Q5_0, "attn_v": Q.BF16,
                               "attn_output": Q.MXFP4, "ffn_gate": Q.Q5_1, "ffn_up": Q.F32, "ffn_down": Q.Q4_1}, ()),
    "qwen2-gguf": (QWEN2, BASE, ()),
    "qwen3-gguf": (QWEN3 | dict(tie_word_embeddings=False), BASE, ()),
    "gemma3-gguf-pattern3": (GEMMA3 | dict(rope_local_base_freq=5000.0, query_pre_attn_scalar=16), BASE, ()),
    "gemma3-gguf-defaults": (GEMMA3 | dict(num_hidden_layers=7, query_pre_attn_scalar=16, sliding_window_pattern=6),
                             BASE | {"attn_k": Q.Q8_0}, ("pattern", "freq_base_swa")),
}


def with_layer_types(c: dict) -> dict:
    """Gemma configs also carry the explicit list that newer exports have."""
    if c["model_type"] != "gemma3_text":
        return c
    p = c["sliding_window_pattern"]
    kinds = ["full_attention" if (i + 1) % p == 0 else "sliding_attention" for i in range(c["num_hidden_layers"])]
    return c | dict(layer_types=kinds)


def make(case: str, index: int, out: Path) -> None:
    folder, seed = out / case, 7000 + index
    if case in HF_CASES:
        config, dtype = HF_CASES[case]
        config = with_layer_types(config)
        values = write_hf(folder, config, random_weights(config, seed), dtype)
    elif case in MLX_CASES:
        config, plan, dtype = MLX_CASES[case]
        config = with_layer_types(config)
        values = write_mlx(folder, config, random_weights(config, seed), plan, dtype)
    else:
        config, types, omit = GGUF_CASES[case]
        values = write_gguf(folder, case, config, random_weights(config, seed), types, omit)
    want = expected(config, values, seed)
    save_safetensors(folder / "expected.safetensors", want)
    spread = (want["logits"].max(-1) - want["logits"].min(-1)).min()
    drift = np.abs(want["step_logits"] - want["logits"][-STEPS:]).max()
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{case}: {size} bytes, smallest spread {spread:.1f}, decode vs prefill {drift:.1e}")
    if case in MLX_CASES:
        check_mlx(folder, want, case)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=GOLDEN / "tiny")
    parser.add_argument("--only", help="make only the cases whose name contains this")
    args = parser.parse_args()
    mx.set_default_device(mx.cpu)
    for index, case in enumerate([*HF_CASES, *MLX_CASES, *GGUF_CASES]):
        if not args.only or args.only in case:
            make(case, index, args.out)


if __name__ == "__main__":
    main()
