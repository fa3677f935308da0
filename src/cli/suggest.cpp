#include "cli/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

namespace paceline::cli {
namespace {

constexpr std::size_t kLengthMax = 100;  // longer words are no misspelt names

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost one
// each.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view found, std::span<const std::string> candidates) {
  if (found.empty() || found.size() > kLengthMax) {
    return {};
  }
  const std::string wanted = lower(found);
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::string name = lower(candidate);
    if (wanted.size() >= 2 && name.starts_with(wanted)) {
      return candidate;
    }
    const std::size_t edits = distance(wanted, name);
    const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
    if (edits <= limit && (best.empty() || edits < best_distance)) {
      best = candidate;
      best_distance = edits;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view found, std::span<const std::string> candidates) {
  const std::string name = nearest(found, candidates);
  return name.empty() ? std::string() : ", did you mean '" + name + "'?";
}

}  // namespace paceline::cli
