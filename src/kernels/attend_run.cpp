#include "kernels/attend_run.h"

#include <memory>
#include <vector>

#include "kernels/attend_plan.h"
#include "kernels/attend_worker.h"

namespace paceline::kernels {
namespace {

/// First pieces of the items that several threads worked on.
std::vector<int32_t> cut_items(const AttendPlan& plan) {
  std::vector<int32_t> first;
  for (std::size_t i = 0; i < plan.pieces.size(); ++i) {
    const AttendPiece& piece = plan.pieces[i];
    const AttendItem& item = plan.items[static_cast<std::size_t>(piece.item)];
    if (piece.kept >= 0 && piece.block_begin == item.block_begin) {
      first.push_back(static_cast<int32_t>(i));
    }
  }
  return first;
}

}  // namespace

void run_attend(const AttendCall& call) {
  const AttendPlan plan = plan_attend(call, call.ctx.pool->size());
  const auto kept = std::make_unique_for_overwrite<float[]>(
      static_cast<std::size_t>(plan.kept_states * attend_state_stride(call.desc)));
  const auto run_parts = [&](int64_t begin, int64_t end) {
    AttendWorker(call, plan, kept.get())
        .run(plan.part_begin[static_cast<std::size_t>(begin)],
             plan.part_begin[static_cast<std::size_t>(end)]);
  };
  const auto parts = static_cast<int64_t>(plan.part_begin.size()) - 1;
  if (parts == 1) {
    run_parts(0, 1);
    return;
  }
  call.ctx.pool->parallel_for(parts, 1, run_parts);
  const std::vector<int32_t> cut = cut_items(plan);
  const auto merge = [&](int64_t begin, int64_t end) {
    AttendWorker worker(call, plan, kept.get());
    for (int64_t i = begin; i < end; ++i) worker.merge_kept(cut[static_cast<std::size_t>(i)]);
  };
  if (cut.size() == 1) {
    merge(0, 1);
  } else if (!cut.empty()) {
    call.ctx.pool->parallel_for(static_cast<int64_t>(cut.size()), 1, merge);
  }
}

const AttendTable& attend_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return attend_table_avx512();
  if (isa == Isa::avx2) return attend_table_avx2();
#endif
  static_cast<void>(isa);
  return attend_table_generic();
}

}  // namespace paceline::kernels
