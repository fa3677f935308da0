#include <algorithm>
#include <string>
#include <vector>

#include "formats/file_context.h"
#include "formats/mlx_quantization.h"

namespace paceline::formats {
namespace {

using blocks::Encoding;
using blocks::StoredTensor;

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

/// bits * group_size is all that the shapes of codes and scales tell.
bool shapes_fit(const StoredTensor& weight, const StoredTensor& scales, const MlxParameters& p) {
  if (weight.shape.size() < 2 || weight.shape.size() != scales.shape.size()) return false;
  if (!std::equal(weight.shape.begin(), weight.shape.end() - 1, scales.shape.begin())) return false;
  int64_t stream_bits = 0, group_bits = 0;
  return multiply(weight.columns(), 32, stream_bits) &&
         multiply(scales.columns(), int64_t{p.bits} * p.group_size, group_bits) && stream_bits == group_bits;
}

bool scale_type_fits(Encoding scales, Encoding mode) {
  if (mode != Encoding::mlx_affine) return scales == Encoding::u8;
  return scales == Encoding::f16 || scales == Encoding::bf16 || scales == Encoding::f32;
}

class Folder {
 public:
  Folder(TensorMap& tensors, const MlxQuantization& quantization, const FileContext& file)
      : tensors_(tensors), quantization_(quantization), file_(file) {
    if (quantization.global) candidates_.push_back(*quantization.global);
    for (const auto& [path, parameters] : quantization.modules) {
      if (parameters && std::find(candidates_.begin(), candidates_.end(), *parameters) == candidates_.end()) {
        candidates_.push_back(*parameters);
      }
    }
  }

  void fold(const std::string& path, StoredTensor& weight) {
    const auto scales = tensors_.find(path + ".scales");
    if (scales == tensors_.end()) return;
    const std::string where = "tensor " + shown(weight.name) + ": ";
    if (weight.encoding != Encoding::u32) {
      file_.bad(where + "type " + std::string(blocks::info(weight.encoding).name) + " beside .scales, expected U32");
    }
    const MlxParameters parameters = choose(path, weight, scales->second, where);
    blocks::MlxGroups groups{parameters.bits, parameters.group_size, scales->second.encoding, scales->second.data, {}};
    groups.biases = take_biases(path, parameters, scales->second, where);
    weight.encoding = parameters.mode;
    weight.shape.back() = scales->second.columns() * parameters.group_size;
    weight.groups = groups;
    check_words(weight, where);
    tensors_.erase(scales);
  }

 private:
  /// The entry of config.json for this path or for a tail of it (a wrapper may have put its own
  /// name in front); else the global values; else the only listed parameters that fit the shapes.
  MlxParameters choose(const std::string& path, const StoredTensor& weight, const StoredTensor& scales,
                       const std::string& where) const {
    const auto fits = [&](const MlxParameters& p) {
      return scale_type_fits(scales.encoding, p.mode) && shapes_fit(weight, scales, p);
    };
    if (const auto* own = find_module(path)) {
      if (!*own) file_.bad(where + "has .scales, but config.json says it is not quantised");
      if (fits(**own)) return **own;
      mismatch(**own, weight, scales, where);
    }
    if (candidates_.empty()) file_.bad(where + "has .scales, but config.json has no quantization");
    if (quantization_.global && fits(*quantization_.global)) return *quantization_.global;
    if (std::count_if(candidates_.begin(), candidates_.end(), fits) != 1) {
      mismatch(candidates_.front(), weight, scales, where);
    }
    return *std::find_if(candidates_.begin(), candidates_.end(), fits);
  }

  const std::optional<MlxParameters>* find_module(std::string_view path) const {
    while (true) {
      const auto at = quantization_.modules.find(path);
      if (at != quantization_.modules.end()) return &at->second;
      const std::size_t dot = path.find('.');
      if (dot == std::string_view::npos) return nullptr;
      path.remove_prefix(dot + 1);
    }
  }

  std::span<const std::byte> take_biases(const std::string& path, const MlxParameters& parameters,
                                         const StoredTensor& scales, const std::string& where) {
    const auto biases = tensors_.find(path + ".biases");
    const bool present = biases != tensors_.end();
    if (present != (parameters.mode == Encoding::mlx_affine)) {
      file_.bad(where + (present ? "has .biases, expected none" : "has no .biases, expected them") + " in mode " +
                std::string(blocks::info(parameters.mode).name));
    }
    if (!present) return {};
    if (biases->second.encoding != scales.encoding || biases->second.shape != scales.shape) {
      file_.bad(where + ".biases " + shape_text(biases->second.shape) + " of type " +
                std::string(blocks::info(biases->second.encoding).name) + ", expected those of .scales " +
                shape_text(scales.shape) + " of type " + std::string(blocks::info(scales.encoding).name));
    }
    const std::span<const std::byte> data = biases->second.data;
    tensors_.erase(biases);
    return data;
  }

  /// Groups of 16 allow rows of half a 32-value run; packing needs whole runs.
  void check_words(const StoredTensor& weight, const std::string& where) const {
    if (weight.columns() % 32 != 0 || weight.columns() == 0) {
      file_.bad(where + "rows of " + std::to_string(weight.columns()) + " values, expected a multiple of 32");
    }
  }

  [[noreturn]] void mismatch(const MlxParameters& p, const StoredTensor& weight, const StoredTensor& scales,
                             const std::string& where) const {
    file_.bad(where + "codes " + shape_text(weight.shape) + " and scales " + shape_text(scales.shape) + " of type " +
              std::string(blocks::info(scales.encoding).name) + " do not fit " + std::to_string(p.bits) +
              " bits in groups of " + std::to_string(p.group_size) + ", mode " +
              std::string(blocks::info(p.mode).name));
  }

  TensorMap& tensors_;
  const MlxQuantization& quantization_;
  const FileContext& file_;
  std::vector<MlxParameters> candidates_;  // each listed combination once
};

}  // namespace

void fold_mlx(TensorMap& tensors, const MlxQuantization& quantization, const FileContext& file) {
  constexpr std::string_view kSuffix = ".weight";
  Folder folder(tensors, quantization, file);
  // Erasing other entries leaves this iterator valid, but may remove the next one: step after
  // folding.
  for (auto at = tensors.begin(); at != tensors.end(); ++at) {
    const std::string& name = at->first;
    if (name.ends_with(kSuffix)) folder.fold(name.substr(0, name.size() - kSuffix.size()), at->second);
  }
}

}  // namespace paceline::formats
