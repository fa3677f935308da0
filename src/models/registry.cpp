#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/model.h"
#include "paceline/error.h"

namespace paceline::models {
namespace {

std::vector<Family> families() {
  return {llama_family(), qwen2_family(), qwen3_family(), gemma3_family()};
}

const Family* find_family(const std::vector<Family>& all, const std::string& architecture) {
  for (const Family& family : all) {
    const auto& types = family.model_types;
    if (std::find(types.begin(), types.end(), architecture) != types.end()) return &family;
  }
  return nullptr;
}

/// For a file of an unknown architecture: the family whose tensors differ least.
TensorReport nearest_report(const std::vector<Family>& all, const formats::Checkpoint& checkpoint,
                            std::string& nearest) {
  TensorReport best;
  size_t best_difference = std::numeric_limits<size_t>::max();
  for (const Family& family : all) {
    try {
      TensorReport report = compare(checkpoint, family.layout(checkpoint));
      const size_t difference =
          report.missing.size() + report.extra.size() + report.mis_shaped.size();
      if (difference >= best_difference) continue;
      best_difference = difference;
      best = std::move(report);
      nearest = family.name;
    } catch (const Error&) {
      continue;  // this family cannot even read the configuration
    }
  }
  return best;
}

Family family_of(const formats::Checkpoint& checkpoint) {
  const std::vector<Family> all = families();
  const Family* family = find_family(all, checkpoint.architecture);
  if (family == nullptr) {
    std::string known;
    for (const Family& candidate : all) known += (known.empty() ? "" : ", ") + candidate.name;
    throw Error(ErrorCode::unsupported, "[models] architecture '" + checkpoint.architecture +
                                            "', expected one of " + known);
  }
  return *family;
}

}  // namespace

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.name);
  return names;
}

bool is_supported(const std::string& architecture) {
  const std::vector<Family> all = families();
  return find_family(all, architecture) != nullptr;
}

std::unique_ptr<Model> load_model(const formats::Checkpoint& checkpoint,
                                  const ModelOptions& options,
                                  const std::function<void(double)>& progress) {
  return family_of(checkpoint).load(checkpoint, options, progress);
}

void check_loadable(const formats::Checkpoint& checkpoint) {
  require_tensors(checkpoint, family_of(checkpoint).layout(checkpoint));
}

TensorReport check_tensors(const formats::Checkpoint& checkpoint) {
  const std::vector<Family> all = families();
  const Family* family = find_family(all, checkpoint.architecture);
  TensorReport report;
  std::string name;
  if (family != nullptr) {
    report = compare(checkpoint, family->layout(checkpoint));
    name = family->name;
  } else {
    report = nearest_report(all, checkpoint, name);
  }
  report.architecture = name;
  return report;
}

}  // namespace paceline::models
