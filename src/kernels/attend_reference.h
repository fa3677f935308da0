#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/attend_mask.h"
#include "kernels/attend_test_support.h"
#include "kernels/kv_codec.h"
#include "kernels/norm_test_support.h"

namespace paceline::kernels::testing {

/// The order of attend_kernel.h and math_inl.h once more, one number at a time.
class ReferenceAttend {
 public:
  /// The outputs of a forward, [T, heads, value_dim].
  static std::vector<float> run(const PagedRows& data, const AttendSpec& spec, KvEncoding encoding,
                                int live_begin = 0) {
    std::vector<float> out;
    for (std::size_t row = 0; row < data.shapes().size(); ++row) {
      const ReferenceAttend one(data, spec, encoding, static_cast<int32_t>(row), live_begin);
      const RowShape shape = data.shapes()[row];
      for (int q = shape.start; q < shape.start + shape.length; ++q) {
        for (int head = 0; head < data.heads; ++head) one.query(q, head, out);
      }
    }
    return out;
  }

 private:
  struct State {
    float m = -std::numeric_limits<float>::infinity();
    float l = 0.0F;
    std::vector<float> o;
  };

  ReferenceAttend(const PagedRows& data, const AttendSpec& spec, KvEncoding encoding, int32_t row,
                  int live_begin)
      : data_(data),
        spec_(spec),
        row_(row),
        live_{live_begin, data.shapes()[static_cast<std::size_t>(row)].start +
                              data.shapes()[static_cast<std::size_t>(row)].length},
        keys_(stored(data.keys(static_cast<std::size_t>(row)), encoding)),
        values_(stored(data.values(static_cast<std::size_t>(row)), encoding)) {
    live_.begin = std::min(live_.begin, live_.end);
  }

  static std::vector<float> stored(const std::vector<float>& values, KvEncoding encoding) {
    std::vector<std::byte> codes(values.size() * 4);
    std::vector<float> result(values.size());
    const auto count = static_cast<int64_t>(values.size());
    kv_encode(values.data(), count, encoding, codes.data());
    kv_decode(codes.data(), count, encoding, result.data());
    return result;
  }

  float score(int q, int head, int k) const {
    const int width = data_.key_dim(), kv = head / (data_.heads / data_.kv_heads());
    const float* query = data_.queries(static_cast<std::size_t>(row_)).data() +
                         (static_cast<int64_t>(q) * data_.heads + head) * width;
    const float* key = keys_.data() + (static_cast<int64_t>(k) * data_.kv_heads() + kv) * width;
    float sum = 0.0F;
    for (int d = 0; d < width; ++d) sum = std::fma(query[d], key[d], sum);
    sum *= spec_.scale;
    return spec_.softcap > 0.0F ? spec_.softcap * reference_tanh(sum / spec_.softcap) : sum;
  }

  float value(int head, int k, int d) const {
    const int kv = head / (data_.heads / data_.kv_heads());
    const int64_t at = static_cast<int64_t>(k) * data_.kv_heads() + kv;
    return spec_.v_from_k ? keys_[static_cast<std::size_t>(at * data_.key_dim() + d)]
                          : values_[static_cast<std::size_t>(at * data_.value_dim() + d)];
  }

  /// What the keys [begin, begin + 64) give a query; m = -inf: nothing.
  State block(int q, int head, int begin) const {
    State state;
    std::vector<std::pair<int, float>> seen;
    for (int k = std::max(begin, live_.begin); k < std::min(begin + kAttendBlock, live_.end); ++k) {
      if (allows(spec_.mask, row_, q, k)) seen.emplace_back(k, score(q, head, k));
    }
    for (const auto& [k, s] : seen) state.m = s > state.m ? s : state.m;
    if (state.m == -std::numeric_limits<float>::infinity()) return state;
    float lane[16] = {};
    for (auto& [k, s] : seen) {
      s = reference_exp(s - state.m);
      lane[k % 16] += s;
    }
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
    }
    state.l = lane[0];
    state.o.assign(static_cast<std::size_t>(data_.value_dim()), 0.0F);
    for (int d = 0; d < data_.value_dim(); ++d) {
      float& o = state.o[static_cast<std::size_t>(d)];
      for (const auto& [k, p] : seen) o = std::fma(p, value(head, k, d), o);
    }
    return state;
  }

  static void merge(State& state, const State& next) {
    const float m = state.m > next.m ? state.m : next.m;
    const float a = reference_exp(state.m - m), b = reference_exp(next.m - m);
    state.l = std::fma(next.l, b, state.l * a);
    for (std::size_t d = 0; d < state.o.size(); ++d) {
      state.o[d] = std::fma(next.o[d], b, state.o[d] * a);
    }
    state.m = m;
  }

  void query(int q, int head, std::vector<float>& out) const {
    State state;
    state.o.assign(static_cast<std::size_t>(data_.value_dim()), 0.0F);
    if (!spec_.sinks.empty()) {
      state.m = spec_.sinks[static_cast<std::size_t>(head)];
      state.l = 1.0F;
    }
    for (int begin = 0; begin < live_.end; begin += kAttendBlock) {
      const State next = block(q, head, begin);
      if (next.m == -std::numeric_limits<float>::infinity()) continue;
      if (state.m == -std::numeric_limits<float>::infinity()) {
        state = next;
      } else {
        merge(state, next);
      }
    }
    for (const float o : state.o) out.push_back(state.l == 0.0F ? 0.0F : o / state.l);
  }

  const PagedRows& data_;
  const AttendSpec& spec_;
  int32_t row_;
  LiveRange live_;
  std::vector<float> keys_, values_;  // as they are stored, decoded
};

}  // namespace paceline::kernels::testing
