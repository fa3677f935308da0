#include <doctest/doctest.h>
#include <mlx/ops.h>

#include <limits>

#include "kernels/guarded_memory.h"
#include "kernels/linear.h"
#include "kernels/linear_run.h"
#include "kernels/linear_weight.h"
#include "kernels/packed/bytes_generic.h"
#include "kernels/packed/dot.h"
#include "kernels/packed/list.h"
#include "kernels/packed_test_support.h"
#include "kernels/panel.h"
#include "kernels/test_support.h"
#include "paceline/error.h"

namespace mx = mlx::core;
using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

/// One row of activations as the header of packed::Panel says, in plain C++.
struct ReferenceRow {
  std::vector<int> codes;
  std::vector<float> scales;

  explicit ReferenceRow(std::span<const float> x) {
    for (std::size_t at = 0; at < x.size(); at += 32) {
      float greatest = 0.0F;
      bool finite = true;
      for (const float value : x.subspan(at, 32)) {
        finite = finite && std::isfinite(value);
        greatest = std::max(greatest, std::fabs(value));
      }
      const bool zero = !finite || greatest < 0x1p-100F;
      for (const float value : x.subspan(at, 32)) {
        codes.push_back(zero ? 0 : static_cast<int>(std::nearbyint(value * (127.0F / greatest))));
      }
      scales.push_back(!finite ? NAN : zero ? 0.0F : greatest / 127.0F);
    }
  }
};

/// One weight in parts: w = scale * (code - zero) [+ min].
struct WeightParts {
  int code = 0;
  float scale = 0.0F;
  float min = 0.0F;
};

template <class Format>
WeightParts parts_at(const packed::Layout& layout, const uint8_t* chunk, int k, int lane) {
  using Chunk = packed::Chunk<packed::BytesGeneric, Format>;
  const Chunk from(layout, chunk);
  const int group = k / layout.group;
  WeightParts parts;
  parts.code = from.quad(k / 32, k % 32 / 4).v[lane * 4 + k % 4];
  parts.scale = from.scale(group).v[lane];
  if constexpr (Chunk::kMins) parts.min = from.min(group).v[lane];
  return parts;
}
template <class... Formats>
WeightParts parts_of(const packed::Layout& layout, const uint8_t* chunk, int k, int lane,
                     packed::List<Formats...>) {
  using Function = WeightParts (*)(const packed::Layout&, const uint8_t*, int, int);
  static constexpr Function kAll[] = {&parts_at<Formats>...};
  return kAll[layout.format](layout, chunk, k, lane);
}

/// The fast order of packed::DotArgs, one output at a time.
float reference_fast(const LinearWeight::Impl& w, const ReferenceRow& x, int64_t output) {
  const packed::Layout& layout = w.layout;
  const uint8_t* tile = w.tiles.get() + output / 16 * layout.tile_bytes(w.inputs);
  float acc = 0.0F;
  for (int64_t first = 0; first < w.inputs; first += layout.group) {
    const uint8_t* chunk = tile + first / 256 * layout.chunk_bytes;
    WeightParts parts;
    int64_t dot = 0, sum = 0;
    for (int64_t k = first; k < first + layout.group; ++k) {
      parts = parts_of(layout, chunk, static_cast<int>(k % 256), static_cast<int>(output % 16),
                       packed::CodeFormats{});
      dot += int64_t{parts.code - layout.zero} * x.codes[static_cast<std::size_t>(k)];
      sum += x.codes[static_cast<std::size_t>(k)];
    }
    const float x_scale = x.scales[static_cast<std::size_t>(first / 32)];
    acc = std::fma(static_cast<float>(dot), parts.scale * x_scale, acc);
    if (layout.mins) acc = std::fma(parts.min, x_scale * static_cast<float>(sum), acc);
  }
  return acc;
}

float reference_exact(std::span<const float> x, std::span<const float> w) {
  float acc = 0.0F;
  for (std::size_t k = 0; k < x.size(); ++k) acc = std::fma(x[k], w[k], acc);
  return acc;
}

std::vector<float> decoded(const blocks::StoredTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.values()));
  blocks::decode_rows(tensor, 0, tensor.rows(), values);
  return values;
}

std::vector<float> run(const Context& ctx, const LinearWeight& weight, const std::vector<float>& x,
                       int64_t begin, int64_t end) {
  const auto inputs = weight.inputs();
  const auto part = std::span(x).subspan(static_cast<std::size_t>(begin * inputs),
                                         static_cast<std::size_t>((end - begin) * inputs));
  return array::to_vector(
      linear(ctx, array::f32_array(part, {static_cast<int>(end - begin), static_cast<int>(inputs)}),
             weight));
}

