#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paceline::formats {

/// GGUF key-value pairs. Numbers are widened; strings and string arrays are views into the mapped
/// file.
class Metadata {
 public:
  using Value =
      std::variant<uint64_t, int64_t, double, bool, std::string_view, std::vector<uint64_t>, std::vector<int64_t>,
                   std::vector<double>, std::vector<bool>, std::vector<std::string_view>>;

  const std::map<std::string, Value, std::less<>>& entries() const { return entries_; }
  bool has(std::string_view key) const { return entries_.find(key) != entries_.end(); }

  /// Typed access. Absent key: nullopt. A value of another kind: Error{bad_checkpoint} naming key,
  /// found, expected. integer() accepts signed and unsigned scalars; number() accepts integers too.
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  const std::vector<std::string_view>* strings(std::string_view key) const;
  /// A scalar counts as an array of one.
  std::optional<std::vector<int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<double>> numbers(std::string_view key) const;
  std::optional<std::vector<bool>> booleans(std::string_view key) const;

  /// Error{bad_checkpoint} on a duplicate key.
  void insert(std::string key, Value value);

 private:
  std::map<std::string, Value, std::less<>> entries_;
};

}  // namespace paceline::formats
