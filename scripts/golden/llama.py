"""ctypes binding of the few libllama functions the oracles need (llama.cpp commit 0c1e57098, see scripts/peers.sh)."""

from __future__ import annotations

import ctypes as C
import os
from pathlib import Path

import numpy as np

from common import PEERS

# the build without the f16 GELU table; stock llama.cpp is PEERS/llama.cpp/build/bin
LIBS = Path(os.environ.get("PACELINE_LLAMA_LIBS", PEERS / "llama.exact" / "bin"))
F32 = 0


class ModelParams(C.Structure):
    _fields_ = [("devices", C.c_void_p), ("overrides", C.c_void_p), ("n_gpu_layers", C.c_int32), ("split_mode", C.c_int),
                ("load_mode", C.c_int), ("lazy_mode", C.c_int), ("main_gpu", C.c_int32), ("tensor_split", C.c_void_p),
                ("progress", C.c_void_p), ("progress_data", C.c_void_p), ("kv_overrides", C.c_void_p),
                ("vocab_only", C.c_bool), ("check_tensors", C.c_bool), ("use_extra_bufts", C.c_bool), ("no_host", C.c_bool),
                ("no_alloc", C.c_bool), ("load_mtp", C.c_bool)]


class ContextParams(C.Structure):
    _fields_ = [("n_ctx", C.c_uint32), ("n_batch", C.c_uint32), ("n_ubatch", C.c_uint32), ("n_seq_max", C.c_uint32),
                ("n_rs_seq", C.c_uint32), ("n_outputs_max", C.c_uint32), ("n_outputs_max_per_seq", C.c_uint32),
                ("n_threads", C.c_int32), ("n_threads_batch", C.c_int32), ("ctx_type", C.c_int), ("rope_scaling", C.c_int),
                ("pooling", C.c_int), ("attention", C.c_int), ("flash_attn", C.c_int), ("rope_freq_base", C.c_float),
                ("rope_freq_scale", C.c_float), ("yarn_ext", C.c_float), ("yarn_attn", C.c_float), ("yarn_fast", C.c_float),
                ("yarn_slow", C.c_float), ("yarn_orig", C.c_uint32), ("defrag", C.c_float), ("cb_eval", C.c_void_p),
                ("cb_eval_data", C.c_void_p), ("type_k", C.c_int), ("type_v", C.c_int), ("abort", C.c_void_p),
                ("abort_data", C.c_void_p), ("embeddings", C.c_bool), ("offload_kqv", C.c_bool), ("no_perf", C.c_bool),
                ("op_offload", C.c_bool), ("swa_full", C.c_bool), ("kv_unified", C.c_bool), ("samplers", C.c_void_p),
                ("n_samplers", C.c_size_t), ("ctx_other", C.c_void_p)]


class Batch(C.Structure):
    _fields_ = [("n_tokens", C.c_int32), ("token", C.POINTER(C.c_int32)), ("embd", C.c_void_p),
                ("pos", C.POINTER(C.c_int32)), ("n_seq_id", C.POINTER(C.c_int32)),
                ("seq_id", C.POINTER(C.POINTER(C.c_int32))), ("logits", C.POINTER(C.c_int8))]


_LOG = C.CFUNCTYPE(None, C.c_int, C.c_char_p, C.c_void_p)


@_LOG
def _log(level, text, _data):
    if level == 4:  # errors
        print(text.decode(errors="replace"), end="")


