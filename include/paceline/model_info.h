#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline {

/// What a loaded model is.
struct ModelInfo {
  std::string name;          ///< file or folder name
  std::string architecture;  ///< "llama", "qwen2", "qwen3", "gemma3"
  int64_t parameters = 0;
  int64_t file_bytes = 0;
  int64_t resident_bytes = 0;  ///< weights in memory
  int64_t step_bytes = 0;  ///< of them, what every step reads: not an embedding table of its own
  int32_t vocab_size = 0;
  int32_t context_trained = 0;  ///< what the model was trained for
  int32_t context = 0;          ///< what it was loaded for
  bool has_chat_template = false;
  bool exact = false;           ///< the exactness contract holds for every operation in use
  std::string numerics;         ///< "exact" or "fast"
  std::string instruction_set;  ///< kernels in use, e.g. "avx512"
  int32_t threads = 0;
  double load_ms = 0;
};

}  // namespace paceline
