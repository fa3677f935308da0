"""scripts/third_party.py lists what is linked."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import third_party  # noqa: E402


def package(name, kind="lib"):
    return {"id": name, "name": name, "version": "1", "license": "MIT", "targets": [{"kind": [kind]}]}


def edge(name, kind=None):
    return {"pkg": name, "dep_kinds": [{"kind": kind}]}


class LinkedTest(unittest.TestCase):
    def test_only_linked_crates(self):
        nodes = [
            {"id": "bridge", "deps": [edge("a"), edge("test-tool", "dev"), edge("compiler", "build"), edge("macro")]},
            {"id": "a", "deps": [edge("b")]},
            {"id": "b", "deps": []},
            {"id": "macro", "deps": [edge("parser")]},
            *({"id": name, "deps": []} for name in ("test-tool", "compiler", "parser")),
        ]
        packages = [package(node["id"], "proc-macro" if node["id"] == "macro" else "lib") for node in nodes]
        data = {"resolve": {"root": "bridge", "nodes": nodes}, "packages": packages}
        self.assertEqual([p["name"] for p in third_party.linked_packages(data)], ["a", "b"])


if __name__ == "__main__":
    unittest.main()