def _library() -> C.CDLL:
    lib = C.CDLL(str(LIBS / "libllama.so"))
    p = C.c_void_p
    table = {
        "llama_model_default_params": (ModelParams, []), "llama_context_default_params": (ContextParams, []),
        "llama_model_load_from_file": (p, [C.c_char_p, ModelParams]), "llama_init_from_model": (p, [p, ContextParams]),
        "llama_model_get_vocab": (p, [p]), "llama_vocab_n_tokens": (C.c_int32, [p]),
        "llama_vocab_get_add_bos": (C.c_bool, [p]), "llama_vocab_bos": (C.c_int32, [p]),
        "llama_tokenize": (C.c_int32, [p, C.c_char_p, C.c_int32, C.POINTER(C.c_int32), C.c_int32, C.c_bool, C.c_bool]),
        "llama_batch_init": (Batch, [C.c_int32, C.c_int32, C.c_int32]), "llama_batch_free": (None, [Batch]),
        "llama_decode": (C.c_int32, [p, Batch]), "llama_get_logits_ith": (C.POINTER(C.c_float), [p, C.c_int32]),
        "llama_free": (None, [p]), "llama_model_free": (None, [p]), "llama_log_set": (None, [_LOG, p]),
        "llama_backend_init": (None, []),
    }
    for name, (result, arguments) in table.items():
        getattr(lib, name).restype, getattr(lib, name).argtypes = result, arguments
    lib.llama_log_set(_log, None)
    lib.llama_backend_init()
    d = lib.llama_context_default_params()
    assert (d.n_ctx, d.n_batch, d.type_k, d.type_v, d.n_samplers) == (512, 2048, 1, 1, 0), "another version of llama.h?"
    return lib


class Llama:
    """A GGUF file in llama.cpp: its tokenizer and, unless vocab_only, its logits on the CPU."""

    def __init__(self, path: Path, vocab_only: bool = False):
        self.lib = _library()
        params = self.lib.llama_model_default_params()
        params.vocab_only, params.n_gpu_layers = vocab_only, 0
        self.model = self.lib.llama_model_load_from_file(str(path).encode(), params)
        assert self.model, f"cannot load {path}"
        self.vocab = self.lib.llama_model_get_vocab(self.model)
        self.n_vocab = self.lib.llama_vocab_n_tokens(self.vocab)
        self.add_bos, self.bos = self.lib.llama_vocab_get_add_bos(self.vocab), self.lib.llama_vocab_bos(self.vocab)

    def tokenize(self, text: str | bytes, parse_special: bool, add_special: bool = False) -> list[int]:
        raw = text if isinstance(text, bytes) else text.encode()
        room = len(raw) + 16
        out = (C.c_int32 * room)()
        n = self.lib.llama_tokenize(self.vocab, raw, len(raw), out, room, add_special, parse_special)
        assert n >= 0, "buffer too small"
        return list(out[:n])

    def logits(self, tokens: list[int], threads: int = 2, whole: bool = True) -> np.ndarray:
        """f32 [T,V]: K/V in f32, flash attention off; all tokens in one batch, or one at a time."""
        p = self.lib.llama_context_default_params()
        p.n_ctx, p.n_batch, p.n_ubatch, p.n_seq_max = max(len(tokens), 64), len(tokens), len(tokens), 1
        p.n_threads = p.n_threads_batch = threads
        p.type_k = p.type_v = F32
        p.flash_attn, p.swa_full = 0, True
        context = self.lib.llama_init_from_model(self.model, p)
        assert context
        spans = [range(len(tokens))] if whole else [range(t, t + 1) for t in range(len(tokens))]
        rows = []
        for span in spans:
            rows.append(self._decode(context, tokens, span))
        self.lib.llama_free(context)
        return np.concatenate(rows)

    def _decode(self, context, tokens: list[int], span: range) -> np.ndarray:
        batch = self.lib.llama_batch_init(len(span), 0, 1)
        batch.n_tokens = len(span)
        for i, t in enumerate(span):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = tokens[t], t, 1, 1
            batch.seq_id[i][0] = 0
        assert self.lib.llama_decode(context, batch) == 0
        rows = [np.ctypeslib.as_array(self.lib.llama_get_logits_ith(context, i), (self.n_vocab,)).copy()
                for i in range(len(span))]
        self.lib.llama_batch_free(batch)
        return np.stack(rows)

    def close(self) -> None:
        self.lib.llama_model_free(self.model)