/// NaN anywhere equals NaN.
bool same_or_nan(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return false;
  }
  return true;
}

std::vector<float> reference(const LinearWeight& weight, const std::vector<float>& w,
                             const std::vector<float>& x, Numerics numerics) {
  const auto inputs = static_cast<std::size_t>(weight.inputs());
  std::vector<float> y;
  for (std::size_t row = 0; row < x.size() / inputs; ++row) {
    const auto values = std::span(x).subspan(row * inputs, inputs);
    const bool by_codes = numerics == Numerics::fast && weight.impl().layout.codes;
    const ReferenceRow codes(by_codes ? values : values.first(0));
    for (int64_t n = 0; n < weight.outputs(); ++n) {
      y.push_back(by_codes ? reference_fast(weight.impl(), codes, n)
                           : reference_exact(values, std::span(w).subspan(n * inputs, inputs)));
    }
  }
  return y;
}

constexpr Numerics kNumerics[] = {Numerics::exact, Numerics::fast};

/// Inputs that end inside a unit and inside a chunk where the format allows it.
std::vector<int64_t> odd_inputs(const FormatCase& format) {
  if (format.step() == 256) return {256, 768};
  if (format.step() == 1) return {1, 37, 401};
  return {format.step(), format.step() * 3, 256 + format.step() * 5};
}

}  // namespace

TEST_CASE("packed rows are what the file says, in every format and instruction set") {
  for (const FormatCase& format : all_formats()) {
    for (const int64_t inputs : odd_inputs(format)) {
      const auto owned = random_tensor(format, 37, inputs, 5);
      const auto expected = decoded(owned->tensor);
      std::vector<int32_t> ids(37);
      for (int32_t i = 0; i < 37; ++i) ids[i] = i;
      for (const Isa isa : machine_isas()) {
        INFO(format.text() << " K " << inputs << " " << name(isa));
        const Context ctx = make_context(2, isa, false);
        const auto weight = LinearWeight::pack(ctx, owned->tensor);
        const auto rows = array::to_vector(embed(ctx, array::i32_array(ids, {37}), weight, 1.0F));
        CHECK(rows == expected);
      }
    }
  }
}

TEST_CASE("packed weights are hardly larger than stored ones") {
  for (const FormatCase& format : all_formats()) {
    const auto owned = random_tensor(format, 64, 1024, 6);
    const auto weight = LinearWeight::pack(make_context(1, Isa::generic, false), owned->tensor);
    const auto stored = owned->data.size() + owned->scales.size() + owned->biases.size();
    INFO(format.text() << " " << weight.resident_bytes() << " of " << stored);
    CHECK(static_cast<double>(weight.resident_bytes()) <= 1.08 * static_cast<double>(stored));
  }
}

TEST_CASE("products of packed weights follow the written order for odd sizes") {
  for (const FormatCase& format : all_formats()) {
    for (const int64_t inputs : odd_inputs(format)) {
      const auto owned = random_tensor(format, 37, inputs, 7);
      const auto w = decoded(owned->tensor);
      const auto x = random_floats(static_cast<std::size_t>(5 * inputs), 8);
      for (const Numerics numerics : kNumerics) {
        const auto weight = LinearWeight::pack(make_context(1, Isa::generic, false), owned->tensor);
        const auto expected = reference(weight, w, x, numerics);
        for (const Isa isa : machine_isas()) {
          for (const int threads : {1, 2}) {
            INFO(format.text() << " K " << inputs << " " << name(isa) << " " << name(numerics));
            const Context ctx = make_context(threads, isa, false, numerics);
            CHECK(same_bits(run(ctx, weight, x, 0, 5), expected));
          }
        }
      }
    }
  }
}

namespace {

constexpr int kRowCounts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                              11, 12, 13, 14, 15, 16, 17, 31, 64, 129};

