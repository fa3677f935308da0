#include "kernels/packed/pack.h"

#include <array>
#include <cstring>
#include <string>

#include "blocks/decoders.h"
#include "kernels/packed/list.h"
#include "paceline/error.h"

namespace paceline::kernels::packed {
namespace {

using blocks::StoredTensor;

struct Format {
  bool (*takes)(const StoredTensor&);
  Layout (*layout)(const StoredTensor&);
  void (*pack_unit)(const Layout&, const PackRows&, int64_t, uint8_t*);
};

template <class... Formats>
constexpr std::array<Format, sizeof...(Formats)> formats(List<Formats...>) {
  return {Format{&Formats::takes, &Formats::layout, &Formats::pack_unit}...};
}

constexpr auto kCodeFormats = formats(CodeFormats{});
constexpr auto kFloatFormats = formats(FloatFormats{});

template <std::size_t N>
bool find(const std::array<Format, N>& all, const StoredTensor& tensor, Layout& out) {
  for (std::size_t i = 0; i < N; ++i) {
    if (!all[i].takes(tensor)) continue;
    out = all[i].layout(tensor);
    out.format = static_cast<int>(i);
    out.chunk_bytes = kChunkInputs / out.unit_inputs * out.unit_bytes;
    return true;
  }
  return false;
}

/// What decode_rows would refuse.
void check_bytes(const StoredTensor& tensor) {
  if (blocks::is_mlx(tensor.encoding)) {
    blocks::check_mlx(tensor);
    return;
  }
  const blocks::EncodingInfo& info = blocks::info(tensor.encoding);
  const int64_t columns = tensor.columns();
  const int64_t expected = columns % info.block_values == 0
                               ? tensor.values() / info.block_values * info.block_bytes
                               : -1;
  if (static_cast<int64_t>(tensor.data.size()) == expected) return;
  throw Error(ErrorCode::invalid_argument,
              "[linear] tensor '" + tensor.name + "' of type " + std::string(info.name) + " has " +
                  std::to_string(tensor.data.size()) + " bytes and rows of " +
                  std::to_string(columns) + " values, expected " +
                  (expected < 0 ? "rows of whole blocks of " + std::to_string(info.block_values)
                                : std::to_string(expected) + " bytes"));
}

}  // namespace

Layout layout_of(const StoredTensor& tensor) {
  Layout layout;
  if (!find(kCodeFormats, tensor, layout) && !find(kFloatFormats, tensor, layout)) {
    throw Error(ErrorCode::unsupported, "[linear] tensor '" + tensor.name + "' is stored as " +
                                            std::string(blocks::info(tensor.encoding).name) +
                                            ", which no product takes");
  }
  check_bytes(tensor);
  return layout;
}

PackRows rows_of(const StoredTensor& tensor, const int64_t* rows) {
  PackRows out;
  out.inputs = tensor.columns();
  const auto* data = reinterpret_cast<const uint8_t*>(tensor.data.data());
  const int64_t stored = std::max<int64_t>(tensor.rows(), 1);
  const int64_t row_bytes = static_cast<int64_t>(tensor.data.size()) / stored;
  for (int lane = 0; lane < kTileOutputs; ++lane) {
    if (rows[lane] < 0) continue;
    PackRow& to = out.lanes[lane];
    to.codes = data + rows[lane] * row_bytes;
    if (!tensor.groups) continue;
    const auto side = [&](std::span<const std::byte> bytes) {
      const int64_t stride = static_cast<int64_t>(bytes.size()) / stored;
      return reinterpret_cast<const uint8_t*>(bytes.data()) + rows[lane] * stride;
    };
    to.scales = side(tensor.groups->scales);
    to.biases = side(tensor.groups->biases);
  }
  return out;
}

void pack_tile(const Layout& layout, const PackRows& rows, uint8_t* tile) {
  const auto at = static_cast<std::size_t>(layout.format);
  const auto pack = layout.codes ? kCodeFormats[at].pack_unit : kFloatFormats[at].pack_unit;
  const int64_t units = (rows.inputs + layout.unit_inputs - 1) / layout.unit_inputs;
  for (int64_t unit = 0; unit < units; ++unit, tile += layout.unit_bytes) {
    std::memset(tile, 0, static_cast<std::size_t>(layout.unit_bytes));
    pack(layout, rows, unit, tile);
  }
}

}  // namespace paceline::kernels::packed
