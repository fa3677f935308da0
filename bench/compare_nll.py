#!/usr/bin/env python3
"""Compares two runs of paceline_perplexity over the same windows: how much worse is A than B?

  compare_nll.py A.jsonl B.jsonl      for example A = fast, B = exact

Prints the mean of ln(PPL A / PPL B), which is the mean difference of -ln p per scored token, with its standard error
over windows: windows are paired, so what makes a text easy or hard cancels out. llama.cpp's own figure comes from
`llama-perplexity --kl-divergence-base` and `--kl-divergence` ("Mean ln(PPL(Q)/PPL(base))").
"""

import json
import math
import sys


def read(path):
    """{(file, window): (tokens, nll)}."""
    windows = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if "nll" in entry:
                windows[(entry["file"], entry["window"])] = (entry["tokens"], entry["nll"])
    return windows


def compare(a, b):
    """Mean difference per token, its standard error, windows, tokens."""
    if a.keys() != b.keys():
        missing = sorted(a.keys() ^ b.keys())[0]
        raise SystemExit(f"the runs differ in their windows, for example {missing}")
    if len(a) < 2:
        raise SystemExit(f"found {len(a)} windows, expected at least 2")
    if any(a[key][0] != b[key][0] for key in a):
        raise SystemExit("the runs differ in the tokens of a window")
    differences = [(a[key][1] - b[key][1]) / a[key][0] for key in sorted(a)]
    mean = sum(differences) / len(differences)
    variance = sum((d - mean) ** 2 for d in differences) / (len(differences) - 1)
    return mean, math.sqrt(variance / len(differences)), len(differences), sum(t for t, _ in a.values())


def perplexity(windows):
    return math.exp(sum(nll for _, nll in windows.values()) / sum(tokens for tokens, _ in windows.values()))


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    a, b = read(sys.argv[1]), read(sys.argv[2])
    mean, error, windows, tokens = compare(a, b)
    print(f"perplexity {perplexity(a):.4f} against {perplexity(b):.4f} over {tokens} tokens in {windows} windows")
    print(f"ln(PPL A / PPL B) = {100 * mean:+.4f} % +- {100 * error:.4f} % (standard error over windows)")


if __name__ == "__main__":
    main()