/// The last `rows` of 129 rows together have the bits that each has alone, on every instruction set
/// of the list and with one and two threads.
void check_rows(const FormatCase& format, int64_t outputs, int64_t inputs, Numerics numerics,
                const std::vector<Isa>& isas) {
  constexpr int64_t kRows = 129;
  const auto x = random_floats(static_cast<std::size_t>(kRows * inputs), 9);
  const auto owned = random_tensor(format, outputs, inputs, 10);
  std::vector<float> alone;
  for (const Isa isa : isas) {
    for (const int threads : {1, 2}) {
      const Context ctx = make_context(threads, isa, false, numerics);
      const auto weight = LinearWeight::pack(ctx, owned->tensor);
      for (int64_t row = 0; alone.size() < static_cast<std::size_t>(kRows * outputs); ++row) {
        const auto y = run(ctx, weight, x, row, row + 1);
        alone.insert(alone.end(), y.begin(), y.end());
      }
      for (const int64_t rows : kRowCounts) {
        INFO(format.text() << " N " << outputs << " K " << inputs << " " << name(numerics) << " "
                           << name(isa) << " threads " << threads << " rows " << rows);
        const auto y = run(ctx, weight, x, kRows - rows, kRows);
        CHECK(same_bits(y, {alone.end() - rows * outputs, alone.end()}));
      }
    }
  }
}

}  // namespace

TEST_CASE("rows of packed products do not depend on each other") {
  std::vector<Isa> isas = machine_isas();
  if (isas.size() > 1) isas.erase(isas.begin());  // plain C++ is slow: in the full run below
  for (const FormatCase& format : all_formats()) {
    for (const Numerics numerics : kNumerics) check_rows(format, 83, 768, numerics, isas);
  }
}

TEST_CASE("rows of packed products, every size and instruction set" * doctest::skip()) {
  for (const FormatCase& format : all_formats()) {
    for (const int64_t inputs : odd_inputs(format)) {
      for (const int64_t outputs : {1, 16, 37, 83}) {
        for (const Numerics numerics : kNumerics) {
          check_rows(format, outputs, inputs, numerics, machine_isas());
        }
      }
    }
  }
}

TEST_CASE("activations as codes: zeros, denormals, one large value, equal values, -0, inf, NaN") {
  constexpr int64_t kInputs = 256;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<std::vector<float>> rows(8, random_floats(kInputs, 11));
  for (auto& value : rows[0]) value = 0.0F;
  for (auto& value : rows[1]) value *= 0x1p-140F;
  rows[2][70] = 3e30F;
  for (auto& value : rows[3]) value = -1.25F;
  for (std::size_t i = 0; i < kInputs; i += 2) rows[4][i] = -0.0F;
  rows[5][100] = kInf;
  rows[6][200] = NAN;
  rows[7][3] = -kInf;
  std::vector<float> x;
  for (const auto& row : rows) x.insert(x.end(), row.begin(), row.end());
  for (const FormatCase& format : all_formats()) {
    if (format.encoding == Encoding::f32 || format.encoding == Encoding::f16) continue;
    const auto owned = random_tensor(format, 20, kInputs, 12);
    const auto w = decoded(owned->tensor);
    for (const Isa isa : machine_isas()) {
      const Context ctx = make_context(1, isa, false, Numerics::fast);
      const auto weight = LinearWeight::pack(ctx, owned->tensor);
      INFO(format.text() << " " << name(isa));
      const auto y = run(ctx, weight, x, 0, 8);
      CHECK(same_or_nan(y, reference(weight, w, x, Numerics::fast)));
      if (!weight.impl().layout.codes) continue;
      for (const std::size_t row : {5, 6, 7}) CHECK(std::isnan(y[row * 20]));
      for (const std::size_t row : {0, 1, 2, 3, 4}) CHECK(std::isfinite(y[row * 20]));
    }
  }
}

namespace {

/// The bytes in memory that ends before a page that faults.
template <class T>
struct Guarded {
  GuardedMemory memory;
  std::span<T> values;

  explicit Guarded(std::span<const T> from)
      : memory(std::max<std::size_t>(from.size_bytes(), 1), 0),
        values(reinterpret_cast<T*>(memory.data()), from.size()) {
    if (!from.empty()) std::memcpy(memory.data(), from.data(), from.size_bytes());
  }
};

LinearWeight pack_guarded(const Context& ctx, const OwnedTensor& owned) {
  const Guarded<std::byte> data(owned.data), scales(owned.scales), biases(owned.biases);
  blocks::StoredTensor tensor = owned.tensor;
  tensor.data = data.values;
  if (tensor.groups) {
    tensor.groups->scales = scales.values;
    tensor.groups->biases = biases.values;
  }
  return LinearWeight::pack(ctx, tensor);
}

}  // namespace

