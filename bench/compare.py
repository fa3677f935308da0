#!/usr/bin/env python3
"""Paceline against llama.cpp on the same files in the same minutes, as a markdown table for bench/results/.

  compare.py [MODEL...] [--peers DIR] [--rounds 3] [--threads 2] [--isa avx2] [--stolen] [--output FILE]

MODEL is a name of the catalogue whose file is cached, or a path; without one: every cached model. Each round runs
`paceline bench`, `llama-bench` and `llama-batched-bench` in turn; the table has medians over the rounds. With --isa avx2
the peer is the build without AVX-512 (scripts/peers.sh). Of several new tokens of one sequence Paceline computes all
logits, as a verify step needs them, llama-bench the last ones only. --stolen also measures decoding while another process spins on
the last core. Build first: scripts/build.sh release paceline; scripts/peers.sh DIR.
"""

import argparse
import contextlib
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
XDG = os.environ.get("XDG_CACHE_HOME", "")
CACHE = (Path(XDG) if os.path.isabs(XDG) else Path.home() / ".cache") / "paceline"


def cached_models():
    """{name: file} of the catalogue's models that are cached."""
    catalogue = json.loads((ROOT / "src" / "cli" / "catalogue.json").read_text(encoding="utf-8"))
    files = {entry["name"]: CACHE / "models" / entry["file"] for entry in catalogue["models"]}
    return {name: file for name, file in files.items() if file.is_file()}


def chosen_models(words):
    cached = cached_models()
    models = {}
    for word in words or cached:
        models[word] = cached.get(word, Path(word))
        if not models[word].is_file():
            raise SystemExit(f"found no file for {word}, expected one of {', '.join(cached)} or a path")
    return models


