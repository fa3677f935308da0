"""README.md shows the example as it is."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class ReadmeTest(unittest.TestCase):
    def test_the_library_example_is_the_file(self):
        blocks = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
        self.assertEqual(blocks, [(ROOT / "examples" / "generate.cpp").read_text()])


if __name__ == "__main__":
    unittest.main()