TEST_CASE("packing and products touch no byte beyond a tensor, its tiles and their operands") {
  for (const FormatCase& format : all_formats()) {
    const int64_t inputs = odd_inputs(format).back();
    const auto owned = random_tensor(format, 37, inputs, 20);
    const auto x = random_floats(static_cast<std::size_t>(9 * inputs), 21);
    const auto bias = random_floats(37, 22);
    for (const Isa isa : machine_isas()) {
      for (const Numerics numerics : kNumerics) {
        INFO(format.text() << " " << name(isa) << " " << name(numerics));
        const Context ctx = make_context(1, isa, false, numerics);
        const auto weight = pack_guarded(ctx, *owned);
        const auto expected = run(ctx, weight, x, 0, 9);
        const Guarded<uint8_t> tiles(std::span(weight.impl().tiles.get(),
                                               static_cast<std::size_t>(weight.resident_bytes())));
        const Guarded<float> rows(x), biases(bias), out(std::vector<float>(9 * 37));
        const packed::Panel panel = by_codes(ctx, weight)
                                        ? make_panel(ctx, rows.values.data(), 9, inputs)
                                        : packed::Panel{};
        LinearArgs args = make_args(rows.values.data(), 9, weight, out.values.data());
        args.tiles = tiles.values.data();
        args.bias = biases.values.data();
        args.panel = by_codes(ctx, weight) ? &panel : nullptr;
        linear_table(isa).linear(args, 0, weight.impl().tile_count());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          REQUIRE(out.values[i] == expected[i] + bias[i % 37]);
        }
      }
    }
  }
}

TEST_CASE("fast is close to exact") {
  for (const FormatCase& format : all_formats()) {
    const auto owned = random_tensor(format, 64, 1024, 13);
    const auto x = random_floats(4 * 1024, 14);
    const Context exact = make_context(1, detect_isa(), false);
    const Context fast = make_context(1, detect_isa(), false, Numerics::fast);
    const Context portable = make_context(1, detect_isa(), true);
    const auto weight = LinearWeight::pack(exact, owned->tensor);
    const auto plain = run(portable, LinearWeight::pack(portable, owned->tensor), x, 0, 4);
    INFO(format.text());
    // 8 bits over the largest of 32 values: about 0.6 % of a normal spread, times three.
    CHECK(relative_error(run(fast, weight, x, 0, 4), plain) < 0.02);
    CHECK(relative_error(run(exact, weight, x, 0, 4), plain) < 1e-5);
  }
}

TEST_CASE("several outputs of one input and chosen tiles equal single products") {
  const FormatCase q4{.encoding = Encoding::q4_k};
  const FormatCase q6{.encoding = Encoding::q6_k};
  const FormatCase half{.encoding = Encoding::f16};
  const auto x = random_array({3, 512}, 15);
  const auto bias = random_array({40}, 16);
  for (const bool portable : {false, true}) {
    for (const Numerics numerics : kNumerics) {
      const Context ctx = make_context(2, detect_isa(), portable, numerics);
      const auto a = LinearWeight::pack(ctx, random_tensor(q4, 70, 512, 17)->tensor);
      const auto b = LinearWeight::pack(ctx, random_tensor(q6, 40, 512, 18)->tensor);
      const auto c = LinearWeight::pack(ctx, random_tensor(half, 33, 512, 19)->tensor);
      const auto each = linear_each(ctx, x, {{c, std::nullopt}, {b, bias}, {a, std::nullopt}});
      REQUIRE(each.size() == 3);
      CHECK(same_bits(array::to_vector(each[0]), array::to_vector(linear(ctx, x, c))));
      CHECK(same_bits(array::to_vector(each[1]), array::to_vector(linear(ctx, x, b, bias))));
      CHECK(same_bits(array::to_vector(each[2]), array::to_vector(linear(ctx, x, a))));

      const auto whole = array::to_vector(linear(ctx, x, a));
      const auto tiles =
          std::make_shared<const std::vector<int32_t>>(std::vector<int32_t>{4, 0, 2});
      const auto some = array::to_vector(linear_tiles(ctx, x, a, tiles));
      REQUIRE(some.size() == 3 * 48);
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t i = 0; i < 48; ++i) {
          const std::size_t column = static_cast<std::size_t>((*tiles)[i / 16]) * 16 + i % 16;
          const float expected = column < 70 ? whole[row * 70 + column] : -INFINITY;
          CHECK(some[row * 48 + i] == expected);
        }
      }
      const auto wrong = std::make_shared<const std::vector<int32_t>>(std::vector<int32_t>{5});
      CHECK_THROWS_AS(linear_tiles(ctx, x, a, wrong), Error);
    }
  }
}
