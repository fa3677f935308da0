#!/usr/bin/env python3
"""Second opinion on the tiny GGUF cases: llama.cpp on the file expanded to F32 against expected.safetensors.

Prints, per case, the largest absolute logit difference, and fails above 2e-2 (the spread of a row is above 10).
Gemma differs more than the others: llama.cpp does not round sqrt(H) to bf16, and looks GELU up in an f16 table
unless PACELINE_LLAMA_LIBS points at the build without it (scripts/peers.sh makes both).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import GOLDEN, load_safetensors
from llama import LIBS, Llama


def expand(path: Path, out: Path) -> Path:
    tool = LIBS / "llama-quantize"
    done = subprocess.run([tool, "--allow-requantize", path, out, "F32"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    return out


def main() -> int:
    bad = 0
    for folder in sorted((GOLDEN / "tiny").glob("*-gguf*")):
        want = load_safetensors(folder / "expected.safetensors")
        with tempfile.TemporaryDirectory() as scratch:
            model = Llama(expand(folder / "model.gguf", Path(scratch) / "f32.gguf"))
            worst = 0.0
            for prefix in ("", "b."):
                tokens, logits = want[prefix + "tokens"].tolist(), want[prefix + "logits"]
                for whole in (True, False):
                    worst = max(worst, np.abs(model.logits(tokens, whole=whole) - logits).max())
            model.close()
        print(f"{folder.name}: llama.cpp differs by at most {worst:.1e}")
        bad += worst > 2e-2
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
