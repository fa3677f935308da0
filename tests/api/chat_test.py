#!/usr/bin/env python3
"""The chat on a pseudo-terminal, over the stand-in engine. Usage: chat_test.py PROGRAM"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

from terminal import Terminal

PROGRAM = ""
PROMPT = r">>> (\x1b\[\d*C|\r\x1b\[4C)"  # drawn, with the cursor behind it
CTRL_C, CTRL_D = "\x03", "\x04"


class Chat(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = Path(self.folder.name) / "fake.gguf"
        self.model.touch()
        self.terminals = []

    def tearDown(self):
        for terminal in self.terminals:
            terminal.close()
        self.folder.cleanup()

    def start(self, *words, term="xterm", model=None):
        environment = {"HOME": self.folder.name, "PATH": os.environ["PATH"], "TERM": term, "LANG": "C"}
        terminal = Terminal([PROGRAM, "run", str(model or self.model), *words], environment)
        self.terminals.append(terminal)
        terminal.expect("Ctrl-D leaves")
        return terminal

    def ask(self, terminal, text, answer):
        terminal.expect(PROMPT)
        terminal.send(text + "\r")
        return terminal.expect(answer)

    def test_the_history_is_sent_again_and_ctrl_d_leaves(self):
        terminal = self.start()
        self.ask(terminal, "one", "1 messages, last: one\r\n")
        self.ask(terminal, "two", "3 messages, last: two\r\n")
        self.ask(terminal, "/clear", "starts over")
        self.ask(terminal, "three", "1 messages, last: three\r\n")
        terminal.expect(PROMPT)
        terminal.send(CTRL_D)
        self.assertEqual(terminal.wait(), 0)

    def test_ctrl_c_stops_the_answer_and_keeps_the_chat(self):
        terminal = self.start()
        terminal.expect(PROMPT)
        terminal.send("slow\r")
        terminal.expect("tick tick")
        terminal.send(CTRL_C)
        terminal.expect(r"\(stopped\)")
        self.ask(terminal, "next", "3 messages, last: next\r\n")
        self.ask(terminal, "/exit", "")
        self.assertEqual(terminal.wait(), 0)

    def test_ctrl_c_at_the_prompt(self):
        terminal = self.start()
        terminal.expect(PROMPT)
        terminal.send("half a li" + CTRL_C)
        terminal.expect(PROMPT)
        terminal.send(CTRL_C)
        terminal.expect("Ctrl-D or /exit leaves")
        self.ask(terminal, "whole", "1 messages, last: whole\r\n")

    def test_ctrl_c_ends_a_single_answer(self):
        environment = {"HOME": self.folder.name, "PATH": os.environ["PATH"], "TERM": "xterm"}
        terminal = Terminal([PROGRAM, "run", str(self.model), "slow"], environment)
        self.terminals.append(terminal)
        terminal.expect("tick tick")
        terminal.send(CTRL_C)
        self.assertEqual(terminal.wait(), 130)

    def load(self, name, *words, term="xterm"):
        model = Path(self.folder.name) / name
        model.touch()
        environment = {"HOME": self.folder.name, "PATH": os.environ["PATH"], "TERM": term}
        terminal = Terminal([PROGRAM, "run", str(model), *words], environment)
        self.terminals.append(terminal)
        return terminal

    def test_a_long_load_shows_a_bar_that_vanishes(self):
        terminal = self.load("heavy.gguf")
        terminal.expect(r"loading heavy.gguf  \[.*#.*\]  \d+ %.* s left")
        terminal.expect(r"\r\x1b\[K\x1b\[2mheavy.gguf")
        terminal.expect(PROMPT)

    def test_a_dumb_terminal_shows_no_bar(self):
        terminal = self.load("heavy.gguf", "hello", term="dumb")
        terminal.expect("last: hello\r\n")
        self.assertEqual(terminal.wait(), 0)
        self.assertNotIn(b"loading", terminal.screen)

    def test_ctrl_c_ends_a_load(self):
        for words in ((), ("hello",)):
            terminal = self.load("endless.gguf", *words)
            terminal.expect("loading endless.gguf")
            terminal.send(CTRL_C)
            self.assertEqual(terminal.wait(), 130)
            self.assertTrue(terminal.screen.endswith(b"\r\x1b[K"), terminal.screen)

    def test_line_editing_and_input_history(self):
        terminal = self.start()
        self.ask(terminal, "wörld\x1b[H\x1b[200~hällo \x1b[201~", "last: hällo wörld\r\n")
        self.ask(terminal, "\x1b[A!", "last: hällo wörld!\r\n")
        self.ask(terminal, "日本語\x7f\x7f", "last: 日\r\n")

    def test_several_lines(self):
        terminal = self.start()
        self.ask(terminal, '"""', r"\.\.\. ")
        terminal.send('one\rtwo"""\r')
        terminal.expect("last: one\r\ntwo\r\n")
        self.ask(terminal, "three\\", r"\.\.\. ")
        terminal.send("four\r")
        terminal.expect("last: three\r\nfour\r\n")
        self.ask(terminal, "\x1b[200~five\nsix\x1b[201~", "last: five\r\nsix\r\n")

    def test_commands(self):
        terminal = self.start()
        self.ask(terminal, "/help", "Ctrl-C stops an answer")
        self.ask(terminal, "/set temperature 0.25", "temperature: 0.25")
        self.ask(terminal, "/set top_k 3", "top-k: 3")
        self.ask(terminal, "settings", "temperature 0.25 top-k 3 top-p 0.95")
        self.ask(terminal, "/set temperature default", "the model's, else 0.7")
        self.ask(terminal, "/set temprature 1", "did you mean 'temperature'")
        self.ask(terminal, "/set top-p 7", r"\[/set top-p\] found '7', expected a number above 0 to 1")
        self.ask(terminal, "/system be brief", "starts over")
        self.ask(terminal, "hello", "system 'be brief', 2 messages, last: hello")
        self.ask(terminal, "/show", r"top-k +3 \(set\).*system +be brief")
        self.ask(terminal, "/hlep", "did you mean '/help'")

    def test_a_failing_answer_keeps_the_chat(self):
        terminal = self.start("--ctx", "100")
        self.ask(terminal, "fail", r"paceline:.{0,10} \[fake\]")
        self.ask(terminal, "x" * 200, r"expected fewer than the context of 100.*/clear starts over")
        self.ask(terminal, "hello", "1 messages, last: hello")

    def test_the_answer_cannot_drive_the_terminal(self):
        terminal = self.start()
        answer = self.ask(terminal, "escape", "c\ufffdd\r\n")
        self.assertIn("a\ufffd[31mb\ufffd\r\n", answer)

    def test_a_dumb_terminal_reads_plain_lines(self):
        terminal = self.start(term="dumb")
        terminal.expect(">>> ")
        terminal.send("hello\n")
        terminal.expect("last: hello\r\n")
        terminal.expect(">>> ")
        terminal.send(CTRL_C)
        terminal.expect("Ctrl-D or /exit leaves")
        terminal.expect(">>> ")
        terminal.send(CTRL_D)
        self.assertEqual(terminal.wait(), 0)
        self.assertNotIn(b"\x1b", terminal.screen)

    def test_no_color(self):
        terminal = self.start()
        self.assertIn(b"\x1b[2m", terminal.screen)

    def test_a_model_without_template_continues_each_line(self):
        base = Path(self.folder.name) / "base.gguf"
        base.touch()
        terminal = self.start(model=base)
        self.assertEqual(terminal.screen.count(b"no chat template"), 1)
        self.ask(terminal, "once upon", "raw 9 bytes: once upon\r\n")


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
