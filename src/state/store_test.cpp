#include "state/store.h"

#include <doctest/doctest.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "paceline/error.h"
#include "state/page_pool.h"

using namespace paceline;
using namespace paceline::state;
namespace mx = mlx::core;

namespace {

constexpr int32_t kHeads = 2;
constexpr int32_t kDim = 4;

StateSpec two_layers() {
  return {{.kind = LayerKind::full, .kv_heads = kHeads, .key_dim = kDim, .value_dim = kDim},
          {.kind = LayerKind::sliding,
           .kv_heads = kHeads,
           .key_dim = kDim,
           .value_dim = kDim,
           .window = 8}};
}

/// Keys and values that name their own position: k = position + feature / 8, v = -k.
mx::array tagged(const Batch& batch, float sign) {
  std::vector<float> values;
  for (const int32_t position : batch.positions()) {
    for (int32_t i = 0; i < kHeads * kDim; ++i) {
      values.push_back(sign * (static_cast<float>(position) + static_cast<float>(i) / 8.0F));
    }
  }
  return mx::array(values.data(), {batch.token_count(), kHeads, kDim}, mx::float32);
}

struct Fixture {
  StateStore store;
  explicit Fixture(bool portable,
                   StoreOptions options = {.encoding = kernels::KvEncoding::f32, .page_tokens = 4})
      : store(two_layers(), options, kernels::make_context(2, kernels::detect_isa(), portable)) {}

  /// Appends n tokens to each sequence in one forward and keeps `keep` of each row (all when
  /// empty).
  void step(const std::vector<std::pair<Sequence*, int32_t>>& rows,
            std::vector<int32_t> keep = {}) {
    std::vector<BatchRow> batch_rows;
    for (const auto& [sequence, n] : rows) {
      batch_rows.push_back(
          {.sequence = sequence, .tokens = std::vector<int32_t>(static_cast<size_t>(n), 1)});
      if (keep.size() < batch_rows.size()) keep.push_back(n);
    }
    const Batch batch(std::move(batch_rows));
    store.reserve(batch);
    for (int32_t layer = 0; layer < 2; ++layer)
      store.update(layer, batch, tagged(batch, 1), tagged(batch, -1));
    mx::eval(store.take_effects());
    store.commit(batch, keep);
  }

  /// First feature of every key that layer `layer` holds for the sequence after one more token,
  /// with its position.
  void check_content(Sequence& sequence, int32_t layer, int32_t oldest_needed) {
    const Batch batch({{.sequence = &sequence, .tokens = {1}}});
    store.reserve(batch);
    const auto history = store.update(layer, batch, tagged(batch, 1), tagged(batch, -1));
    const KvHistory::Rows rows = history->materialize(batch, 0);
    mx::eval({rows.keys, rows.values});
    store.take_effects();
    REQUIRE(rows.first_position <= oldest_needed);
    REQUIRE(rows.first_position + rows.keys.shape(0) == sequence.length() + 1);
    for (int32_t i = 0; i < rows.keys.shape(0); ++i) {
      const auto position = static_cast<float>(rows.first_position + i);
      const size_t at = static_cast<size_t>(i) * kHeads * kDim;
      CHECK(rows.keys.data<float>()[at] == position);
      CHECK(rows.keys.data<float>()[at + 7] == position + 7.0F / 8.0F);
      CHECK(rows.values.data<float>()[at] == -position);
    }
  }
};

}  // namespace

TEST_CASE("a store holds what was written, over page borders, for rows of any length") {
  for (const bool portable : {true, false}) {
    CAPTURE(portable);
    Fixture f(portable);
    const auto a = f.store.new_sequence();
    const auto b = f.store.new_sequence();
    f.step({{a.get(), 3}, {b.get(), 9}});
    f.step({{b.get(), 1}, {a.get(), 6}});
    CHECK(a->length() == 9);
    CHECK(b->length() == 10);
    f.check_content(*a, 0, 0);
    f.check_content(*b, 0, 0);
  }
}

TEST_CASE("keys and values are rounded alike on both paths") {
  for (const auto encoding : {kernels::KvEncoding::bf16, kernels::KvEncoding::f16}) {
    std::vector<std::vector<float>> held;
    for (const bool portable : {true, false}) {
      Fixture f(portable, {.encoding = encoding, .page_tokens = 16});
      const auto a = f.store.new_sequence();
      const Batch batch({{.sequence = a.get(), .tokens = std::vector<int32_t>(20, 1)}});
      f.store.reserve(batch);
      const auto k = mx::divide(mx::add(tagged(batch, 1), mx::array(0.1F)), mx::array(3.0F));
      const auto rows = f.store.update(0, batch, k, k)->materialize(batch, 0);
      mx::eval({rows.keys, rows.values});
      f.store.take_effects();
      const float* keys = rows.keys.data<float>();
      held.emplace_back(keys, keys + rows.keys.size());
    }
    CHECK(held[0] == held[1]);
  }
}

TEST_CASE("tokens that commit does not keep are overwritten by the next ones") {
  for (const bool portable : {true, false}) {
    CAPTURE(portable);
    Fixture f(portable);
    const auto a = f.store.new_sequence();
    f.step({{a.get(), 6}}, {2});
    CHECK(a->length() == 2);
    f.step({{a.get(), 5}});
    CHECK(a->length() == 7);
    f.check_content(*a, 0, 0);
  }
}

