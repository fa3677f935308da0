#include "engine/limits.h"

#include <algorithm>
#include <string>

#include "base/memory.h"
#include "paceline/error.h"

namespace paceline::engine {
namespace {

constexpr int32_t kContextDefault = 8192;

std::string gigabytes(int64_t bytes) {
  const int64_t tenths = bytes / 100'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
}

void check_fits(int64_t bytes, const std::string& what, const std::string& advice) {
  const std::optional<int64_t> available = base::available_memory();
  if (!available || bytes <= *available) return;
  throw Error(ErrorCode::out_of_memory, "[load] " + what + " need " + gigabytes(bytes) +
                                            " of memory, found " + gigabytes(*available) +
                                            " available; " + advice);
}

}  // namespace

int32_t resolve_context(int32_t asked, int32_t trained) {
  if (asked == 0) return trained > 0 ? std::min(trained, kContextDefault) : kContextDefault;
  if (trained > 0 && asked > trained) {
    throw Error(ErrorCode::invalid_argument,
                "[load] context is " + std::to_string(asked) + ", expected at most the " +
                    std::to_string(trained) + " that the model was trained for");
  }
  return asked;
}

void check_weights_fit(const formats::Checkpoint& checkpoint, bool portable) {
  int64_t values = 0;
  int64_t bytes = 0;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    values += tensor.values();
    bytes += static_cast<int64_t>(tensor.data.size());
    if (tensor.groups) {
      bytes += static_cast<int64_t>(tensor.groups->scales.size() + tensor.groups->biases.size());
    }
  }
  constexpr double kPacked = 1.08;  // the most that packing adds
  const int64_t needed = portable ? values * static_cast<int64_t>(sizeof(float))
                                  : static_cast<int64_t>(static_cast<double>(bytes) * kPacked);
  check_fits(needed, portable ? "the weights (unpacked to f32)" : "the weights",
             "close other programs or choose a smaller model");
}

void check_context_fits(int32_t context, int64_t bytes) {
  check_fits(bytes, "keys and values of " + std::to_string(context) + " tokens",
             "choose a smaller context (--ctx)");
}

}  // namespace paceline::engine
