"""A program on a pseudo-terminal, for the tests of the chat."""

import os
import pty
import re
import select
import signal
import time

LIMIT_S = 60  # generous: the machine may be busy


class Terminal:
    def __init__(self, words, environment):
        self.screen = b""
        self.seen = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(words[0], words, environment)
        self.code = None

    def send(self, text):
        os.write(self.fd, text.encode() if isinstance(text, str) else text)

    def _read(self, timeout):
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.screen += data
        return bool(data)

    def expect(self, pattern, limit=LIMIT_S):
        """Waits until the pattern appears in what came since the last expect(); returns the text up to its end."""
        deadline = time.monotonic() + limit
        while True:
            match = re.compile(pattern.encode(), re.DOTALL).search(self.screen, self.seen)
            if match:
                text = self.screen[self.seen : match.end()]
                self.seen = match.end()
                return text.decode("utf-8", "replace")
            if time.monotonic() > deadline or not self._read(0.2):
                raise AssertionError(f"'{pattern}' did not come; the rest was {self.screen[self.seen:]!r}")

    def wait(self, limit=LIMIT_S):
        """The exit code (negative: a signal)."""
        deadline = time.monotonic() + limit
        while self.code is None:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                self.close()
                raise AssertionError(f"the program did not end; the screen was {self.screen!r}")
        return self.code

    def close(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.code = -signal.SIGKILL
        os.close(self.fd)
