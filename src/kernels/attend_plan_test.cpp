#include "kernels/attend_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "kernels/test_support.h"

using namespace paceline::kernels;

namespace {

struct Request {
  RowTable table;
  KvDesc desc;
  AttendSpec spec;
  int heads = 0;
};

Request random_request(std::mt19937& generator) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator);
  };
  Request request;
  request.desc.kv_heads = draw(1, 4);
  request.desc.key_dim = request.desc.value_dim = 128;
  request.heads = request.desc.kv_heads * draw(1, 8);
  if (draw(0, 3) == 0) request.spec.mask = Mask::sliding(draw(1, 300));
  int32_t token = 0;
  for (int r = draw(0, 5); r >= 0; --r) {
    const int32_t length = draw(0, 1) == 0 ? draw(0, 4) : draw(1, 200);
    request.table.push_back({token, length, draw(0, 3000)});
    token += length;
    KvRowPages row;
    row.live_end = request.table.back().start + length;
    row.live_begin = std::min(row.live_end, draw(0, 100));
    request.desc.rows.push_back(row);
  }
  return request;
}

int64_t cost(const AttendPlan& plan, int32_t piece, int group) {
  const AttendPiece& p = plan.pieces[static_cast<std::size_t>(piece)];
  const AttendItem& item = plan.items[static_cast<std::size_t>(p.item)];
  return int64_t{item.token_end - item.token_begin} * group * (p.block_end - p.block_begin);
}

/// Every block of every item once, in order, in pieces that belong to one part each.
void check_cover(const AttendPlan& plan) {
  REQUIRE(plan.part_begin.front() == 0);
  REQUIRE(plan.part_begin.back() == static_cast<int32_t>(plan.pieces.size()));
  REQUIRE(std::is_sorted(plan.part_begin.begin(), plan.part_begin.end()));
  std::size_t at = 0;
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    int32_t block = plan.items[i].block_begin;
    do {
      REQUIRE(at < plan.pieces.size());
      const AttendPiece& piece = plan.pieces[at++];
      REQUIRE(piece.item == static_cast<int32_t>(i));
      REQUIRE(piece.block_begin == block);
      block = piece.block_end;
      const bool whole = piece.block_begin == plan.items[i].block_begin &&
                         piece.block_end == plan.items[i].block_end;
      REQUIRE((piece.kept < 0) == whole);
    } while (block < plan.items[i].block_end);
    REQUIRE(block == plan.items[i].block_end);
  }
  REQUIRE(at == plan.pieces.size());
}

}  // namespace

TEST_CASE("a plan covers every block once and shares the work evenly") {
  std::mt19937 generator(11);  // seed 11
  const Context ctx = make_context(1, Isa::generic, false);
  for (int trial = 0; trial < 500; ++trial) {
    const Request request = random_request(generator);
    const AttendCall call{ctx,     request.table, request.desc, request.spec,
                          nullptr, nullptr,       request.heads};
    const int group = request.heads / request.desc.kv_heads;
    for (int parts = 1; parts <= 9; ++parts) {
      const AttendPlan plan = plan_attend(call, parts);
      check_cover(plan);
      const auto made = static_cast<int64_t>(plan.part_begin.size()) - 1;
      REQUIRE(made <= parts);
      int64_t total = 0, largest_block = 0, blocks = 0;
      for (std::size_t i = 0; i < plan.pieces.size(); ++i) {
        total += cost(plan, static_cast<int32_t>(i), group);
        const AttendItem& item = plan.items[static_cast<std::size_t>(plan.pieces[i].item)];
        largest_block =
            std::max<int64_t>(largest_block, int64_t{item.token_end - item.token_begin} * group);
        blocks += plan.pieces[i].block_end - plan.pieces[i].block_begin;
      }
      for (int64_t p = 0; made > 1 && p < made; ++p) {
        int64_t share = 0;
        for (int32_t i = plan.part_begin[static_cast<std::size_t>(p)];
             i < plan.part_begin[static_cast<std::size_t>(p + 1)]; ++i) {
          share += cost(plan, i, group);
        }
        // A block is not divided, and reading one counts as two queries.
        REQUIRE(share <= (total + 2 * blocks) / parts + 2 * (largest_block + 2));
      }
    }
  }
}
