#include "formats/checkpoint.h"

#include <doctest/doctest.h>

#include "formats/gguf.h"
#include "support/error_of.h"
#include "support/gguf_builder.h"
#include "support/safetensors_builder.h"
#include "support/temp_dir.h"

using namespace paceline;
using namespace paceline::formats;
using support::GgufBuilder;
using support::SafetensorsBuilder;
using support::TempDir;

namespace {

/// Part `number` (from 0) of a split of `count`, with one tensor.
std::vector<std::byte> part(int number, int count, std::string_view tensor, int tensors_count = 3) {
  GgufBuilder b;
  if (number == 0) b.text("general.architecture", "llama");
  b.scalar<uint16_t>("split.no", 2, static_cast<uint16_t>(number));
  b.scalar<uint16_t>("split.count", 2, static_cast<uint16_t>(count));
  b.scalar<int32_t>("split.tensors.count", 5, tensors_count);
  b.tensor({.name = std::string(tensor)});
  b.data.fill(16);
  return b.build();
}

void write_split(const TempDir& dir, int tensors_count = 3) {
  dir.write("m-00001-of-00003.gguf", part(0, 3, "a", tensors_count));
  dir.write("m-00002-of-00003.gguf", part(1, 3, "b", tensors_count));
  dir.write("m-00003-of-00003.gguf", part(2, 3, "c", tensors_count));
}

std::vector<std::byte> shard(std::string_view tensor) {
  SafetensorsBuilder b;
  return b.tensor(tensor, "F32", "[2]", 8).build();
}

void check_refused(const std::filesystem::path& path, ErrorCode code, const char* text) {
  const support::Failure failure = support::error_of([&] { open_checkpoint(path); });
  CHECK(failure.code == code);
  CHECK_MESSAGE(failure.text.find(text) != std::string::npos, failure.text);
}

constexpr ErrorCode kBad = ErrorCode::bad_checkpoint;

}  // namespace

TEST_CASE("a GGUF file opens by its path, by its folder, and under a name without an ending") {
  const TempDir dir;
  const auto file = dir.write("model.gguf", support::valid_gguf().build());
  dir.write("mmproj-model.gguf", "not looked at");
  for (const auto& path : {file, dir.path()}) {
    const Checkpoint c = open_checkpoint(path);
    CHECK(c.source == Source::gguf);
    CHECK(c.architecture == "llama");
    CHECK(c.tensors.size() == 3);
    REQUIRE(c.find("b.weight") != nullptr);
    CHECK(c.find("b.weight")->values() == 3);
    CHECK(c.find("b") == nullptr);
  }
  CHECK(open_checkpoint(dir.write("sha256-0123", support::valid_gguf().build())).tensors.size() == 3);
}

TEST_CASE("paths that hold no model are refused") {
  const TempDir dir;
  check_refused(dir.path() / "absent", ErrorCode::not_found, "does not exist");
  check_refused(dir.path(), ErrorCode::not_found, "neither .safetensors nor .gguf");
  check_refused(dir.write("a.txt", "hello"), kBad, "neither a GGUF nor a .safetensors file");
  check_refused(dir.write("a.gguf", ""), kBad, "ends inside the magic");
  dir.write("b.gguf", "GGUF");
  check_refused(dir.path(), ErrorCode::invalid_argument, "holds 2 .gguf models");
  check_refused("/dev/null", ErrorCode::io, "not a regular file");
  GgufBuilder nameless;
  check_refused(dir.write("c.gguf", nameless.build()), kBad, "no general.architecture");
}

TEST_CASE("a split GGUF opens from any of its files or the folder") {
  const TempDir dir;
  write_split(dir);
  for (const char* name : {"", "m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"}) {
    const Checkpoint c = open_checkpoint(dir.path() / name);
    CHECK(c.architecture == "llama");
    CHECK(c.tensors.size() == 3);
    CHECK(c.files.size() == 3);
    CHECK(c.metadata.integer("split.no") == 0);
  }
}

