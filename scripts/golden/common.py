"""Shared helpers of the golden generators: paths, safetensors files, exact decoding of MLX tensors."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np

REPO = Path(__file__).resolve().parents[2]
GOLDEN = REPO / "tests" / "golden"
CACHE = Path(os.environ.get("PACELINE_CACHE", Path.home() / ".cache" / "paceline"))
MODELS = CACHE / "models"
PEERS = Path(os.environ.get("PACELINE_PEERS", CACHE / "peers"))

CATALOGUE = {
    "smollm2:135m": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "gemma3:270m": "gemma3-270m.Q4_K_M.gguf",
    "qwen2.5-coder:0.5b": "qwen2.5-coder-0.5b-instruct.Q4_K_M.gguf",
    "qwen2.5-coder:1.5b": "qwen2.5-coder-1.5b-instruct.Q4_K_M.gguf",
}

_DTYPES = {
    "F32": np.float32, "F16": np.float16, "I32": np.int32, "I64": np.int64,
    "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "I8": np.int8,
}
_NAMES = {np.dtype(v): k for k, v in _DTYPES.items()}


class Bf16:
    """A bf16 tensor held as its u16 bit patterns; `values` is the exact f32 array."""

    def __init__(self, bits: np.ndarray):
        self.bits = np.ascontiguousarray(bits, dtype=np.uint16)
        self.shape = self.bits.shape

    @property
    def values(self) -> np.ndarray:
        return (self.bits.astype(np.uint32) << 16).view(np.float32)


def to_bf16(x: np.ndarray) -> Bf16:
    """Rounds a finite f32 array to bf16, nearest even."""
    u = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    return Bf16(((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16))


def save_safetensors(path: Path, tensors: dict, metadata: dict | None = None) -> None:
    """Writes arrays (numpy, or Bf16) sorted by name, data aligned to 8 bytes: equal input gives equal bytes."""
    header: dict = {}
    if metadata:
        header["__metadata__"] = dict(sorted(metadata.items()))
    chunks, at = [], 0
    for name in sorted(tensors, key=lambda n: (-_item_size(tensors[n]), n)):
        t = tensors[name]
        data, dtype = (t.bits, "BF16") if isinstance(t, Bf16) else (np.ascontiguousarray(t), None)
        dtype = dtype or _NAMES[data.dtype]
        header[name] = {"dtype": dtype, "shape": list(t.shape), "data_offsets": [at, at + data.nbytes]}
        chunks.append(data.tobytes())
        at += data.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def _item_size(t) -> int:
    return 2 if isinstance(t, Bf16) else t.dtype.itemsize


def load_safetensors(path: Path) -> dict:
    """Reads a file written by save_safetensors; BF16 tensors come back as Bf16."""
    raw = path.read_bytes()
    (n,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8:8 + n])
    out = {}
    for name, e in header.items():
        if name == "__metadata__":
            continue
        a, b = e["data_offsets"]
        data = raw[8 + n + a:8 + n + b]
        if e["dtype"] == "BF16":
            out[name] = Bf16(np.frombuffer(data, np.uint16).reshape(e["shape"]))
        else:
            out[name] = np.frombuffer(data, _DTYPES[e["dtype"]]).reshape(e["shape"])
    return out


def f32(t) -> np.ndarray:
    """The exact f32 values of a float tensor as stored."""
    return t.values if isinstance(t, Bf16) else np.asarray(t, dtype=np.float32)


def unpack_codes(words: np.ndarray, bits: int) -> np.ndarray:
    """u32 [..., in*bits/32] -> u8 codes [..., in]: each row is one little-endian, LSB-first bit stream."""
    stream = np.unpackbits(np.ascontiguousarray(words, dtype="<u4").view(np.uint8), axis=-1, bitorder="little")
    groups = stream.reshape(*stream.shape[:-1], -1, bits)
    return (groups * (1 << np.arange(bits, dtype=np.uint16))).sum(-1).astype(np.uint8)


FP4 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def e8m0(s: np.ndarray) -> np.ndarray:
    """u8 exponent bytes -> 2^(s-127) in f32 (s = 0 is the subnormal 2^-127; s = 255 is NaN and not used here)."""
    return np.ldexp(np.float64(1), s.astype(np.int64) - 127).astype(np.float32)


def e4m3(c: np.ndarray) -> np.ndarray:
    """u8 codes of float8 e4m3fn -> f32 (0x7f and 0xff are NaN)."""
    c = c.astype(np.int64)
    sign, e, m = np.where(c & 128, -1.0, 1.0), (c >> 3) & 15, c & 7
    v = np.where(e == 0, np.ldexp(m / 8.0, -6), np.ldexp(1 + m / 8.0, e - 7))
    return (sign * np.where((c & 127) == 127, np.nan, v)).astype(np.float32)


def dequantize_mlx(words, scales, biases, bits: int, group: int, mode: str = "affine") -> np.ndarray:
    """Exact f32 values [..., in] of an MLX-quantised tensor, by the format's definition (numpy only).

    affine: f32(scale)*q + f32(bias), the product and the sum each rounded to f32 once.
    mxfp4 / mxfp8 / nvfp4: element * scale.
    """
    codes = unpack_codes(words, bits)
    if mode == "affine":
        s = np.repeat(f32(scales), group, axis=-1)
        b = np.repeat(f32(biases), group, axis=-1)
        return s * codes.astype(np.float32) + b
    s = np.repeat((e4m3 if mode == "nvfp4" else e8m0)(np.asarray(scales)), group, axis=-1)
    return s * (e4m3(codes) if bits == 8 else FP4[codes])
