"""Progress of a fetch: a bar on a terminal, plain lines off it, JSON lines on request, or nothing."""

import json
import os
import shutil
import sys
import time


def human(count):
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def duration(seconds):
    seconds = int(seconds + 0.5)
    if seconds >= 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"
    return f"{seconds // 60} min {seconds % 60:02d} s" if seconds >= 60 else f"{seconds} s"


class Silent:
    def start(self, parts, total, present):
        pass

    def update(self, part, present):
        pass

    def checking(self):
        pass

    def close(self):
        pass


class Lines(Silent):
    """Off a terminal: one line a part."""

    def __init__(self, name):
        self.name, self.parts, self.total, self.shown = name, 0, 0, 0

    def start(self, parts, total, present):
        self.parts, self.total = parts, total
        kept = f", {human(present)} of it already here" if present else ""
        print(f"fetching {self.name}, {human(total)}{kept}", file=sys.stderr)

    def update(self, part, present):
        if part != self.shown and self.parts > 1:
            print(f"part {part} of {self.parts}", file=sys.stderr, flush=True)
        self.shown = part


class JsonLines(Silent):
    def __init__(self, name):
        self.name, self.parts, self.total = name, 0, 0

    def start(self, parts, total, present):
        self.parts, self.total = parts, total

    def update(self, part, present):
        state = {"name": self.name, "part": part, "parts": self.parts, "bytes": present, "total": self.total}
        print(json.dumps(state), flush=True)

    def checking(self):
        print(json.dumps({"name": self.name, "checking": True}), flush=True)


class Bar(Silent):
    """One line on a terminal, never wider than it."""

    def __init__(self, name, stream=sys.stderr, clock=time.monotonic):
        self.name, self.stream, self.clock = name, stream, clock
        self.parts = self.total = self.first = 0
        self.begin = 0.0
        self.color = "NO_COLOR" not in os.environ

    def start(self, parts, total, present):
        self.parts, self.total, self.first, self.begin = parts, total, present, self.clock()

    def line(self, part, present, columns):
        seconds = self.clock() - self.begin
        rate = (present - self.first) / seconds if seconds > 0.5 else 0
        left = f", {duration((self.total - present) / rate)} left" if rate > 0 else ""
        head = f"{self.name}  part {part} of {self.parts}  "
        tail = f"  {human(present)} of {human(self.total)}" + (f", {human(rate)}/s{left}" if rate > 0 else "")
        room = columns - 1 - len(head) - len(tail) - 2
        if room < 5:
            return (head + f"{100 * present // self.total} %")[: columns - 1]
        full = min(room, room * present // self.total)
        filled, empty = "#" * full, "." * (room - full)
        if self.color:
            filled = f"\x1b[36m{filled}\x1b[0m"
        return f"{head}[{filled}{empty}]{tail}"

    def update(self, part, present):
        self._show(self.line(part, present, shutil.get_terminal_size().columns))

    def checking(self):
        self._show(f"{self.name}  checking the whole file"[: shutil.get_terminal_size().columns - 1])

    def close(self):
        self._show("")

    def _show(self, text):
        self.stream.write("\r\x1b[K" + text)
        self.stream.flush()


def make_progress(name, quiet, as_json):
    if quiet:
        return Silent()
    if as_json:
        return JsonLines(name)
    return Bar(name) if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else Lines(name)
