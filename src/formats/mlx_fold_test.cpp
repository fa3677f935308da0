#include <doctest/doctest.h>

#include "formats/file_context.h"
#include "formats/mlx_quantization.h"
#include "formats/safetensors.h"
#include "support/error_of.h"
#include "support/safetensors_builder.h"

using namespace paceline;
using namespace paceline::formats;
using blocks::Encoding;
using support::SafetensorsBuilder;

namespace {

const FileContext& context() {
  static const FileContext file("config", "config.json");
  return file;
}

/// A config.json with this quantization block.
ConfigSummary config_of(const std::string& block, const std::string& key = "quantization") {
  return parse_config(R"({"model_type":"llama",")" + key + "\":" + block + "}", context());
}

struct Folded {
  std::vector<std::byte> bytes;
  TensorMap tensors;
};

Folded fold(const SafetensorsBuilder& builder, const std::string& block) {
  Folded out{builder.build(), {}};
  for (auto& tensor : parse_safetensors(out.bytes, "m.safetensors").tensors) out.tensors.emplace(tensor.name, tensor);
  fold_mlx(out.tensors, config_of(block).quantization, context());
  return out;
}

/// X.weight, X.scales, X.biases: [2, 64] values, 4 bits in groups of 32 (or anything with the same
/// product).
SafetensorsBuilder four_bit(const std::string& path = "model.layers.0.mlp.gate") {
  SafetensorsBuilder b;
  b.tensor(path + ".weight", "U32", "[2,8]", 64);
  b.tensor(path + ".scales", "BF16", "[2,2]", 8).tensor(path + ".biases", "BF16", "[2,2]", 8);
  return b;
}

void check_refused(const SafetensorsBuilder& builder, const std::string& block, const char* text) {
  const support::Failure failure = support::error_of([&] { fold(builder, block); });
  CHECK(failure.code == ErrorCode::bad_checkpoint);
  CHECK_MESSAGE(failure.text.find(text) != std::string::npos, failure.text);
}

const char* const kFour32 = R"({"bits":4,"group_size":32})";

}  // namespace

TEST_CASE("weight, scales and biases become one tensor of the logical shape") {
  SafetensorsBuilder b = four_bit();
  b.tensor("model.norm.weight", "F32", "[4]", 16);
  const Folded folded = fold(b, kFour32);
  CHECK(folded.tensors.size() == 2);
  const blocks::StoredTensor& weight = folded.tensors.at("model.layers.0.mlp.gate.weight");
  CHECK(weight.encoding == Encoding::mlx_affine);
  CHECK(weight.shape == std::vector<int64_t>{2, 64});
  REQUIRE(weight.groups);
  CHECK(weight.groups->bits == 4);
  CHECK(weight.groups->group_size == 32);
  CHECK(weight.groups->scale_encoding == Encoding::bf16);
  CHECK(weight.groups->scales.size() == 8);
  std::vector<float> out(64);
  decode_rows(weight, 1, 1, out);
  CHECK(folded.tensors.at("model.norm.weight").encoding == Encoding::f32);
}

TEST_CASE("a module's own parameters win over the global ones") {
  const std::string own = R"({"bits":4,"group_size":64,"model.layers.0.mlp.gate":{"bits":4,"group_size":32}})";
  CHECK(fold(four_bit(), own).tensors.begin()->second.groups->group_size == 32);
  // A wrapper may have put its name in front.
  CHECK(fold(four_bit("language_model.model.layers.0.mlp.gate"), own).tensors.begin()->second.groups->group_size == 32);
  // 8 bits in groups of 16 have the same shapes, but not in mode affine; 2 bits in groups of 64 do.
  const std::string two = R"({"bits":4,"group_size":32,"model.layers.0.mlp.gate":{"bits":2,"group_size":64}})";
  const blocks::StoredTensor weight = fold(four_bit(), two).tensors.begin()->second;
  CHECK(weight.groups->bits == 2);
  CHECK(weight.shape == std::vector<int64_t>{2, 128});
}

TEST_CASE("parameters listed under an unknown name serve when only they fit the shapes") {
  const std::string renamed = R"({"bits":4,"group_size":64,"visual.0.gate":{"bits":4,"group_size":32}})";
  CHECK(fold(four_bit(), renamed).tensors.begin()->second.groups->group_size == 32);
}

TEST_CASE("the block may be named quantization_config and lie in text_config") {
  CHECK(config_of(kFour32, "quantization_config").quantization.global->bits == 4);
  const auto nested = parse_config(R"({"text_config":{"quantization":{"bits":8,"group_size":128}}})", context());
  CHECK(nested.quantization.global->bits == 8);
  CHECK(nested.model_type.empty());
  CHECK_FALSE(parse_config(R"({"quantization":null})", context()).quantization.global);
}

