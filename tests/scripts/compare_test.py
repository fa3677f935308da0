#!/usr/bin/env python3
"""bench/compare.py: its table over stand-ins for the programs that it runs."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "compare.py"


def spread(value):
    return {"min": value, "median": value, "max": value}


def step(rows, new, context, ms):
    return {"rows": rows, "new": new, "context": context, "ms": spread(ms), "weight_bytes_s": 24e9}


PACELINE = {
    "version": "0.1.0",
    "cpu": "some CPU",
    "instruction_set": "avx2",
    "threads": 2,
    "numerics": "fast",
    "step_bytes": 100e6,
    "decode_tok_s": spread(240),
    "prefill_tok_s": spread(900),
    "read_bandwidth_bytes_s": 30e9,
    "read_bandwidth_one_thread_bytes_s": 20e9,
    "steps": [
        step(1, 1, 64, 4),
        step(1, 1, 512, 5),
        step(1, 1, 4096, 6),
        step(1, 4, 512, 6),
        step(1, 8, 512, 10),
        step(8, 1, 128, 8),
    ],
}
LLAMA_BENCH = [
    {"n_prompt": 512, "n_gen": 0, "samples_ts": [300.0]},
    {"n_prompt": 0, "n_gen": 64, "samples_ts": [120.0]},
    {"n_prompt": 4, "n_gen": 0, "samples_ts": [190.0, 200.0, 210.0]},
    {"n_prompt": 8, "n_gen": 0, "samples_ts": [200.0]},
]
BATCHED = {"pp": 128, "tg": 16, "pl": 8, "speed_tg": 250.0}


def program(path, output):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env python3\nprint({output!r})\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def compare(folder, *words):
    peers = folder / "peers" / "llama.avx2" / "bin"
    program(peers / "llama-bench", json.dumps(LLAMA_BENCH))
    program(peers / "llama-batched-bench", "a line of the log\n" + json.dumps(BATCHED))
    paceline = program(folder / "paceline", json.dumps(PACELINE))
    (folder / "m.gguf").touch()
    command = [sys.executable, "-B", SCRIPT, folder / "m.gguf", "--paceline", paceline, "--peers", folder / "peers"]
    return subprocess.run([*command, "--isa", "avx2", *words], capture_output=True, text=True)


class Compare(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)

    def test_ratios_of_rates_and_of_times(self):
        output = self.folder / "table.md"
        result = compare(self.folder, "--rounds", "2", "--stolen", "--output", output)
        self.assertEqual((result.returncode, result.stdout), (0, output.read_text(encoding="utf-8")), result.stderr)
        for line in (
            "decode, 1 stream | 240.0 tok/s | 120.0 tok/s | 2.00x |",
            "prefill 512 | 900.0 tok/s | 300.0 tok/s | 3.00x |",
            "4 new tokens at 512 | 6.0 ms | 20.0 ms | 3.33x |",
            "8 new tokens at 512 | 10.0 ms | 40.0 ms | 4.00x |",
            "8 sequences x 1 at 128 | 8.0 ms | 32.0 ms | 4.00x |",
            "| 100 MB | 24.0 of 30.0 GB/s (80 %) | 20.0 GB/s | 1.20 | 2.00 | 1.50 | 1.00x |",
            "some CPU, avx2, 2 threads, numerics fast",
            "built without AVX-512",
            "Load of the machine before: ",
        ):
            self.assertIn(line, result.stdout)

    def test_a_program_that_fails_is_named(self):
        compare(self.folder, "--rounds", "1")
        broken = self.folder / "peers" / "llama.avx2" / "bin" / "llama-bench"
        broken.write_text("#!/bin/sh\necho no model >&2\nexit 3\n", encoding="utf-8")
        words = ["--paceline", self.folder / "paceline", "--peers", self.folder / "peers", "--isa", "avx2"]
        command = [sys.executable, "-B", SCRIPT, self.folder / "m.gguf", *words]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "llama-bench.*\n.*ended with 3: no model")


if __name__ == "__main__":
    unittest.main()
