#!/usr/bin/env python3
"""The command line with a real model, SmolLM2 135M, when it is cached. Usage: real_test.py PROGRAM"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from terminal import Terminal

PROGRAM = ""
NAME, FILE = "smollm2:135m", "SmolLM2-135M-Instruct.Q4_1.gguf"
XDG = os.environ.get("XDG_CACHE_HOME", "")
CACHE = (Path(XDG) if os.path.isabs(XDG) else Path.home() / ".cache") / "paceline"
PROMPT = r">>> (\x1b\[\d*C|\r\x1b\[4C)"


def run(*words, stdin=b""):
    return subprocess.run([PROGRAM, *words], input=stdin, capture_output=True, timeout=600)


def answer(*words, stdin=b""):
    result = run("run", NAME, *words, stdin=stdin)
    if result.returncode != 0:
        raise AssertionError(result.stderr.decode())
    return result.stdout.decode("utf-8")


def answer_json(*words, stdin=b""):
    return json.loads(answer(*words, "--json", stdin=stdin))


class RealModel(unittest.TestCase):
    def test_a_prompt_is_answered(self):
        text = answer("Name the capital of France.", "--temperature", "0", "--max-tokens", "30")
        self.assertIn("Paris", text)

    def test_standard_input_is_the_prompt(self):
        words = ("--temperature", "0", "--max-tokens", "16")
        self.assertEqual(answer(*words, stdin=b"Name a colour."), answer("Name a colour.", *words))

    def test_json_agrees_with_text(self):
        words = ("Count to five.", "--temperature", "0", "--max-tokens", "12")
        found = answer_json(*words)
        self.assertEqual(found["text"].rstrip("\n"), answer(*words).rstrip("\n"))
        self.assertEqual(found["finish_reason"], "length")
        self.assertEqual(found["completion_tokens"], 12)
        self.assertEqual(len(found["ids"]), 12)
        self.assertGreater(found["prompt_tokens"], 4)
        self.assertGreater(found["timings"]["decode_tok_s"], 0)
        self.assertNotIn("logprobs", found)

    def test_a_seed_repeats_itself(self):
        words = ("Tell me a story.", "--temperature", "1", "--max-tokens", "24")
        first, second = answer_json(*words, "--seed", "7"), answer_json(*words, "--seed", "7")
        self.assertEqual((first["ids"], first["seed"]), (second["ids"], 7))
        drawn = answer_json(*words)
        again = answer_json(*words, "--seed", str(drawn["seed"]))
        self.assertEqual(drawn["ids"], again["ids"])

    def test_stop_strings_end_before_the_match(self):
        words = ("Count: 1, 2, 3,", "--raw", "--temperature", "0", "--max-tokens", "40", "--ignore-end")
        whole = answer_json(*words)["text"]
        self.assertIn("6", whole)
        cut = answer_json(*words, "--stop", "6")
        self.assertEqual(cut["text"], whole[: whole.index("6")])
        self.assertEqual(cut["finish_reason"], "stop")

    def test_logprobs_are_ordered_and_contain_the_greedy_choice(self):
        found = answer_json("Hello", "--temperature", "0", "--max-tokens", "4", "--logprobs", "3")
        self.assertEqual(len(found["logprobs"]), 4)
        for id_, entry in zip(found["ids"], found["logprobs"]):
            top = [other["logprob"] for other in entry["top"]]
            self.assertEqual(len(top), 3)
            self.assertEqual(top, sorted(top, reverse=True))
            self.assertEqual((entry["id"], entry["top"][0]["id"]), (id_, id_))
            self.assertLessEqual(top[0], 0)

    def test_an_empty_prompt(self):
        found = answer_json("", "--temperature", "0", "--max-tokens", "4")
        self.assertGreater(found["prompt_tokens"], 0)

    def test_a_prompt_longer_than_the_context(self):
        result = run("run", NAME, "word " * 300, "--ctx", "128")
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        line = result.stderr.decode()
        self.assertEqual(line.count("\n"), 1)
        self.assertRegex(line, r"^paceline: \[.*\b\d{3,}\b.*128")

    def test_nul_bytes_and_invalid_utf8(self):
        result = run("run", NAME, "--temperature", "0", "--max-tokens", "4", stdin=b"a\0b\xff\xc3")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count(b"invalid UTF-8"), 1)

    def test_message_text_is_no_control_token(self):
        plain = answer_json("a<|im_end|>b", "--temperature", "0", "--max-tokens", "1")["prompt_tokens"]
        short = answer_json("ab", "--temperature", "0", "--max-tokens", "1")["prompt_tokens"]
        self.assertGreater(plain, short + 2)

    def test_tokenize(self):
        ids = [int(word) for word in run("tokenize", NAME, "Hello world", "--ids").stdout.split()]
        found = json.loads(run("tokenize", NAME, "Hello world", "--json").stdout)
        self.assertEqual(found["ids"], ids)
        self.assertEqual("".join(found["tokens"]), "Hello world")
        special = json.loads(run("tokenize", NAME, "<|im_end|>", "--json", "--parse-special").stdout)
        self.assertEqual(special["count"], 1)

    def test_inspect(self):
        found = json.loads(run("inspect", NAME, "--json").stdout)
        self.assertEqual((found["architecture"], found["context_trained"]), ("llama", 8192))
        self.assertTrue(found["supported"] and found["has_chat_template"])
        self.assertEqual((found["missing"], found["extra"], found["mis_shaped"]), ([], [], []))
        self.assertAlmostEqual(found["parameters"], 134515008, delta=1e6)

    def test_bench(self):
        found = json.loads(run("bench", NAME, "--prompt", "16", "--generate", "8", "--repeat", "2", "--json").stdout)
        for field in ("prefill_tok_s", "decode_tok_s"):
            self.assertTrue(0 < found[field]["min"] <= found[field]["median"] <= found[field]["max"])
        self.assertGreater(found["read_bandwidth_bytes_s"], 1e8)
        self.assertGreater(found["bandwidth_fraction"], 0)

    def test_a_chat_with_an_interrupted_answer(self):
        environment = {**os.environ, "TERM": "xterm"}
        words = [PROGRAM, "run", NAME, "--temperature", "0", "--ignore-end"]
        terminal = Terminal(words, environment)
        try:
            terminal.expect(PROMPT)
            terminal.send("Tell me a very long story.\r")
            terminal.expect(r"2004l.{20,}")  # the editor has left, the answer comes
            terminal.send("\x03")
            terminal.expect(r"\(stopped\)")
            terminal.expect(PROMPT)
            terminal.send("/set max-tokens 3\r")
            terminal.expect(PROMPT)
            terminal.send("And then?\r")
            terminal.expect(r"\(cut")
            terminal.expect(PROMPT)
            terminal.send("\x04")
            self.assertEqual(terminal.wait(), 0)
        finally:
            terminal.close()


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    if not (CACHE / "models" / FILE).exists():
        print(f"skipped: {NAME} is not cached")
        sys.exit(0)
    unittest.main()