def output_of(command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with {result.returncode}: {result.stderr[-1000:]}")
    return result.stdout


class Paceline:
    def __init__(self, options):
        self.options = options

    def bench(self, file, *words, threads=None):
        isa = ("--isa", self.options.isa) if self.options.isa else ()
        threads = threads or self.options.threads
        return json.loads(output_of([self.options.paceline, "bench", file, "--json", "--threads", threads, *isa, *words]))

    def measure(self, file):
        """{what: figure} of one round: tok/s, and ms for steps."""
        found = self.bench(file, "--prompt", 512, "--generate", 64, "--repeat", 1)
        steps = {(s["rows"], s["new"], s["context"]): s for s in found["steps"]}
        figures = {
            "decode": found["decode_tok_s"]["median"],
            "prefill": found["prefill_tok_s"]["median"],
            "bandwidth": found["read_bandwidth_bytes_s"] / 1e9,
            "bandwidth_one": found["read_bandwidth_one_thread_bytes_s"] / 1e9,
            "weights": steps[(1, 1, 64)]["weight_bytes_s"] / 1e9,
            **{f"step {rows}x{new}@{context}": s["ms"]["median"] for (rows, new, context), s in steps.items()},
        }
        facts = {key: found[key] for key in ("cpu", "instruction_set", "threads", "numerics", "version", "step_bytes")}
        return figures, facts


class Llama:
    def __init__(self, options):
        self.bin = options.peers / ("llama.avx2/bin" if options.isa == "avx2" else "llama.cpp/build/bin")
        self.threads = options.threads

    def bench(self, file, *words):
        """{(prompt tokens, generated tokens): tok/s}, medians of the repetitions."""
        command = [self.bin / "llama-bench", "-m", file, "-t", self.threads, "-o", "json", *words]
        tests = json.loads(output_of(command))
        return {(test["n_prompt"], test["n_gen"]): statistics.median(test["samples_ts"]) for test in tests}

    def batched(self, file):
        words = ["-c", 2048, "-b", 2048, "-npp", 128, "-ntg", 16, "-npl", 8, "--output-format", "jsonl"]
        text = output_of([self.bin / "llama-batched-bench", "-m", file, "-t", self.threads, *words])
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        return lines[-1]["speed_tg"]

    def measure(self, file):
        whole = self.bench(file, "-r", 1, "-p", 512, "-n", 64)
        verify = self.bench(file, "-r", 5, "-p", "4,8", "-n", 0, "-d", 512)
        return {
            "decode": whole[(0, 64)],
            "prefill": whole[(512, 0)],
            "step 1x4@512": 4e3 / verify[(4, 0)],
            "step 1x8@512": 8e3 / verify[(8, 0)],
            "step 8x1@128": 8e3 / self.batched(file),
        }


@contextlib.contextmanager
def spinner():
    """Another process that takes the last core."""
    core = max(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def decode_stolen(paceline, file):
    """Decode rates with a core taken: with all threads, with one."""
    rates = []
    with spinner():
        for threads in (paceline.options.threads, 1):
            words = ("--measure", "answer", "--prompt", 16, "--generate", 32, "--repeat", 1)
            rates.append(paceline.bench(file, *words, threads=threads)["decode_tok_s"]["median"])
    return rates


def medians(rounds):
    return {what: statistics.median(figures[what] for figures in rounds) for what in rounds[0]}


AGAINST = (  # what, unit, whether more is better
    ("decode", "tok/s", True),
    ("prefill", "tok/s", True),
    ("step 1x4@512", "ms", False),
    ("step 1x8@512", "ms", False),
    ("step 8x1@128", "ms", False),
)
LABELS = {
    "decode": "decode, 1 stream",
    "prefill": "prefill 512",
    "step 1x4@512": "4 new tokens at 512",
    "step 1x8@512": "8 new tokens at 512",
    "step 8x1@128": "8 sequences x 1 at 128",
}


def against_rows(name, ours, theirs):
    for what, unit, more in AGAINST:
        a, b = ours[what], theirs[what]
        ratio = a / b if more else b / a
        yield f"| {name} | {LABELS[what]} | {a:.1f} {unit} | {b:.1f} {unit} | {ratio:.2f}x |"


def own_row(name, ours, facts, stolen):
    one = ours["step 1x1@512"]
    long = ours.get("step 1x1@4096")
    cells = [
        name,
        f"{facts['step_bytes'] / 1e6:.0f} MB",
        f"{ours['weights']:.1f} of {ours['bandwidth']:.1f} GB/s ({100 * ours['weights'] / ours['bandwidth']:.0f} %)",
        f"{ours['bandwidth_one']:.1f} GB/s",
        f"{ours['step 1x4@512'] / one:.2f}",
        f"{ours['step 1x8@512'] / one:.2f}",
        f"{long / ours['step 1x1@64']:.2f}" if long else "-",
        f"{stolen[0] / stolen[1]:.2f}x" if stolen else "-",
    ]
    return f"| {' | '.join(cells)} |"


def measure_model(file, options):
    paceline, llama = Paceline(options), Llama(options)
    ours, theirs, stolen, facts = [], [], [], {}
    for index in range(options.rounds):
        print(f"{file.name}: round {index + 1} of {options.rounds}", file=sys.stderr)
        figures, facts = paceline.measure(file)
        ours.append(figures)
        theirs.append(llama.measure(file))
        if options.stolen:
            stolen.append(decode_stolen(paceline, file))
    taken = [statistics.median(rates) for rates in zip(*stolen)] if stolen else None
    return medians(ours), medians(theirs), facts, taken


def report(results, options):
    facts = next(iter(results.values()))[2]
    peer = "built without AVX-512" if options.isa == "avx2" else "built for this CPU"
    now = datetime.datetime.now(datetime.timezone.utc)
    lines = [
        f"# Paceline {facts['version']} against llama.cpp, {now:%Y-%m-%d %H:%M} UTC",
        "",
        f"{facts['cpu']}, {facts['instruction_set']}, {facts['threads']} threads, numerics {facts['numerics']}. "
        f"llama.cpp 0c1e57098 (`scripts/peers.sh`), {peer}. Medians of {options.rounds} interleaved rounds of "
        f"`bench/compare.py {' '.join(options.words)}`. Load of the machine before: {options.load_before:.1f} of "
        f"{os.cpu_count()} cores (above 0.5 others disturb the figures).",
        "",
        "| model | what | Paceline | llama.cpp | ratio |",
        "|---|---|---|---|---|",
    ]
    for name, (ours, theirs, _, _) in results.items():
        lines += against_rows(name, ours, theirs)
    lines += [
        "",
        "Steps of Paceline over its own step of one token; bytes are the weights that a step reads, the bandwidth is that "
        "of the same minutes.",
        "",
        "| model | read per step | decode at 64 reads | bandwidth, one thread | 4 new / 1 at 512 | 8 new / 1 at 512 "
        "| 1 at 4096 / at 64 | core taken: all threads / one |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [own_row(name, ours, facts, stolen) for name, (ours, _, facts, stolen) in results.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--paceline", type=Path, default=ROOT / "build" / "release" / "bin" / "paceline")
    parser.add_argument("--peers", type=Path, default=Path(os.environ.get("PACELINE_PEERS", CACHE / "peers")))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", choices=("avx512", "avx2", "generic"))
    parser.add_argument("--stolen", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    options.words = sys.argv[1:]
    options.load_before = os.getloadavg()[0]
    results = {name: measure_model(file, options) for name, file in chosen_models(options.models).items()}
    text = report(results, options)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