TEST_CASE("truncate forgets the tail and the sequence goes on") {
  for (const bool portable : {true, false}) {
    CAPTURE(portable);
    Fixture f(portable);
    const auto a = f.store.new_sequence();
    f.step({{a.get(), 7}});
    a->truncate(5);
    f.step({{a.get(), 2}});
    CHECK(a->length() == 7);
    f.check_content(*a, 0, 0);
    f.check_content(*a, 1, 0);
    a->truncate(0);
    CHECK(a->length() == 0);
    f.step({{a.get(), 3}});
    f.check_content(*a, 1, 0);
    CHECK_THROWS_AS(a->truncate(4), Error);
    CHECK_THROWS_AS(a->truncate(-1), Error);
  }
}

TEST_CASE("a sliding layer gives pages back and keeps its window") {
  Fixture f(false);
  const auto a = f.store.new_sequence();
  for (int i = 0; i < 50; ++i) {
    f.step({{a.get(), 1}});
    f.check_content(*a, 1, std::max(0, a->length() - 8 + 1));
  }
  const int64_t page = 2 * int64_t{kHeads} * kDim * 4 * 4;  // keys and values of 4 tokens in f32
  CHECK(f.store.bytes_in_use() ==
        13 * page + 4 * page);  // all of the full layer, window + slack of the other
  CHECK_THROWS_WITH_AS(a->truncate(20), doctest::Contains("cannot truncate to 20"), Error);
  a->truncate(48);
  f.check_content(*a, 1, 48 - 8 + 1);
}

TEST_CASE("pages go back to the pool with their sequence and are used again") {
  Fixture f(false);
  auto a = f.store.new_sequence();
  f.step({{a.get(), 9}});
  const int64_t allocated = f.store.bytes_allocated();
  CHECK(f.store.bytes_in_use() > 0);
  a.reset();
  CHECK(f.store.bytes_in_use() == 0);
  a = f.store.new_sequence();
  f.step({{a.get(), 9}});
  CHECK(f.store.bytes_allocated() == allocated);
}

TEST_CASE("a step that does not fit the byte limit is refused and changes nothing") {
  const int64_t page = 2 * int64_t{kHeads} * kDim * 4 * 4;
  Fixture f(false, {.encoding = kernels::KvEncoding::f32, .page_tokens = 4, .bytes_max = 4 * page});
  const auto a = f.store.new_sequence();
  f.step({{a.get(), 8}});  // two pages in both layers: exactly the limit
  CHECK(f.store.bytes_in_use() == 4 * page);
  const Batch batch({{.sequence = a.get(), .tokens = {1}}});
  CHECK_THROWS_WITH_AS(f.store.reserve(batch), doctest::Contains("the limit is"), Error);
  CHECK(f.store.bytes_in_use() == 4 * page);
  CHECK(a->length() == 8);
}

TEST_CASE("a batch knows its rows, positions and wanted rows") {
  Fixture f(false);
  const auto a = f.store.new_sequence();
  const auto b = f.store.new_sequence();
  f.step({{b.get(), 3}});
  const Batch batch({{.sequence = a.get(), .tokens = {7, 8}, .wanted = {1}},
                     {.sequence = b.get(), .tokens = {9, 10, 11}, .wanted = {0, 2}}});
  CHECK(batch.positions() == std::vector<int32_t>{0, 1, 3, 4, 5});
  CHECK(batch.wanted() == std::vector<int32_t>{1, 2, 4});
  CHECK((*batch.row_table())[1] == kernels::RowSpan{.token_begin = 2, .length = 3, .start = 3});
  int made = 0;
  const auto make = [&] {
    ++made;
    return mx::array(1.0F);
  };
  batch.memo("x", make);
  batch.memo("x", make);
  CHECK(made == 1);
  CHECK_THROWS_AS(
      Batch({{.sequence = a.get(), .tokens = {1}}, {.sequence = a.get(), .tokens = {1}}}), Error);
}

TEST_CASE("layers share slabs: a short sequence takes one") {
  Fixture f(false);
  const auto a = f.store.new_sequence();
  f.step({{a.get(), 9}});
  CHECK(f.store.bytes_allocated() == int64_t{2} << 20);
}

TEST_CASE("a page pool hands out zeroed pages that do not overlap") {
  PagePool pool(100, 60);
  std::vector<Page> pages;
  for (int i = 0; i < 10; ++i) {
    pages.push_back(pool.take());
    for (int j = 0; j < 100; ++j) CHECK(pages.back().keys()[j] == std::byte{0});
    std::fill(pages.back().keys(), pages.back().keys() + 100, std::byte{0xFF});
    std::fill(pages.back().values(), pages.back().values() + 60, std::byte{0xEE});
  }
  for (const Page& page : pages) {
    CHECK(page.keys()[99] == std::byte{0xFF});
    CHECK(page.values()[0] == std::byte{0xEE});
    CHECK(reinterpret_cast<uintptr_t>(page.keys()) % 64 == 0);
    CHECK(reinterpret_cast<uintptr_t>(page.values()) % 64 == 0);
  }
  CHECK(pool.pages_in_use() == 10);
  pages.clear();
  CHECK(pool.pages_in_use() == 0);
}