TEST_CASE("a mode without numbers has MLX's defaults") {
  CHECK(*config_of("{}").quantization.global == MlxParameters{Encoding::mlx_affine, 4, 64});
  CHECK(*config_of(R"({"mode":"mxfp4"})").quantization.global == MlxParameters{Encoding::mlx_mxfp4, 4, 32});
  CHECK(*config_of(R"({"mode":"mxfp8"})").quantization.global == MlxParameters{Encoding::mlx_mxfp8, 8, 32});
  CHECK(*config_of(R"({"mode":"nvfp4"})").quantization.global == MlxParameters{Encoding::mlx_nvfp4, 4, 16});
}

TEST_CASE("modes with code scales are folded without biases") {
  SafetensorsBuilder b;
  b.tensor("x.weight", "U32", "[3,2,4]", 96).tensor("x.scales", "U8", "[3,2,2]", 12);
  const Folded folded = fold(b, R"({"mode":"nvfp4"})");
  const blocks::StoredTensor& weight = folded.tensors.at("x.weight");
  CHECK(weight.encoding == Encoding::mlx_nvfp4);
  CHECK(weight.shape == std::vector<int64_t>{3, 2, 32});
  b.tensor("x.biases", "U8", "[3,2,2]", 12);
  check_refused(b, R"({"mode":"nvfp4"})", "has .biases, expected none");
}

TEST_CASE("methods of others are refused by name") {
  for (const char* method : {"awq", "gptq", "fp8", "bitnet", "compressed-tensors", "mxfp4"}) {
    const std::string block = std::string(R"({"quant_method":")") + method + R"(","bits":4})";
    const support::Failure failure = support::error_of([&] { config_of(block, "quantization_config"); });
    CHECK(failure.code == ErrorCode::unsupported);
    CHECK_MESSAGE(failure.text.find(method) != std::string::npos, failure.text);
  }
}

TEST_CASE("parameters that do not exist are refused") {
  for (const char* block :
       {R"({"bits":7})", R"({"bits":1})", R"({"bits":16})", R"({"group_size":16})", R"({"group_size":0})",
        R"({"mode":"mxfp4","group_size":64})", R"({"mode":"int"})", R"({"mode":3})", R"({"x":{"bits":9}})"}) {
    CHECK(support::error_of([&] { config_of(block); }).code == ErrorCode::unsupported);
  }
  for (const char* block : {"[]", R"({"bits":-4})", R"({"bits":"4"})", R"({"bits":4.0})", R"({"bits":99999})"}) {
    CHECK(support::error_of([&] { config_of(block); }).code == ErrorCode::bad_checkpoint);
  }
}

TEST_CASE("malformed config.json is refused") {
  for (const char* text : {"", "[]", "{", "3", R"({"a":1,"a":2})", "{} x"}) {
    CHECK(support::error_of([&] { parse_config(text, context()); }).code == ErrorCode::bad_checkpoint);
  }
}

TEST_CASE("shapes and types that contradict the parameters are refused") {
  const auto with = [](const char* weight, const char* scales, const char* biases) {
    SafetensorsBuilder b;
    const auto add = [&](const std::string& name, const std::string& type_shape, std::size_t bytes) {
      const std::size_t space = type_shape.find(' ');
      b.tensor(name, type_shape.substr(0, space), type_shape.substr(space + 1), bytes);
    };
    add("x.weight", weight, 64);
    add("x.scales", scales, 8);
    if (*biases != '\0') add("x.biases", biases, 8);
    return b;
  };
  check_refused(with("U32 [2,8]", "F16 [2,2]", "F16 [2,2]"), R"({"bits":8,"group_size":32})", "do not fit 8 bits");
  check_refused(with("U32 [2,8]", "F16 [4,1]", "F16 [4,1]"), kFour32, "do not fit");
  check_refused(with("U32 [2,8]", "F16 [1,2,2]", "F16 [1,2,2]"), kFour32, "do not fit");
  check_refused(with("U32 [16]", "F16 [4]", "F16 [4]"), kFour32, "do not fit");
  check_refused(with("U32 [2,8]", "U8 [2,4]", "U8 [2,4]"), kFour32, "do not fit");
  check_refused(with("I32 [2,8]", "F16 [2,2]", "F16 [2,2]"), kFour32, "type I32 beside .scales");
  check_refused(with("U32 [2,8]", "F16 [2,2]", ""), kFour32, "has no .biases");
  check_refused(with("U32 [2,8]", "F16 [2,2]", "F16 [4,1]"), kFour32, ".biases [4, 1]");
  check_refused(with("U32 [2,8]", "F16 [2,2]", "BF16 [2,2]"), kFour32, "of type BF16");
  check_refused(with("U32 [2,8]", "F16 [2,2]", "F16 [2,2]"), R"({"bits":4,"group_size":32,"x":false})",
                "config.json says it is not quantised");
  const support::Failure none = support::error_of([&] {
    Folded f{four_bit().build(), {}};
    for (auto& t : parse_safetensors(f.bytes, "m").tensors) f.tensors.emplace(t.name, t);
    fold_mlx(f.tensors, {}, context());
  });
  CHECK(none.text.find("config.json has no quantization") != std::string::npos);
}
