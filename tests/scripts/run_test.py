"""./run over stand-ins for what it calls."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = '#!/bin/sh\nprintf "<%s>" "$@"\nprintf "stdin <%s>" "$(cat)"\n'


class RunTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="paceline-run-"))
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copy(ROOT / "run", self.root)
        self.write("scripts/bootstrap.sh", "#!/bin/sh\n")
        self.write("scripts/build.sh", "#!/bin/sh\n")
        self.write("scripts/fetch_model.py", "import sys\nprint('fetch', *sys.argv[1:], file=sys.stderr)\n")
        self.write("build/release/bin/paceline", PROGRAM)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, *words, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root / "home"), **variables}
        return subprocess.run(
            [self.root / "run", *words], input="from a pipe", capture_output=True, text=True, cwd=self.root, env=environment
        )

    def cache(self, folder):
        self.write(f"{folder}/paceline/models/SmolLM2-135M-Instruct.Q4_1.gguf", "")

    def test_without_a_terminal_a_question_is_printed_and_answered(self):
        result = self.run_script()
        question = "Name the capital of France."
        self.assertEqual(result.stdout, f">>> {question}\n<run><smollm2:135m><{question}>stdin <>")

    def test_arguments_and_standard_input_are_handed_on(self):
        result = self.run_script("run", "m", "two words")
        self.assertEqual(result.stdout, "<run><m><two words>stdin <from a pipe>")

    def test_the_starter_is_fetched_unless_it_is_cached(self):
        self.assertEqual(self.run_script("run", "hi there").stderr, "fetch smollm2:135m\n")
        self.assertEqual(self.run_script("list").stderr, "")  # needs no model
        self.cache("home/.cache")
        self.assertEqual(self.run_script("run", "hi there").stderr, "")

    def test_a_relative_cache_variable_does_not_count(self):
        self.cache("relative")
        self.assertEqual(self.run_script("run", "hi there", XDG_CACHE_HOME="relative").stderr, "fetch smollm2:135m\n")
        absolute = str(self.root / "relative")
        self.assertEqual(self.run_script("run", "hi there", XDG_CACHE_HOME=absolute).stderr, "")


if __name__ == "__main__":
    unittest.main()
