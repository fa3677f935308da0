#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace paceline::kernels {

/// Queries [q_begin, q_end) of one batch row may see keys [k_begin, k_end) although they lie in the
/// future. Absolute positions. A window still hides keys at or before q - window.
struct MaskRectangle {
  int32_t row = 0;
  int32_t q_begin = 0, q_end = 0;
  int32_t k_begin = 0, k_end = 0;
  bool operator==(const MaskRectangle&) const = default;
};

/// A logical mask: what the model means, independent of how keys are stored. A small comparable
/// value.
struct Mask {
  bool causal = true;
  int32_t window = 0;  ///< 0 = unlimited; else a query at p sees keys in (p - window, p]
  std::vector<MaskRectangle> relaxed;
  bool operator==(const Mask&) const = default;

  static Mask none() { return {.causal = false, .window = 0, .relaxed = {}}; }
  static Mask causal_only() { return {}; }
  static Mask sliding(int32_t tokens) { return {.causal = true, .window = tokens, .relaxed = {}}; }
};

/// Whether the query at absolute position q of batch row `row` may see the key at absolute position
/// k.
bool allows(const Mask& mask, int32_t row, int32_t q, int32_t k);

/// How a layer attends. Scores are scale * q.k, soft-capped, masked, then a softmax (with one extra
/// sink logit per head where the model has sinks).
struct AttendSpec {
  float scale = 1.0F;
  Mask mask;
  float softcap = 0.0F;      ///< 0 = off; c * tanh(score / c)
  std::vector<float> sinks;  ///< per query head, or empty
  bool v_from_k = false;     ///< V is the first value_dim features of K (latent attention)
};

/// One row of a ragged batch: tokens [token_begin, token_begin + length) are its positions [start,
/// start + length).
struct RowSpan {
  int32_t token_begin = 0;
  int32_t length = 0;
  int32_t start = 0;
  bool operator==(const RowSpan&) const = default;
};

/// The rows of one forward. Immutable per step, shared by every node of its graph.
using RowTable = std::vector<RowSpan>;
using RowTablePtr = std::shared_ptr<const RowTable>;

enum class KvEncoding : uint8_t { f32, bf16, f16 };

/// Tokens per absolute block: attention reduces a block against its own maximum and merges blocks
/// left to right. Independent of the page size, so that a result does not depend on storage.
inline constexpr int32_t kAttendBlock = 64;

/// Tokens whose keys lie side by side, one feature after another.
inline constexpr int32_t kKeyLanes = 16;

/// Where one row's keys and values of one layer live. Page i holds absolute positions
/// [first_position + i * page_tokens, ...). Values: [kv_heads][page_tokens][value_dim]. Keys lie
/// transposed in groups of kKeyLanes tokens, as the kernels read them:
/// [kv_heads][page_tokens / 16][key_dim][16]; in pages of another size a page is one group.
struct KvRowPages {
  int32_t first_position = 0;  ///< absolute position of page 0, slot 0; a multiple of page_tokens
  int32_t live_begin = 0;      ///< keys before it are gone (sliding layers)
  int32_t live_end = 0;        ///< one past the last key after this forward's update
  std::vector<std::byte*> keys;
  std::vector<std::byte*> values;
};

/// Everything a kernel needs to read or write one layer's pages in one forward. Captured by value.
struct KvDesc {
  KvEncoding encoding = KvEncoding::bf16;
  int32_t page_tokens = 64;
  int32_t kv_heads = 0;
  int32_t key_dim = 0;
  int32_t value_dim = 0;
  std::vector<KvRowPages> rows;  ///< one per row of the RowTable, same order
};
using KvDescPtr = std::shared_ptr<const KvDesc>;

}  // namespace paceline::kernels
