#!/usr/bin/env python3
"""Random quantised blocks and their exact f32 values -> tests/golden/blocks.safetensors.

GGUF type T: "T.raw" u8 [blocks, bytes per block], "T.values" f32 [blocks, elements per block], decoded by the gguf package.
MLX: "mlx.<mode>.<bits>.<group>[.<scale type>].weight" u32 [rows, in*bits/32], ".scales", ".biases" (affine) and
".values" f32 [rows, in]: scale*q + bias in f32, each operation rounded once (numpy).

With --ggml <dir of libggml*.so> every GGUF type is also decoded by ggml's own to_float, bit for bit.
"""

from __future__ import annotations

import argparse
import ctypes
from pathlib import Path

import gguf
import mlx.core as mx
import numpy as np
from gguf import GGMLQuantizationType as Q

from common import Bf16, GOLDEN, dequantize_mlx, f32, save_safetensors

TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4",
         "BF16", "F16"]
# byte offsets of the f16 scale fields in a block
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}
# f16 bit patterns every type meets: +0, -0, smallest subnormals, largest subnormal, negatives, one, largest finite
SPECIAL = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x3C00, 0xBC00, 0x7BFF, 0x2E66]


def gguf_blocks(name: str, rng: np.random.Generator) -> np.ndarray:
    """u8 [blocks, bytes]: random codes, scales finite; the first blocks carry the special scales."""
    size, nbytes = gguf.GGML_QUANT_SIZES[Q[name]]
    if name in ("BF16", "F16"):
        bits = rng.integers(0, 0x10000, 256).astype(np.uint16)
        special = SPECIAL if name == "F16" else [0, 0x8000, 1, 0x8001, 0x007F, 0x0080, 0x3F80, 0xBF80, 0x7F7F, 0xFF7F]
        bits[:len(special)] = special
        infinite = 0x7C00 if name == "F16" else 0x7F80
        bits[(bits & infinite) == infinite] = 0x3C00
        return bits.view(np.uint8).reshape(-1, nbytes)
    count = 6 if size == 256 else 16
    raw = rng.integers(0, 256, (count, nbytes)).astype(np.uint8)
    for k, at in enumerate(HALVES.get(name, [])):
        d = (rng.standard_normal(count) * 0.02).astype(np.float16).view(np.uint16)
        special = np.roll(SPECIAL, -3 * k)[:count // 2]
        d[:len(special)] = special
        raw[:, at:at + 2] = d[:, None].view(np.uint8).reshape(count, 2)
    if name == "MXFP4":
        raw[:, 0] = [0, 1, 2, 3, 126, 127, 128, 130, 64, 100, 120, 121, 122, 123, 200, 250][:count]
    return raw


def ggml_decode(lib: ctypes.CDLL, name: str, raw: np.ndarray) -> np.ndarray:
    """f32 values of u8 [blocks, bytes] through ggml_get_type_traits(type)->to_float."""

    class Traits(ctypes.Structure):
        _fields_ = [("type_name", ctypes.c_char_p), ("blck_size", ctypes.c_int64), ("blck_size_interleave", ctypes.c_int64),
                    ("type_size", ctypes.c_size_t), ("is_quantized", ctypes.c_bool), ("to_float", ctypes.c_void_p)]

    lib.ggml_get_type_traits.restype = ctypes.POINTER(Traits)
    t = lib.ggml_get_type_traits(int(Q[name])).contents
    assert t.type_size == raw.shape[1], (name, t.type_size)
    out = np.empty(raw.shape[0] * t.blck_size, np.float32)
    data = np.ascontiguousarray(raw)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(t.to_float)
    call(data.ctypes.data, out.ctypes.data, out.size)
    return out.reshape(raw.shape[0], -1)


def gguf_part(out: dict, lib: ctypes.CDLL | None) -> None:
    for index, name in enumerate(TYPES):
        raw = gguf_blocks(name, np.random.default_rng(100 + index))
        values = np.ascontiguousarray(gguf.quants.dequantize(raw, Q[name]), np.float32).reshape(len(raw), -1)
        assert np.isfinite(values).all(), name
        out[f"{name}.raw"], out[f"{name}.values"] = raw, values
        if lib:
            same = values.view(np.uint32) == ggml_decode(lib, name, raw).view(np.uint32)
            zeros = (values == 0) & (ggml_decode(lib, name, raw) == 0)
            print(f"{name}: {len(raw)} blocks, ggml equal {same.sum()} of {same.size} bit for bit, "
                  f"{(~same & zeros).sum()} differ in the sign of zero")


def mlx_float(x: mx.array):
    return Bf16(np.array(x.view(mx.uint16))) if x.dtype == mx.bfloat16 else np.array(x)


def mlx_case(out: dict, key: str, mode: str, bits: int, group: int, dtype, rng: np.random.Generator) -> None:
    """Quantises 3 random rows of 256 values; one group is all zero, one constant, one negative, one tiny."""
    x = (rng.standard_normal((3, 256)) * 0.05).astype(np.float32)
    x[0, :128], x[1, :128], x[2, :128] = 0, 0.75, -np.abs(x[2, :128])
    x[1, 128:] *= 1e-6
    w, s, *b = mx.quantize(mx.array(x).astype(dtype), group_size=group, bits=bits, mode=mode)
    words, scales = np.array(w), mlx_float(s) if s.dtype != mx.uint8 else np.array(s)
    # every code, not only the ones the quantiser picks
    words[2] = rng.integers(0, 1 << 32, words.shape[1], dtype=np.uint64).astype(np.uint32)
    if mode == "mxfp8":  # keep NaN codes out: 0x7f and 0xff
        as_bytes = words[2:3].view(np.uint8)
        as_bytes[(as_bytes & 127) == 127] ^= 1
    biases = mlx_float(b[0]) if b else None
    values = dequantize_mlx(words, scales, biases, bits, group, mode)
    assert np.isfinite(values).all(), key
    out[key + ".weight"], out[key + ".scales"], out[key + ".values"] = words, scales, values
    if b:
        out[key + ".biases"] = biases
    compare_mlx(key, words, scales, biases, values, bits, group, mode)


def compare_mlx(key, words, scales, biases, values, bits, group, mode) -> None:
    """Prints how mx.dequantize with f32 scales compares with the definition."""
    lift = (lambda t: mx.array(np.array(t))) if mode != "affine" else (lambda t: mx.array(f32(t)))
    args = [mx.array(words), lift(scales)] + ([lift(biases)] if biases is not None else [])
    got = np.array(mx.dequantize(*args, group_size=group, bits=bits, mode=mode, dtype=mx.float32))
    worst = np.abs(got - values).max() / np.abs(values).max()
    print(f"{key}: mx.dequantize equal {(got == values).sum()} of {values.size}, worst difference / largest {worst:.1e}")


def mlx_part(out: dict) -> None:
    seed = 500
    for bits in (2, 3, 4, 5, 6, 8):
        for group in (32, 64, 128):
            for label, dtype in (("f16", mx.float16), ("bf16", mx.bfloat16)):
                seed += 1
                mlx_case(out, f"mlx.affine.{bits}.{group}.{label}", "affine", bits, group, dtype, np.random.default_rng(seed))
    for mode, bits, group in (("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)):
        seed += 1
        mlx_case(out, f"mlx.{mode}.{bits}.{group}", mode, bits, group, mx.float32, np.random.default_rng(seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=GOLDEN / "blocks.safetensors")
    parser.add_argument("--ggml", type=Path, help="folder of libggml-base.so to cross-check with")
    args = parser.parse_args()
    mx.set_default_device(mx.cpu)
    lib = ctypes.CDLL(str(args.ggml / "libggml-base.so")) if args.ggml else None
    out: dict = {}
    gguf_part(out, lib)
    mlx_part(out)
    save_safetensors(args.out, out)
    print(args.out, args.out.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
