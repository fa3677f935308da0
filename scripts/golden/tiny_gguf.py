"""Tiny checkpoints as GGUF files, and reading them back: names, row order of q and k, norms, metadata."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q

VOCAB = 96

ARCH = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma3_text": "gemma3"}
TENSORS = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
           "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
           "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
           "input_layernorm": "attn_norm"}


def gguf_name(name: str, kind: str) -> str:
    """HF tensor name -> GGUF tensor name."""
    fixed = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
             "lm_head.weight": "output.weight"}
    if name in fixed:
        return fixed[name]
    _, _, n, rest = name.split(".", 3)
    module, suffix = rest.rsplit(".", 1)
    post = "post_attention_norm" if kind == "gemma3_text" else "ffn_norm"
    names = TENSORS | {"post_attention_layernorm": post, "pre_feedforward_layernorm": "ffn_norm",
                       "post_feedforward_layernorm": "post_ffw_norm"}
    return f"blk.{n}.{names[module]}.{suffix}"


def permute(x: np.ndarray, heads: int) -> np.ndarray:
    """Rows [heads*D, ...] from halves order to adjacent-pair order, as converters store llama's q and k."""
    return x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def unpermute(x: np.ndarray, heads: int) -> np.ndarray:
    return x.reshape(heads, x.shape[0] // heads // 2, 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def heads_of(name: str, c: dict) -> int:
    """Number of heads whose rows are permuted in this HF tensor, 0 for none."""
    if c["model_type"] != "llama":
        return 0
    return {"q_proj": c["num_attention_heads"], "k_proj": c["num_key_value_heads"]}.get(name.split(".")[-2], 0)


def to_gguf_values(name: str, x: np.ndarray, c: dict) -> np.ndarray:
    if heads := heads_of(name, c):
        return permute(x, heads)
    return x + np.float32(1) if c["model_type"] == "gemma3_text" and name.endswith("norm.weight") else x


def from_gguf_values(name: str, x: np.ndarray, c: dict) -> np.ndarray:
    """Stored values -> what mlx-lm wants. Gemma: (1+w)-1 in f32 and 1+ again is exact enough by construction."""
    if heads := heads_of(name, c):
        return unpermute(x, heads)
    return x - np.float32(1) if c["model_type"] == "gemma3_text" and name.endswith("norm.weight") else x


def byte_level(ch: str) -> str:
    return {" ": "\u0120", "\n": "\u010a"}.get(ch, ch)


def vocabulary() -> tuple[list, list, list]:
    """96 gpt2-type tokens, their GGUF types, and merges: 3 control, space, newline, letters, digits, a few merged."""
    control = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    chars = [byte_level(c) for c in " \nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'\"()-_=+/*"]
    pairs = [("t", "h"), ("th", "e"), ("\u0120", "the"), ("i", "n"), ("e", "r"), ("a", "n"), ("an", "d"),
             ("\u0120", "and"), ("o", "n"), ("o", "u"), ("\u0120", "a"), ("s", "t"), ("e", "n"), ("r", "e")]
    tokens = (control + chars + [a + b for a, b in pairs])[:VOCAB]
    assert len(tokens) == VOCAB == len(set(tokens)), len(tokens)
    kept = [f"{a} {b}" for a, b in pairs if a + b in tokens]
    return tokens, [3] * len(control) + [1] * (VOCAB - len(control)), kept


def write_metadata(w: gguf.GGUFWriter, c: dict, name: str, omit: tuple) -> None:
    d = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    w.add_name(name)
    w.add_context_length(c["max_position_embeddings"])
    w.add_embedding_length(c["hidden_size"])
    w.add_block_count(c["num_hidden_layers"])
    w.add_feed_forward_length(c["intermediate_size"])
    w.add_head_count(c["num_attention_heads"])
    w.add_head_count_kv(c["num_key_value_heads"])
    w.add_layer_norm_rms_eps(c["rms_norm_eps"])
    w.add_rope_freq_base(c["rope_theta"])
    if c.get("head_dim"):
        w.add_key_length(d)
        w.add_value_length(d)
    if c["model_type"] == "llama":
        w.add_vocab_size(c["vocab_size"])
        w.add_rope_dimension_count(d)
    if c["model_type"] == "gemma3_text":
        w.add_sliding_window(c["sliding_window"])
        if "pattern" not in omit:
            w.add_sliding_window_pattern(c["sliding_window_pattern"])
        if "freq_base_swa" not in omit:
            w.add_float32("gemma3.rope.freq_base_swa", c["rope_local_base_freq"])
    scaling = c.get("rope_scaling") or {}
    if scaling.get("rope_type") == "linear":
        w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        w.add_rope_scaling_factor(scaling["factor"])
    tokens, types, merges = vocabulary()
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens)
    w.add_token_types(types)
    w.add_token_merges(merges)
    w.add_bos_token_id(0)
    w.add_eos_token_id(2)
    w.add_add_bos_token(False)


def rope_freqs(c: dict) -> np.ndarray:
    """llama3 divisors f32 [D/2] as converters store them in rope_freqs.weight."""
    d, s = c["hidden_size"] // c["num_attention_heads"], c["rope_scaling"]
    f = c["rope_theta"] ** (np.arange(0, d, 2, dtype=np.float64) / d)
    wave, orig = 2 * np.pi * f, s["original_max_position_embeddings"]
    smooth = (orig / wave - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
    out = np.where(wave < orig / s["high_freq_factor"], 1.0, 1 / ((1 - smooth) / s["factor"] + smooth))
    return np.where(wave > orig / s["low_freq_factor"], s["factor"], out).astype(np.float32)


def write_gguf(folder: Path, case: str, config: dict, weights: dict, types: dict, omit: tuple = ()) -> dict:
    """types: GGUF tensor stem ("attn_q", "token_embd", ...) -> ggml type, "" the default; vectors are F32."""
    path = folder / "model.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    w = gguf.GGUFWriter(path, ARCH[config["model_type"]])
    write_metadata(w, config, case, omit)
    names = {}
    for name, value in weights.items():
        stem = gguf_name(name, config["model_type"])
        names[stem] = name
        x = np.ascontiguousarray(to_gguf_values(name, value, config), dtype=np.float32)
        qtype = Q.F32 if x.ndim == 1 else types.get(stem.split(".")[-2], types[""])
        w.add_tensor(stem, gguf.quants.quantize(x, qtype), raw_dtype=qtype)
    if (config.get("rope_scaling") or {}).get("rope_type") == "llama3":
        w.add_tensor("rope_freqs.weight", rope_freqs(config))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return decode_gguf(path, names, config)


def decode_gguf(path: Path, names: dict, config: dict) -> dict:
    """Reads the file back with the gguf package and returns HF names -> f32."""
    out = {}
    for t in gguf.GGUFReader(path).tensors:
        if t.name not in names:
            continue
        shape = tuple(int(n) for n in reversed(t.shape))
        x = gguf.quants.dequantize(np.array(t.data), t.tensor_type).reshape(shape)
        out[names[t.name]] = from_gguf_values(names[t.name], x, config)
    return out
