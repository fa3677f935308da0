#include "engine/bench_ops.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "blocks/stored_tensor.h"
#include "kernels/linear.h"
#include "kernels/norm.h"
#include "sampling/row_sampler.h"
#include "state/store.h"

namespace paceline::engine {
namespace {

namespace mx = mlx::core;
using blocks::Encoding;
using kernels::LinearWeight;

/// A small fixed generator: the same bytes in every run.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed) {}
  uint32_t next() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ >> 8;
  }
  float in_unit() { return static_cast<float>(next() % 2001) / 1000.0F - 1; }

 private:
  uint32_t state_;
};

/// Bytes that are a finite, normal number in every float format: 2^-95 to 1.
std::vector<std::byte> scale_bytes(std::size_t count) {
  Random random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(0x20 + random.next() % 0x1b);
  return bytes;
}

mx::array floats(const mx::Shape& shape) {
  Random random(11);
  std::size_t count = 1;
  for (const int n : shape) count *= static_cast<std::size_t>(n);
  std::vector<float> values(count);
  for (float& value : values) value = random.in_unit();
  return mx::array(values.data(), shape, mx::float32);
}

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
            .operations = 2.0 * rows * matrices * static_cast<double>(inputs() * outputs())};
  }

  Operation linear(int32_t rows) const {
    Operation operation = line("linear", rows, 1);
    operation.calls = static_cast<int32_t>(copies.size());
    operation.run = [product = *this, x = floats({rows, static_cast<int>(inputs())})] {
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
    operation.run = [product = *this, x = floats({rows, static_cast<int>(inputs())})] {
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

constexpr int64_t kLayersMax = 64;

struct AttendShape {
  int32_t sequences, tokens, context;  // `context` tokens before the new ones
  int32_t heads, kv_heads, dim;
};

/// Layers of one shape whose histories hold the context.
class Histories {
 public:
  Histories(const kernels::Context& ctx, const AttendShape& shape, int64_t cold_bytes)
      : shape_(shape),
        store_(spec_of(shape, cold_bytes), {.encoding = kernels::KvEncoding::bf16}, ctx),
        q_(floats({shape.sequences * shape.tokens, shape.heads, shape.dim})),
        kv_(floats({shape.sequences * shape.tokens, shape.kv_heads, shape.dim})) {
    for (int32_t i = 0; i < shape.sequences; ++i) sequences_.push_back(store_.new_sequence());
    if (shape.context > 0) {
      const state::Batch batch = batch_of(shape.context);
      const mx::array kv = floats({shape.sequences * shape.context, shape.kv_heads, shape.dim});
      store_.reserve(batch);
      for (int32_t layer = 0; layer < layers(); ++layer) store_.update(layer, batch, kv, kv);
      mx::eval(store_.take_effects());
      store_.commit(batch, std::vector<int32_t>(sequences_.size(), shape.context));
    }
  }

  int32_t layers() const { return static_cast<int32_t>(store_.spec().size()); }

  /// Writes the new tokens and attends, in every layer.
  void attend() {
    const state::Batch batch = batch_of(shape_.tokens);
    store_.reserve(batch);
    kernels::AttendSpec spec;
    spec.scale = 0.1F;
    std::vector<mx::array> outputs;
    for (int32_t layer = 0; layer < layers(); ++layer)
      outputs.push_back(store_.update(layer, batch, kv_, kv_)->attend(batch, q_, spec));
    const std::vector<mx::array> effects = store_.take_effects();
    outputs.insert(outputs.end(), effects.begin(), effects.end());
    mx::eval(outputs);
  }

 private:
  static state::StateSpec spec_of(const AttendShape& shape, int64_t cold_bytes) {
    const int64_t layer =
        int64_t{4} * shape.sequences * (shape.context + shape.tokens) * shape.kv_heads * shape.dim;
    const int64_t layers = std::clamp<int64_t>(cold_bytes / layer, 1, kLayersMax);
    return state::StateSpec(static_cast<std::size_t>(layers), {.kind = state::LayerKind::full,
                                                               .kv_heads = shape.kv_heads,
                                                               .key_dim = shape.dim,
                                                               .value_dim = shape.dim});
  }

  state::Batch batch_of(int32_t tokens) const {
    std::vector<state::BatchRow> rows;
    for (const auto& sequence : sequences_) {
      rows.push_back({.sequence = sequence.get(),
                      .tokens = std::vector<int32_t>(static_cast<std::size_t>(tokens), 0),
                      .wanted = {}});
    }
    return state::Batch(std::move(rows));
  }

  AttendShape shape_;
  state::StateStore store_;
  mx::array q_;
  mx::array kv_;
  std::vector<std::unique_ptr<state::Sequence>> sequences_;
};

Operation attend(const kernels::Context& ctx, const AttendShape& shape, int64_t cold_bytes) {
  auto histories = std::make_shared<Histories>(ctx, shape, cold_bytes);  // std::function copies
  const double tokens = static_cast<double>(shape.sequences) * shape.tokens;
  const double keys = shape.context + (shape.tokens + 1) / 2.0;  // that a query sees on average
  const double held = static_cast<double>(shape.sequences) * (shape.context + shape.tokens);
  return {.name = "attend",
          .shape = std::to_string(shape.sequences) + " x " + std::to_string(shape.tokens) + " at " +
                   std::to_string(shape.context) + ", " + std::to_string(shape.heads) + "/" +
                   std::to_string(shape.kv_heads) + " x " + std::to_string(shape.dim),
          .rows = static_cast<int32_t>(tokens),
          .bytes = 4 * held * shape.kv_heads * shape.dim + 8 * tokens * shape.heads * shape.dim,
          .operations = 4 * tokens * keys * shape.heads * shape.dim,
          .calls = histories->layers(),
          .run = [histories] { histories->attend(); }};
}

Operation rms_norm(const kernels::Context& ctx, int32_t rows, int64_t width) {
  constexpr int32_t kCalls = 64;
  const auto size = static_cast<int>(width);
  return {.name = "rms_norm",
          .shape = std::to_string(width),
          .rows = rows,
          .bytes = 8.0 * rows * size,
          .operations = 4.0 * rows * size,
          .calls = kCalls,
          .run = [ctx, x = floats({rows, size}), weight = floats({size})] {
            std::vector<mx::array> y;
            for (int32_t i = 0; i < kCalls; ++i)
              y.push_back(kernels::rms_norm(ctx, x, weight, 1e-6F));
            mx::eval(y);
          }};
}

Operation draw(const std::string& name, int32_t vocab, float top_p, int32_t logprobs) {
  Random random(5);
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
    list.push_back(attend(ctx, shape, sizes.cold_bytes));
  }
  for (const int32_t rows : {1, 8, 512}) list.push_back(rms_norm(ctx, rows, sizes.inputs));
  list.push_back(draw("draw", sizes.vocab, 1.0F, -1));
  list.push_back(draw("draw top-p, 5 logprobs", sizes.vocab, 0.95F, 5));
  return list;
}

}  // namespace paceline::engine
