#include "formats/strict_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/file_context.h"

namespace paceline::formats {
namespace {

using Json = nlohmann::json;

/// Builds the document event by event; the library's own builder keeps the last of two equal keys.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(const FileContext& file, const JsonLimits& limits) : file_(file), limits_(limits) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [at, inserted] = stack_.back()->emplace(std::move(name), nullptr);
    if (!inserted) file_.bad("key " + shown(at.key()) + ": stored twice in one object");
    slot_ = &*at;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    file_.bad("malformed JSON at byte " + std::to_string(position));
  }

 private:
  Json* place(Json value) {
    if (++values_ > limits_.values_max) {
      file_.bad("more than " + std::to_string(limits_.values_max) + " JSON values");
    }
    if (stack_.empty()) return &(root_ = std::move(value));
    if (stack_.back()->is_object()) return &(*slot_ = std::move(value));
    stack_.back()->push_back(std::move(value));
    return &stack_.back()->back();
  }

  bool put(Json value) {
    if (stack_.empty()) file_.bad("JSON holds no object, expected one");
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (stack_.empty() && !value.is_object()) file_.bad("JSON holds an array, expected an object");
    if (stack_.size() >= limits_.depth_max) {
      file_.bad("JSON nested deeper than " + std::to_string(limits_.depth_max));
    }
    stack_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  const FileContext& file_;
  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> stack_;  // a container moves only while it is not on the stack
  Json* slot_ = nullptr;
  std::size_t values_ = 0;
};

}  // namespace

Json parse_object(std::string_view text, const FileContext& file, const JsonLimits& limits) {
  // The library takes a zero byte for the end of the text.
  if (text.find('\0') != std::string_view::npos) file.bad("malformed JSON: holds a zero byte");
  Builder builder(file, limits);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace paceline::formats
