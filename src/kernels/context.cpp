#include "kernels/context.h"

#include <sched.h>

#include <fstream>
#include <set>
#include <string>

#include "kernels/panel.h"
#include "kernels/rope_table.h"
#include "kernels/weight_memory.h"
#include "paceline/error.h"

namespace paceline::kernels {
namespace {

bool has(Isa isa) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
  if (isa == Isa::avx512) return avx512;
  if (isa == Isa::avx2) return avx2;
#endif
  return isa == Isa::generic;
}

/// Package and core of a logical CPU, or its own number where the system does not say.
std::string core_of(int cpu) {
  const std::string base = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  std::string package, core;
  std::ifstream(base + "physical_package_id") >> package;
  std::ifstream(base + "core_id") >> core;
  return core.empty() ? "cpu " + std::to_string(cpu) : package + " " + core;
}

int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cores.insert(core_of(cpu));
  }
  return cores.empty() ? 1 : static_cast<int>(cores.size());
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    case Isa::generic:
      break;
  }
  return "generic";
}

Isa detect_isa() {
  if (has(Isa::avx512)) return Isa::avx512;
  return has(Isa::avx2) ? Isa::avx2 : Isa::generic;
}

Isa parse_isa(std::string_view text) {
  if (text.empty()) return detect_isa();
  for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512}) {
    if (text != name(isa)) continue;
    if (has(isa)) return isa;
    throw Error(ErrorCode::unsupported, "[isa] this CPU has no " + std::string(text) +
                                            ", the best it has is " +
                                            std::string(name(detect_isa())));
  }
  throw Error(ErrorCode::invalid_argument,
              "[isa] '" + std::string(text) + "', expected avx512, avx2 or generic");
}

std::string_view name(Numerics numerics) { return numerics == Numerics::fast ? "fast" : "exact"; }

Context make_context(int threads, Isa isa, bool portable, Numerics numerics) {
  if (threads < 0) {
    throw Error(ErrorCode::invalid_argument,
                "[context] " + std::to_string(threads) + " threads, expected 0 or more");
  }
  const int count = threads == 0 ? physical_cores() : threads;
  return {.pool = std::make_shared<base::ThreadPool>(count),
          .isa = isa,
          .portable = portable,
          .rope_cache = std::make_shared<RopeCache>(),
          .numerics = portable ? Numerics::exact : numerics,
          .workspace = std::make_shared<Workspace>(),
          .weights = std::make_shared<WeightArena>()};
}

}  // namespace paceline::kernels
