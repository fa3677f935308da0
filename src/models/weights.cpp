#include "models/weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"
#include "paceline/error.h"

namespace paceline::models {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

/// Tables that some files carry and nobody reads: rotary frequencies are derived from the
/// configuration, GGUF's rope_freqs are read by the configuration itself.
bool is_ignorable(const std::string& name) {
  return name.ends_with("rotary_emb.inv_freq") || name.rfind("rope_f", 0) == 0;
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i)
    text += (i == 0 ? "" : "; ") + names[i];
  if (names.size() > kShown) text += "; and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

}  // namespace

TensorReport compare(const formats::Checkpoint& checkpoint, const Layout& layout) {
  TensorReport report;
  std::set<std::string> known;
  for (const TensorSpec& spec : layout) {
    const std::string name = stored_name(checkpoint, spec.name);
    known.insert(name);
    const blocks::StoredTensor* tensor = checkpoint.find(name);
    if (tensor == nullptr) {
      if (!spec.optional) report.missing.push_back(name);
    } else if (tensor->shape != spec.shape) {
      report.mis_shaped.push_back(name + ": found " + shape_text(tensor->shape) + ", expected " +
                                  shape_text(spec.shape));
    }
  }
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (known.count(name) == 0 && !is_ignorable(name)) report.extra.push_back(name);
  }
  return report;
}

namespace {

/// "blk.3." of "blk.3.attn_q.weight", "a.layers.3." of "a.layers.3.b"; empty for names outside
/// layers.
std::string layer_part(const std::string& name) {
  for (const std::string_view marker : {"layers.", "blk."}) {
    const size_t at = name.find(marker);
    if (at == std::string::npos) continue;
    const size_t dot = name.find('.', at + marker.size());
    if (dot != std::string::npos) return name.substr(0, dot + 1);
  }
  return {};
}

/// A tensor inside a layer that nobody reads (a bias, a sink, another norm) would change what the
/// layer computes.
void refuse_unread_layer_tensors(const formats::Checkpoint& checkpoint, const Layout& layout,
                                 const std::vector<std::string>& extra) {
  std::set<std::string> layers;
  for (const TensorSpec& spec : layout)
    layers.insert(layer_part(stored_name(checkpoint, spec.name)));
  layers.erase("");
  for (const std::string& name : extra) {
    if (layers.count(layer_part(name)) == 0) continue;
    throw Error(ErrorCode::unsupported,
                "[weights] tensor '" + name +
                    "' is not known for this architecture and could change its results");
  }
}

}  // namespace

void require_tensors(const formats::Checkpoint& checkpoint, const Layout& layout) {
  const TensorReport report = compare(checkpoint, layout);
  if (!report.missing.empty()) {
    throw Error(ErrorCode::bad_checkpoint,
                "[weights] missing tensors: " + first_of(report.missing));
  }
  if (!report.mis_shaped.empty()) {
    throw Error(ErrorCode::bad_checkpoint, "[weights] tensor " + first_of(report.mis_shaped));
  }
  refuse_unread_layer_tensors(checkpoint, layout, report.extra);
}

Weights::Weights(const formats::Checkpoint& checkpoint, const Layout& layout,
                 kernels::Context context, std::function<void(double)> progress)
    : checkpoint_(checkpoint), context_(std::move(context)), progress_(std::move(progress)) {
  require_tensors(checkpoint, layout);
  for (const TensorSpec& spec : layout) {
    if (has(spec.name)) bytes_total_ += static_cast<int64_t>(stored(spec.name).data.size());
  }
}

bool Weights::has(const std::string& name) const {
  return checkpoint_.find(stored_name(checkpoint_, name)) != nullptr;
}

const blocks::StoredTensor& Weights::stored(const std::string& name) const {
  const blocks::StoredTensor* tensor = checkpoint_.find(stored_name(checkpoint_, name));
  PACELINE_ASSERT(tensor != nullptr);  // the constructor checked the layout
  return *tensor;
}

void Weights::advance(const blocks::StoredTensor& tensor) {
  drop(tensor.data);  // the packed copy serves from here on
  if (tensor.groups) {
    drop(tensor.groups->scales);
    drop(tensor.groups->biases);
  }
  bytes_done_ += static_cast<int64_t>(tensor.data.size());
  parameters_ += tensor.values();
  if (progress_)
    progress_(bytes_total_ > 0
                  ? static_cast<double>(bytes_done_) / static_cast<double>(bytes_total_)
                  : 1);
}

void Weights::drop(std::span<const std::byte> bytes) const {
  for (const auto& file : checkpoint_.files) file->drop_resident(bytes);
}

kernels::LinearWeight Weights::matrix(const std::string& name, std::span<const int32_t> row_order) {
  const blocks::StoredTensor& tensor = stored(name + ".weight");
  kernels::LinearWeight weight = kernels::LinearWeight::pack(context_, tensor, row_order);
  resident_bytes_ += weight.resident_bytes();
  advance(tensor);
  return weight;
}

std::optional<mlx::core::array> Weights::vector(const std::string& name,
                                                std::span<const int32_t> row_order) {
  if (!has(name)) return std::nullopt;
  const blocks::StoredTensor& tensor = stored(name);
  const auto size = static_cast<size_t>(tensor.values());
  std::vector<float> values(size);
  blocks::decode_rows(tensor, 0, tensor.rows(), values);
  std::vector<float> ordered(values);
  PACELINE_ASSERT(row_order.empty() || row_order.size() == size);
  for (size_t i = 0; i < row_order.size(); ++i)
    ordered[i] = values[static_cast<size_t>(row_order[i])];
  resident_bytes_ += static_cast<int64_t>(size * sizeof(float));
  advance(tensor);
  return mlx::core::array(ordered.data(), {static_cast<int>(size)}, mlx::core::float32);
}

mlx::core::array Weights::required_vector(const std::string& name) {
  std::optional<mlx::core::array> found = vector(name);
  PACELINE_ASSERT(found.has_value());
  return *std::move(found);
}

nn::Linear Weights::linear(const std::string& name, std::span<const int32_t> row_order) {
  return {.weight = matrix(name, row_order), .bias = vector(name + ".bias", row_order)};
}

}  // namespace paceline::models