TEST_CASE("a split GGUF whose files disagree is refused") {
  const auto refused = [](const char* name, const std::vector<std::byte>& bytes, const char* text) {
    const TempDir dir;
    write_split(dir);
    dir.write(name, bytes);
    check_refused(dir.path() / "m-00001-of-00003.gguf", kBad, text);
  };
  refused("m-00002-of-00003.gguf", part(2, 3, "b"), "split.no 2 of 3, expected 1 of 3");
  refused("m-00002-of-00003.gguf", part(1, 4, "b"), "split.no 1 of 4, expected 1 of 3");
  refused("m-00002-of-00003.gguf", part(1, 3, "a"), "also in an earlier file");
  refused("m-00001-of-00003.gguf", part(0, 2, "a"), "split.no 0 of 2, expected 0 of 3");
  refused("m-00001-of-00003.gguf", part(0, 3, "a", 4), "3 tensors in all files, expected split.tensors.count 4");
  refused("m-00001-of-00003.gguf", part(0, 2000, "a"), "split.count 2000");
  refused("m-00003-of-00003.gguf", support::valid_gguf().build(), "split.no -1 of 0, expected 2 of 3");
  const TempDir dir;
  write_split(dir);
  std::filesystem::remove(dir.path() / "m-00002-of-00003.gguf");
  check_refused(dir.path() / "m-00001-of-00003.gguf", ErrorCode::not_found, "m-00002-of-00003.gguf");
  check_refused(dir.write("renamed.gguf", part(0, 3, "a")), kBad, "expected a name like NAME-00001-of-00002.gguf");
}

TEST_CASE("a safetensors folder opens with its texts, alone and by index") {
  const TempDir dir;
  dir.write("config.json", R"({"model_type":"qwen3"})");
  dir.write("tokenizer.json", "{}");
  dir.write("chat_template.jinja", "{{ x }}");
  const auto file = dir.write("model.safetensors", shard("a"));
  for (const auto& path : {file, dir.path()}) {
    const Checkpoint c = open_checkpoint(path);
    CHECK(c.source == Source::safetensors);
    CHECK(c.architecture == "qwen3");
    CHECK(c.tokenizer_json == "{}");
    CHECK(c.chat_template_jinja == "{{ x }}");
    CHECK(c.generation_config_json.empty());
    CHECK(c.tensors.size() == 1);
  }
  const auto other = dir.write("model-2.safetensors", shard("b"));
  CHECK(open_checkpoint(dir.path()).tensors.size() == 2);
  CHECK(open_checkpoint(other).tensors.size() == 1);
  dir.write("model.safetensors.index.json", R"({"weight_map":{"a":"model.safetensors","b":"model-2.safetensors"}})");
  dir.write("model-stray.safetensors", "not in the index");
  CHECK(open_checkpoint(dir.path()).tensors.size() == 2);
  CHECK(open_checkpoint(other).tensors.size() == 2);
}

TEST_CASE("bad safetensors folders are refused") {
  const auto refused = [](const std::string& index, ErrorCode code, const char* text) {
    const TempDir dir;
    dir.write("a.safetensors", shard("a"));
    dir.write("b.safetensors", shard("b"));
    dir.write("twin.safetensors", shard("a"));
    dir.write("model.safetensors.index.json", index);
    check_refused(dir.path(), code, text);
  };
  for (const char* name :
       {"../a.safetensors", "/etc/passwd", "x/a.safetensors", "..", ".", "", "a\\\\b", "a\\u0000b"}) {
    refused(std::string(R"({"weight_map":{"a":")") + name + "\"}}", kBad, "expected a file name in the same folder");
  }
  refused(R"({"weight_map":{"a":"absent.safetensors"}})", ErrorCode::not_found, "absent.safetensors");
  refused(R"({"weight_map":{"a":"b.safetensors"}})", kBad, "tensor 'a': not in shard 'b.safetensors'");
  refused(R"({"weight_map":{"b":"a.safetensors","a":"b.safetensors"}})", kBad, "not in shard");
  refused(R"({"weight_map":{"a":"a.safetensors","b":"twin.safetensors"}})", kBad, "also in another shard");
  refused(R"({"weight_map":{"a":7}})", kBad, "expected a file name");
  refused(R"({"weight_map":{"a":"a.safetensors","a":"b.safetensors"}})", kBad, "key 'a': stored twice");
  refused(R"({"weight_map":{}})", kBad, "no 'weight_map'");
  refused(R"({})", kBad, "no 'weight_map'");
  refused("{", kBad, "malformed JSON");

  const TempDir dir;
  dir.write("a.safetensors", shard("a"));
  dir.write("b.safetensors", shard("b"));
  check_refused(dir.path(), ErrorCode::not_found, "2 .safetensors files");
  dir.write("config.json", std::string((16 << 20) + 1, ' '));
  check_refused(dir.path(), kBad, "expected at most 16777216");
  dir.write("config.json", R"({"quantization_config":{"quant_method":"awq"}})");
  check_refused(dir.path(), ErrorCode::unsupported, "quantised by 'awq'");
}
