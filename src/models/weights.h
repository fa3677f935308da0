#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/checkpoint.h"
#include "kernels/context.h"
#include "kernels/linear.h"
#include "models/model.h"
#include "nn/linear.h"

namespace paceline::models {

/// A tensor that an architecture reads, under its Hugging Face name.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;  ///< row major, [out, in] for a linear
  bool optional = false;
};
using Layout = std::vector<TensorSpec>;

/// The name in the file of a tensor known by its Hugging Face name: GGUF's short names
/// (docs/models.md), or the prefix that this folder uses in front of "model." and "lm_head.".
std::string stored_name(const formats::Checkpoint& checkpoint, const std::string& name);

/// Compares the layout with the file. Tensors that no architecture needs (rotary tables) are not
/// reported.
TensorReport compare(const formats::Checkpoint& checkpoint, const Layout& layout);

/// Throws Error{bad_checkpoint} listing what is missing or mis-shaped, Error{unsupported} for a
/// tensor inside a layer that the layout does not read.
void require_tensors(const formats::Checkpoint& checkpoint, const Layout& layout);

/// Loads the tensors of a layout. The constructor throws Error{bad_checkpoint} listing what is
/// missing or mis-shaped.
class Weights {
 public:
  Weights(const formats::Checkpoint& checkpoint, const Layout& layout, kernels::Context context,
          std::function<void(double)> progress);

  bool has(const std::string& name) const;
  /// Weight matrix "NAME.weight". `row_order`: see kernels::LinearWeight::pack.
  kernels::LinearWeight matrix(const std::string& name, std::span<const int32_t> row_order = {});
  /// One-dimensional tensor as f32, or nullopt when absent.
  std::optional<mlx::core::array> vector(const std::string& name,
                                         std::span<const int32_t> row_order = {});
  /// "NAME.weight" and, where present, "NAME.bias".
  nn::Linear linear(const std::string& name, std::span<const int32_t> row_order = {});
  /// vector() of a tensor that the layout requires.
  mlx::core::array required_vector(const std::string& name);

  int64_t parameters() const { return parameters_; }
  int64_t resident_bytes() const { return resident_bytes_; }

 private:
  const blocks::StoredTensor& stored(const std::string& name) const;
  void advance(const blocks::StoredTensor& tensor);
  void drop(std::span<const std::byte> bytes) const;

  const formats::Checkpoint& checkpoint_;
  kernels::Context context_;
  std::function<void(double)> progress_;
  int64_t bytes_total_ = 0;
  int64_t bytes_done_ = 0;
  int64_t parameters_ = 0;
  int64_t resident_bytes_ = 0;
};

}  // namespace paceline::models
