#include "engine/bench_ops.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cstddef>
#include <span>
#include <utility>

#include "blocks/stored_tensor.h"
#include "engine/bench_attend.h"
#include "engine/bench_data.h"
#include "kernels/linear.h"
#include "kernels/norm.h"
#include "sampling/row_sampler.h"

namespace paceline::engine {
namespace {

namespace mx = mlx::core;
using blocks::Encoding;
using kernels::LinearWeight;

/// A format of weights.
struct Format {
  std::string name;
  Encoding encoding;
  int bits = 0;  // MLX groups only, as are the next two
  int group_size = 0;
  Encoding scale_encoding = Encoding::u8;
};

std::vector<Format> formats() {
  std::vector<Format> list;
  for (const Encoding e : {Encoding::f32, Encoding::f16, Encoding::bf16, Encoding::q4_0,
                           Encoding::q4_1, Encoding::q5_0, Encoding::q5_1, Encoding::q8_0,
                           Encoding::q2_k, Encoding::q3_k, Encoding::q4_k, Encoding::q5_k,
                           Encoding::q6_k, Encoding::iq4_nl, Encoding::iq4_xs, Encoding::mxfp4}) {
    list.push_back({.name = std::string(blocks::info(e).name), .encoding = e});
  }
  list.push_back({"MLX 4-bit g64", Encoding::mlx_affine, 4, 64, Encoding::f16});
  list.push_back({"MLX 8-bit g64", Encoding::mlx_affine, 8, 64, Encoding::f16});
  list.push_back({"MLX mxfp4", Encoding::mlx_mxfp4, 4, 32});
  list.push_back({"MLX mxfp8", Encoding::mlx_mxfp8, 8, 32});
  list.push_back({"MLX nvfp4", Encoding::mlx_nvfp4, 4, 16});
  return list;
}

/// Packs a matrix of the format again and again until the copies are cold.
std::vector<LinearWeight> pack_copies(const kernels::Context& ctx, const Format& format,
                                      const OperationSizes& sizes) {
  const int64_t values = sizes.outputs * sizes.inputs;
  const blocks::EncodingInfo& info = blocks::info(format.encoding);
  const int64_t bytes =
      format.bits > 0 ? values * format.bits / 8 : values / info.block_values * info.block_bytes;
  const std::vector<std::byte> data = scale_bytes(static_cast<std::size_t>(bytes));
  blocks::StoredTensor tensor{.name = format.name,
                              .encoding = format.encoding,
                              .shape = {sizes.outputs, sizes.inputs},
                              .data = data,
                              .groups = std::nullopt};
  std::vector<std::byte> scales;
  if (format.bits > 0) {
    const int64_t scale = blocks::info(format.scale_encoding).block_bytes;
    scales = scale_bytes(static_cast<std::size_t>(values / format.group_size * scale));
    tensor.groups = blocks::MlxGroups{.bits = format.bits,
                                      .group_size = format.group_size,
                                      .scale_encoding = format.scale_encoding,
                                      .scales = scales,
                                      .biases = {}};
    if (format.encoding == Encoding::mlx_affine) tensor.groups->biases = scales;
  }
  std::vector<LinearWeight> copies;
  do {
    copies.push_back(LinearWeight::pack(ctx, tensor));
  } while (static_cast<int64_t>(copies.size()) * copies.front().resident_bytes() <
           sizes.cold_bytes);
  return copies;
}

/// Weights of one format and the products of `rows` rows with them.
struct Product {
  kernels::Context ctx;
  std::string format;
  std::vector<LinearWeight> copies;

  int64_t outputs() const { return copies.front().outputs(); }
  int64_t inputs() const { return copies.front().inputs(); }

  /// A line for `matrices` matrices that share their input and give one output.
  Operation line(const std::string& name, int32_t rows, int32_t matrices) const {
    const double weights = static_cast<double>(copies.front().resident_bytes()) * matrices;
    return {.name = name + " " + format,
            .shape = (matrices > 1 ? std::to_string(matrices) + " x " : "") +
                     std::to_string(outputs()) + " x " + std::to_string(inputs()),
            .rows = rows,
            .bytes = weights + 4.0 * rows * static_cast<double>(inputs() + outputs()),
            .operations = 2.0 * rows * matrices * static_cast<double>(inputs() * outputs()),
            .integer = kernels::by_codes(ctx, copies.front())};
  }

