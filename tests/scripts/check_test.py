"""The rules of scripts/check.sh find what they should find, and nothing else (layers, walls, sizes, exemptions)."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "check"))

import common  # noqa: E402
import cpp  # noqa: E402
import layers  # noqa: E402
import sizes  # noqa: E402
import walls  # noqa: E402

LAYERS = "# comment\nbase: api\nformats: api base\nkernels: api base\nengine: api base formats\ncli: api base\n"


class RepositoryTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="paceline-check-"))
        self.addCleanup(shutil.rmtree, self.root)
        for module in (common, layers):
            patch = mock.patch.object(module, "ROOT", self.root)
            patch.start()
            self.addCleanup(patch.stop)
        self.write("layers.txt", LAYERS)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        return path

    def found(self, module, path, text):
        findings = module.check([self.write(path, text)])
        return [(finding.rule, finding.line) for finding in findings if not finding.warning]

    # layers

    def test_an_include_upwards_is_found(self):
        self.assertEqual(self.found(layers, "src/base/a.cpp", '#include "base/a.h"\n#include "engine/b.h"\n'), [("layers", 2)])

    def test_an_include_downwards_is_fine(self):
        self.assertEqual(self.found(layers, "src/engine/a.cpp", '#include "formats/a.h"\n#include "paceline/b.h"\n'), [])

    def test_includes_in_comments_do_not_count(self):
        self.assertEqual(self.found(layers, "src/base/a.cpp", '// #include "engine/b.h"\n/*\n#include "cli/b.h"\n*/\n'), [])

    def test_an_include_without_folder_is_found(self):
        self.assertEqual(self.found(layers, "src/base/a.cpp", '#include "a.h"\n'), [("layers", 1)])

    def test_a_standard_header_is_no_folder(self):
        (self.root / "src" / "array").mkdir(parents=True)
        self.assertEqual(self.found(layers, "src/base/a.cpp", "#include <array>\n"), [])
        self.assertEqual(self.found(layers, "src/base/a.cpp", "#include <array/b.h>\n"), [("layers", 1)])

    def test_an_unknown_folder_is_found(self):
        self.assertEqual(self.found(layers, "src/misc/a.cpp", ""), [("layers", 0)])

    def test_public_headers_include_nothing_of_src(self):
        self.assertEqual(self.found(layers, "include/paceline/a.h", '#include "base/a.h"\n'), [("layers", 1)])

    def test_links_follow_layers(self):
        text = "paceline_library(NAME base SRCS a.cpp\n  DEPS engine LIBS mlx)\npaceline_library(NAME base DEPS base_core)\n"
        self.assertEqual(self.found(layers, "src/base/CMakeLists.txt", text), [("layers", 0)])

    def test_header_cycles_are_found(self):
        a = self.write("src/base/a.h", '#include "base/b.h"\n')
        b = self.write("src/base/b.h", '#include "base/a.h"\n')
        self.assertEqual([finding.rule for finding in layers.check([a, b])], ["cycles"])

    def test_layer_cycles_are_found(self):
        self.write("layers.txt", "base: formats\nformats: base\n")
        self.assertEqual([finding.rule for finding in layers.check([])], ["cycles"])

    # walls

    def test_model_names(self):
        for text in ("int llama_layers();", "struct Qwen2Config;", 'if (type == "gemma3") {}', "bool is_smollm;"):
            self.assertEqual(self.found(walls, "src/engine/a.cpp", text), [("model-names", 1)], text)
            self.assertEqual(self.found(walls, "src/models/a.cpp", text), [], text)
        self.assertEqual(self.found(walls, "src/engine/a.cpp", "// as llama.cpp does\n"), [])
        self.assertEqual(self.found(walls, "src/cli/catalogue.cpp", '"gemma3:270m"'), [])

    def test_drafter_names(self):
        self.assertEqual(self.found(walls, "src/engine/a.cpp", "\nrun_eagle3();"), [("drafter-names", 2)])
        self.assertEqual(self.found(walls, "src/engine/a.cpp", "int empty_count;"), [])

    def test_engine_types(self):
        self.assertEqual(self.found(walls, "src/engine/a.cpp", "#include <nlohmann/json.hpp>"), [("engine-types", 1)])
        self.assertEqual(self.found(walls, "src/formats/a.cpp", "#include <nlohmann/json.hpp>"), [])

    def test_mlx(self):
        for text in ('#include "mlx/array.h"', "mlx::core::array a();", "mx::array a();"):
            self.assertEqual(self.found(walls, "src/formats/a.cpp", text), [("mlx", 1)], text)
            self.assertEqual(self.found(walls, "src/kernels/a.cpp", text), [], text)

    def test_heavy_headers(self):
        self.assertEqual(self.found(walls, "src/kernels/a.h", "#include <mlx/mlx.h>"), [("heavy-headers", 1)])
        self.assertEqual(self.found(walls, "src/kernels/a.h", "#include <mlx/array.h>"), [])

    def test_library_manners(self):
        for text in ('std::cout << "x";', 'printf("x");', 'getenv("X");', "std::exit(1);"):
            self.assertEqual(self.found(walls, "src/base/a.cpp", text), [("library-manners", 1)], text)
            self.assertEqual(self.found(walls, "src/cli/a.cpp", text), [], text)
        self.assertEqual(self.found(walls, "src/base/a.cpp", 'snprintf(b, 1, "x"); throw "printf(x)"; on_exit_();'), [])

    # sizes

    def test_file_sizes(self):
        for path, cap in (("src/base/a.cpp", 500), ("src/base/a.h", 250), ("src/base/a_test.cpp", 600), ("src/base/a_inl.h", 500)):
            self.assertEqual(self.found(sizes, path, "\n" * cap), [], path)
            self.assertEqual(self.found(sizes, path, "\n" * (cap + 1)), [("file-size", 0)], path)

    def test_function_sizes(self):
        body = "\nint f() {\n" + "  g();\n" * 68 + "}\n"
        self.assertEqual(self.found(sizes, "src/base/a.cpp", body), [])
        body = body.replace("}", "  g();\n}")
        self.assertEqual(self.found(sizes, "src/base/a.cpp", body), [("function-size", 2)])
        self.assertEqual(self.found(sizes, "src/kernels/a.cpp", body), [("function-size", 2)])
        self.assertEqual(self.found(sizes, "src/kernels/a.cpp", "// Long: one loop, unrolled" + body), [])

    def test_parameters_only_warn(self):
        path = self.write("src/base/a.cpp", "int f(int a, int b, std::map<int, int> c, int d, int e, int g) { return 1; }\n")
        self.assertEqual([(f.rule, f.warning) for f in sizes.check([path])], [("parameters", True)])

    # exemptions

    def test_exemptions_cover_and_expire(self):
        self.write("scripts/exemptions.txt", "file-size src/a.cpp  # table\nmlx src/b.cpp  # gone\nmlx src/c.cpp\n")
        exemptions = common.Exemptions({"file-size", "mlx"})
        self.assertTrue(exemptions.covers(common.Finding("file-size", "src/a.cpp", "")))
        self.assertFalse(exemptions.covers(common.Finding("mlx", "src/a.cpp", "")))
        self.assertEqual([finding.line for finding in exemptions.problems()], [3, 2])


class ScannerTest(unittest.TestCase):
    def names(self, text):
        return [(function.name, function.lines, function.parameters) for function in cpp.functions(text)]

    def test_functions_of_every_form(self):
        cases = {
            "int f(int a) {\n}\n": [("f", 2, 1)],
            "struct S { S(int x) : a_{x}, b_(x) { f(); } int a_{1}; };": [("S", 1, 1)],
            "struct S { bool operator()(int a, int b) const { return {}; } };": [("operator()", 1, 2)],
            "bool operator==(const A& a, const B& b) { return true; }": [("operator==", 1, 2)],
            "A::~A() {}": [("A::~A", 1, 0)],
            "auto f(std::map<int, int> m = {}) -> std::vector<int> { return {1, 2}; }": [("f", 1, 1)],
            "template <class T> requires std::integral<T>\nvoid f(T t) noexcept {\n}": [("f", 3, 1)],
            "namespace a { namespace { void f(void (*g)(int, int), int h) { } } }": [("f", 1, 2)],
            'TEST_CASE("a { b") {\n  CHECK(1);\n}': [("TEST_CASE", 3, 1)],
            'extern "C" { void f(int) { if (x) { y(); } } }': [("f", 1, 1)],
        }
        for text, expected in cases.items():
            self.assertEqual(self.names(text), expected, text)

    def test_what_is_no_function(self):
        for text in (
            "constexpr int k[] = {1, 2};",
            "const auto f = [](int a) { return a; };",
            "enum class E { a, b };",
            "struct S { int a = f({1}); std::array<int, 2> b{1, 2}; };",
            "void f(int a);",
        ):
            self.assertEqual(self.names(text), [], text)

    def test_braces_in_literals_and_branches(self):
        text = "void f() {\n  auto a = R\"({{)\"; char b = '{'; int c = 1'000;\n#if X\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\n"
        self.assertEqual(self.names(text), [("f", 9, 0)])


if __name__ == "__main__":
    unittest.main()
