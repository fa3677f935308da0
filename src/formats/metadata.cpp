#include "formats/metadata.h"

#include <limits>

#include "formats/file_context.h"
#include "paceline/error.h"

namespace paceline::formats {
namespace {

using Value = Metadata::Value;

std::string kind_of(const Value& value) {
  static constexpr const char* kKinds[] = {"an unsigned integer",
                                           "an integer",
                                           "a float",
                                           "a bool",
                                           "a string",
                                           "an array of unsigned integers",
                                           "an array of integers",
                                           "an array of floats",
                                           "an array of bools",
                                           "an array of strings"};
  return kKinds[value.index()];
}

[[noreturn]] void refuse(std::string_view key, const std::string& found, const char* expected) {
  throw Error(ErrorCode::bad_checkpoint, "[metadata] key " + shown(key) + ": " + found + ", expected " + expected);
}

int64_t to_signed(std::string_view key, uint64_t value) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    refuse(key, std::to_string(value), "an integer below 2^63");
  }
  return static_cast<int64_t>(value);
}

std::optional<int64_t> as_integer(std::string_view key, const Value& value) {
  if (const auto* u = std::get_if<uint64_t>(&value)) return to_signed(key, *u);
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  return std::nullopt;
}

std::optional<double> as_number(const Value& value) {
  if (const auto* u = std::get_if<uint64_t>(&value)) return static_cast<double>(*u);
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

/// Arrays of any of the types In, each element through `convert`.
template <class Out, class... In>
std::optional<std::vector<Out>> as_array(const Value& value, const auto& convert) {
  std::optional<std::vector<Out>> out;
  const auto try_one = [&]<class T>(const std::vector<T>* items) {
    if (items == nullptr) return;
    out.emplace();
    for (const T item : *items) out->push_back(convert(item));
  };
  (try_one(std::get_if<std::vector<In>>(&value)), ...);
  return out;
}

const Value* lookup(const Metadata& metadata, std::string_view key) {
  const auto at = metadata.entries().find(key);
  return at == metadata.entries().end() ? nullptr : &at->second;
}

template <class T>
std::optional<T> scalar(const Metadata& metadata, std::string_view key, const char* expected) {
  const Value* value = lookup(metadata, key);
  if (value == nullptr) return std::nullopt;
  if (const T* found = std::get_if<T>(value)) return *found;
  refuse(key, kind_of(*value), expected);
}

}  // namespace

std::optional<int64_t> Metadata::integer(std::string_view key) const {
  const Value* value = lookup(*this, key);
  if (value == nullptr) return std::nullopt;
  if (const auto found = as_integer(key, *value)) return found;
  refuse(key, kind_of(*value), "an integer");
}

std::optional<double> Metadata::number(std::string_view key) const {
  const Value* value = lookup(*this, key);
  if (value == nullptr) return std::nullopt;
  if (const auto found = as_number(*value)) return found;
  refuse(key, kind_of(*value), "a number");
}

std::optional<bool> Metadata::boolean(std::string_view key) const { return scalar<bool>(*this, key, "a bool"); }

std::optional<std::string_view> Metadata::string(std::string_view key) const {
  return scalar<std::string_view>(*this, key, "a string");
}

const std::vector<std::string_view>* Metadata::strings(std::string_view key) const {
  const Value* value = lookup(*this, key);
  if (value == nullptr) return nullptr;
  if (const auto* found = std::get_if<std::vector<std::string_view>>(value)) return found;
  refuse(key, kind_of(*value), "an array of strings");
}

std::optional<std::vector<int64_t>> Metadata::integers(std::string_view key) const {
  const Value* value = lookup(*this, key);
  if (value == nullptr) return std::nullopt;
  if (const auto one = as_integer(key, *value)) return std::vector<int64_t>{*one};
  struct {
    std::string_view key;
    int64_t operator()(uint64_t item) const { return to_signed(key, item); }
    int64_t operator()(int64_t item) const { return item; }
  } const convert{key};
  if (auto many = as_array<int64_t, uint64_t, int64_t>(*value, convert)) return many;
  refuse(key, kind_of(*value), "an integer or an array of integers");
}

std::optional<std::vector<double>> Metadata::numbers(std::string_view key) const {
  const Value* value = lookup(*this, key);
  if (value == nullptr) return std::nullopt;
  if (const auto one = as_number(*value)) return std::vector<double>{*one};
  const auto convert = [](auto item) { return static_cast<double>(item); };
  if (auto many = as_array<double, uint64_t, int64_t, double>(*value, convert)) return many;
  refuse(key, kind_of(*value), "a number or an array of numbers");
}

std::optional<std::vector<bool>> Metadata::booleans(std::string_view key) const {
  const Value* value = lookup(*this, key);
  if (value == nullptr) return std::nullopt;
  if (const auto* one = std::get_if<bool>(value)) return std::vector<bool>{*one};
  if (const auto* many = std::get_if<std::vector<bool>>(value)) return *many;
  refuse(key, kind_of(*value), "a bool or an array of bools");
}

void Metadata::insert(std::string key, Value value) {
  const auto [at, inserted] = entries_.emplace(std::move(key), std::move(value));
  if (!inserted) refuse(at->first, "stored twice", "each key once");
}

}  // namespace paceline::formats
