#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "formats/byte_reader.h"
#include "formats/gguf.h"

namespace paceline::formats {
namespace {

using blocks::Encoding;
using blocks::StoredTensor;

constexpr uint64_t kSignedMax = std::numeric_limits<int64_t>::max();

struct Entry {
  StoredTensor tensor;
  uint64_t offset = 0;  ///< from the start of the data
  uint64_t size = 0;
};

class EntryReader {
 public:
  EntryReader(ByteReader& reader, const FileContext& file) : reader_(reader), file_(file) {}

  Entry read() {
    Entry entry;
    entry.tensor.name = name();
    where_ = "tensor " + shown(entry.tensor.name) + ": ";
    entry.tensor.shape = shape();
    entry.tensor.encoding = encoding();
    entry.size = data_size(entry.tensor);
    entry.offset = reader_.number<uint64_t>("a tensor's offset");
    return entry;
  }

 private:
  std::string name() {
    const auto size = reader_.number<uint64_t>("a tensor name's length");
    if (size == 0 || size > GgufLimits::kNameBytesMax) {
      file_.bad("a tensor name of " + std::to_string(size) + " bytes at byte " +
                std::to_string(reader_.position()) + ", expected 1 to " +
                std::to_string(GgufLimits::kNameBytesMax));
    }
    const std::string_view text = reader_.text(size, "a tensor name");
    const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (!std::all_of(text.begin(), text.end(), printable)) {
      file_.bad("tensor name " + shown(text) + ": not printable ASCII");
    }
    return std::string(text);
  }

  /// The file lists the contiguous axis first; ours is row major.
  std::vector<int64_t> shape() {
    constexpr uint32_t kDimsMax = 4;
    const auto dims = reader_.number<uint32_t>("a tensor's dimension count");
    if (dims == 0 || dims > kDimsMax) {
      file_.bad(where_ + std::to_string(dims) + " dimensions, expected 1 to 4");
    }
    std::vector<int64_t> shape(dims);
    for (uint32_t i = 0; i < dims; ++i) {
      const auto extent = reader_.number<uint64_t>("a tensor's dimensions");
      if (extent == 0 || extent > kSignedMax) {
        file_.bad(where_ + "a dimension of " + std::to_string(extent) + ", expected 1 to 2^63 - 1");
      }
      shape[dims - 1 - i] = static_cast<int64_t>(extent);
    }
    return shape;
  }

  Encoding encoding() {
    const auto type = reader_.number<uint32_t>("a tensor's type");
    const auto found = gguf_encoding(type);
    if (!found) file_.unsupported(where_ + "type number " + std::to_string(type) + " is unknown");
    return *found;
  }

  uint64_t data_size(const StoredTensor& tensor) const {
    const blocks::EncodingInfo& format = blocks::info(tensor.encoding);
    if (tensor.columns() % format.block_values != 0) {
      file_.bad(where_ + "rows of " + std::to_string(tensor.columns()) +
                " values, expected whole " + std::string(format.name) + " blocks of " +
                std::to_string(format.block_values));
    }
    int64_t size = tensor.columns() / format.block_values;
    bool fits = multiply(size, format.block_bytes, size);
    for (std::size_t i = 0; fits && i + 1 < tensor.shape.size(); ++i) {
      fits = multiply(size, tensor.shape[i], size);
    }
    int64_t values = 1;
    for (const int64_t extent : tensor.shape) fits = fits && multiply(values, extent, values);
    if (!fits) file_.bad(where_ + "its size does not fit 63 bits");
    return static_cast<uint64_t>(size);
  }

  ByteReader& reader_;
  const FileContext& file_;
  std::string where_;
};

void check_unique_names(const std::vector<Entry>& entries, const FileContext& file) {
  std::set<std::string_view> names;
  for (const Entry& entry : entries) {
    if (!names.insert(entry.tensor.name).second) {
      file.bad("tensor " + shown(entry.tensor.name) + ": stored twice");
    }
  }
}

void check_overlaps(const std::vector<Entry>& entries, const FileContext& file) {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->offset + order[i - 1]->size > order[i]->offset) {
      file.bad("tensor " + shown(order[i]->tensor.name) + ": overlaps tensor " +
               shown(order[i - 1]->tensor.name));
    }
  }
}

void check_bounds(const Entry& entry, uint64_t alignment, uint64_t data_bytes,
                  const FileContext& file) {
  const std::string where = "tensor " + shown(entry.tensor.name) + ": ";
  if (entry.offset % alignment != 0) {
    file.bad(where + "offset " + std::to_string(entry.offset) + ", expected a multiple of " +
             std::to_string(alignment));
  }
  if (entry.offset > data_bytes || entry.size > data_bytes - entry.offset) {
    file.bad(where + std::to_string(entry.size) + " bytes at offset " +
             std::to_string(entry.offset) + ", the file holds " + std::to_string(data_bytes) +
             " bytes of data (cut short?)");
  }
}

}  // namespace

std::optional<Encoding> gguf_encoding(uint32_t type) {
  using enum Encoding;
  constexpr std::optional<Encoding> none;
  constexpr std::optional<Encoding> kTypes[] = {
      f32,   f16,    q4_0,  q4_1, none, none,    q5_0,   q5_1,       q8_0,  q8_1,   q2_k,
      q3_k,  q4_k,   q5_k,  q6_k, q8_k, iq2_xxs, iq2_xs, iq3_xxs,    iq1_s, iq4_nl, iq3_s,
      iq2_s, iq4_xs, i8,    i16,  i32,  i64,     f64,    iq1_m,      bf16,  none,   none,
      none,  tq1_0,  tq2_0, none, none, none,    mxfp4,  gguf_nvfp4, q1_0,  q2_0};
  static_assert(std::size(kTypes) == 43);
  if (type >= std::size(kTypes)) return std::nullopt;
  return kTypes[type];
}

std::vector<StoredTensor> read_gguf_tensors(ByteReader& reader, uint64_t count,
                                            std::span<const std::byte> bytes, uint64_t alignment,
                                            const FileContext& file) {
  std::vector<Entry> entries;
  EntryReader one(reader, file);
  for (uint64_t i = 0; i < count; ++i) entries.push_back(one.read());
  check_unique_names(entries, file);

  const uint64_t start = (reader.position() + alignment - 1) / alignment * alignment;
  const std::span<const std::byte> data = bytes.subspan(std::min<uint64_t>(start, bytes.size()));
  std::vector<StoredTensor> tensors;
  for (const Entry& entry : entries) check_bounds(entry, alignment, data.size(), file);
  check_overlaps(entries, file);
  for (Entry& entry : entries) {
    entry.tensor.data = data.subspan(entry.offset, entry.size);
    tensors.push_back(std::move(entry.tensor));
  }
  return tensors;
}

}  // namespace paceline::formats