  Operation linear(int32_t rows) const {
    Operation operation = line("linear", rows, 1);
    operation.calls = static_cast<int32_t>(copies.size());
    operation.run = [product = *this, x = bench_floats({rows, static_cast<int>(inputs())})] {
      std::vector<mx::array> y;
      for (const LinearWeight& weight : product.copies)
        y.push_back(kernels::linear(product.ctx, x, weight));
      mx::eval(y);
    };
    return operation;
  }

  Operation gated(int32_t rows) const {
    Operation operation = line("gated", rows, 2);
    operation.calls = static_cast<int32_t>((copies.size() + 1) / 2);
    operation.run = [product = *this, x = bench_floats({rows, static_cast<int>(inputs())})] {
      const std::vector<LinearWeight>& copies = product.copies;
      std::vector<mx::array> y;
      for (std::size_t i = 0; i < copies.size(); i += 2) {
        y.push_back(kernels::gated_linear(
            product.ctx, x, copies[i], copies[(i + 1) % copies.size()], kernels::Activation::silu));
      }
      mx::eval(y);
    };
    return operation;
  }
};

Operation rms_norm(const kernels::Context& ctx, int32_t rows, int64_t width) {
  constexpr int32_t kCalls = 64;
  const auto size = static_cast<int>(width);
  return {.name = "rms_norm",
          .shape = std::to_string(width),
          .rows = rows,
          .bytes = 8.0 * rows * size,
          .operations = 4.0 * rows * size,
          .calls = kCalls,
          .run = [ctx, x = bench_floats({rows, size}), weight = bench_floats({size})] {
            std::vector<mx::array> y;
            for (int32_t i = 0; i < kCalls; ++i)
              y.push_back(kernels::rms_norm(ctx, x, weight, 1e-6F));
            mx::eval(y);
          }};
}

Operation draw(const std::string& name, int32_t vocab, float top_p, int32_t logprobs) {
  BenchRandom random(5);
  std::vector<float> logits(static_cast<std::size_t>(vocab));
  for (float& logit : logits) logit = 5 * (random.in_unit() + random.in_unit());
  SamplingOptions options;
  options.temperature = 0.7F;
  options.top_p = top_p;
  const sampling::RowSampler sampler(options, 1, {});
  return {.name = name,
          .shape = std::to_string(vocab),
          .bytes = 4.0 * vocab,
          .run = [sampler, logits = std::move(logits), logprobs] {
            const TokenId id = sampler.draw(logits, 1).id;
            if (logprobs >= 0) sampling::with_logprobs(logits, id, logprobs, 1);
          }};
}

}  // namespace

std::vector<Operation> make_operations(const kernels::Context& ctx, const OperationSizes& sizes) {
  std::vector<Operation> list;
  for (const Format& format : formats()) {
    const Product product{ctx, format.name, pack_copies(ctx, format, sizes)};
    for (const int32_t rows : {1, 4, 8, 16, 64}) list.push_back(product.linear(rows));
    if (format.encoding != Encoding::q4_k) continue;
    for (const int32_t rows : {1, 4, 8, 64}) list.push_back(product.gated(rows));
  }
  const int32_t context = sizes.context;
  for (const AttendShape& shape : {AttendShape{1, 1, 511, 12, 2, 128},
                                   {1, 1, context - 1, 12, 2, 128},
                                   {1, 4, context - 4, 12, 2, 128},
                                   {8, 1, 127, 12, 2, 128},
                                   {1, 512, 0, 12, 2, 128},
                                   {1, 1, context - 1, 9, 3, 64}}) {
    list.push_back(attend_operation(ctx, shape, sizes.cold_bytes));
  }
  for (const int32_t rows : {1, 8, 512}) list.push_back(rms_norm(ctx, rows, sizes.inputs));
  list.push_back(draw("draw", sizes.vocab, 1.0F, -1));
  list.push_back(draw("draw top-p, 5 logprobs", sizes.vocab, 0.95F, 5));
  return list;
}

}  // namespace paceline::engine
