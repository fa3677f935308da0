#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/checkpoint.h"
#include "kernels/context.h"
#include "state/batch.h"
#include "state/store.h"

namespace paceline::models {

struct ForwardResult {
  mlx::core::array hidden;  ///< [T, H] f32, after the final norm
  std::map<std::string, mlx::core::array>
      taps;  ///< what was asked for at load: "pre_norm", "layer.N"
};

/// A loaded model. Engine thread only.
class Model {
 public:
  virtual ~Model() = default;
  /// Builds the graph of one forward over `store`'s state; the caller has called
  /// store.reserve(batch), evaluates the rows it wants, then calls store.commit(). Hidden rows that
  /// nobody wants are unspecified.
  virtual ForwardResult forward(const state::Batch& batch, state::StateStore& store) = 0;
  /// Logits f32 [R, vocab] of hidden rows [R, H].
  virtual mlx::core::array unembed(const mlx::core::array& hidden_rows) = 0;
  virtual state::StateSpec state_spec() const = 0;

  virtual int32_t vocab_size() const = 0;       ///< rows of the head; may exceed the tokenizer's
  virtual int32_t context_trained() const = 0;  ///< 0 when the file does not say
  virtual int64_t parameters() const = 0;
  virtual int64_t resident_bytes() const = 0;
  /// False when an operation in use is not row independent.
  virtual bool exact() const = 0;
};

struct ModelOptions {
  kernels::Context context;       ///< threads, instruction set, portable or not
  std::vector<std::string> taps;  ///< see ForwardResult::taps
};

/// Builds the model of the checkpoint's architecture. Throws Error{unsupported} for unknown
/// architectures (naming the known ones) and for config values that change the maths and are not
/// handled, Error{bad_checkpoint} for missing or mis-shaped tensors. `progress`, if set, is called
/// with the fraction done.
std::unique_ptr<Model> load_model(const formats::Checkpoint& checkpoint,
                                  const ModelOptions& options,
                                  const std::function<void(double)>& progress = {});

/// Throws what load_model() would, from headers alone.
void check_loadable(const formats::Checkpoint& checkpoint);

struct TensorReport {
  std::string
      architecture;  ///< the one compared with: the file's own or the nearest known; may be empty
  std::vector<std::string> missing;     ///< names the architecture expects
  std::vector<std::string> extra;       ///< names nobody reads
  std::vector<std::string> mis_shaped;  ///< "name: found [..], expected [..]"
};
/// Compares the checkpoint's tensors with what its architecture expects, from headers alone.
TensorReport check_tensors(const formats::Checkpoint& checkpoint);

/// Names of the known architectures ("llama", ...).
std::vector<std::string> architectures();
/// Whether load_model() knows a general.architecture or model_type.
bool is_supported(const std::string& architecture);

}  // namespace paceline::models
