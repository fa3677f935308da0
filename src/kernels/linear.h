#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "blocks/stored_tensor.h"
#include "kernels/context.h"

namespace paceline::kernels {

/// The weights [outputs, inputs] of a linear layer or an embedding table in the form the kernels
/// read: as stored in the file, in tiles of 16 outputs (packed::Layout), or a plain f32 array on
/// the portable path. Cheap to copy (shared, immutable).
class LinearWeight {
 public:
  /// Packs, tiles in parallel on ctx.pool. `row_order`, if given, lists for each output the stored
  /// row it comes from. Throws what blocks::decode_rows throws; Error{bad_checkpoint} unless the
  /// tensor has two axes.
  static LinearWeight pack(const Context& ctx, const blocks::StoredTensor& tensor,
                           std::span<const int32_t> row_order = {});

  int64_t outputs() const;
  int64_t inputs() const;
  int64_t resident_bytes() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// y = x W^T (+ bias) (+ residual). x [T, K] f32, bias [N] f32, residual [T, N] f32; returns [T, N]
/// f32. Per output, ctx.numerics exact (and weights that are no integer codes): one chain
/// acc = fma(x[k], w[k], acc), k ascending from acc = 0; fast: the order of packed::DotArgs, groups
/// ascending from acc = 0. Then + bias; then + residual. Bits of a row do not depend on T, threads
/// or instruction set. Throws Error{invalid_argument} on a shape or dtype mismatch.
mlx::core::array linear(const Context& ctx, const mlx::core::array& x, const LinearWeight& weight,
                        const std::optional<mlx::core::array>& bias = std::nullopt,
                        const std::optional<mlx::core::array>& residual = std::nullopt);

/// A weight and its bias [N] f32.
struct LinearPart {
  LinearWeight weight;
  std::optional<mlx::core::array> bias;
};

/// linear(x, part) of every part in one operation, equal bit for bit: [T, N of the part] each.
std::vector<mlx::core::array> linear_each(const Context& ctx, const mlx::core::array& x,
                                          const std::vector<LinearPart>& parts);

/// Output tiles of 16, by number, each in range, in the order wanted.
using TileList = std::shared_ptr<const std::vector<int32_t>>;

/// Columns [16 t, 16 t + 16) of linear(x, weight) for every tile t of the list, side by side: [T,
/// 16
/// * tiles]. Columns beyond N are -inf.
mlx::core::array linear_tiles(const Context& ctx, const mlx::core::array& x,
                              const LinearWeight& weight, const TileList& tiles);

/// silu(x) = x / (1 + exp(-x)); gelu_tanh = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
enum class Activation { silu, gelu_tanh };

/// Biases [N] f32 of the two products of gated_linear().
struct GatedBias {
  std::optional<mlx::core::array> gate, up;
};

/// act(x Wg^T + bg) * (x Wu^T + bu): [T, K] -> [T, N]. Equal bit for bit to its parts.
mlx::core::array gated_linear(const Context& ctx, const mlx::core::array& x,
                              const LinearWeight& gate, const LinearWeight& up,
                              Activation activation, const GatedBias& bias = {});

/// Rows of the table, times `scale`: tokens i32 [T] -> [T, K] f32. Ids outside the table give
/// zeros.
mlx::core::array embed(const Context& ctx, const mlx::core::array& tokens,
                       const LinearWeight& table, float scale);

}  // namespace paceline::kernels
