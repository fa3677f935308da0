#pragma once

#include <memory>
#include <string_view>

#include "base/thread_pool.h"

namespace paceline::kernels {

enum class Isa { generic, avx2, avx512 };
std::string_view name(Isa isa);
/// The best instruction set this CPU has.
Isa detect_isa();
/// "avx512", "avx2", "generic"; "" = detect. Throws Error{invalid_argument} for others and
/// Error{unsupported} for one that this CPU lacks, naming what it has.
Isa parse_isa(std::string_view text);

/// How products treat activations. exact: as f32. fast: weights stored as integer codes meet
/// activations rounded to 8 bits in groups of 32 (packed::Panel); other weights as in exact.
enum class Numerics { exact, fast };
std::string_view name(Numerics numerics);

class RopeCache;
class WeightArena;
class Workspace;

/// What every operation needs to know besides its operands. One per loaded model; outlives its
/// graphs.
struct Context {
  std::shared_ptr<base::ThreadPool> pool;
  Isa isa = Isa::generic;
  bool portable = false;  ///< build every operation from plain MLX operations
  std::shared_ptr<RopeCache> rope_cache =
      nullptr;  ///< rotations shared by layers and forwards; may be null
  Numerics numerics = Numerics::exact;
  std::shared_ptr<Workspace> workspace = nullptr;  ///< used by one operation at a time
  std::shared_ptr<WeightArena> weights = nullptr;  ///< used by one packing at a time
};

/// threads = 0: one per physical core the process may use.
Context make_context(int threads, Isa isa, bool portable, Numerics numerics = Numerics::exact);

}  // namespace paceline::kernels
