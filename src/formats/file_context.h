#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace paceline::formats {

/// For messages: quoted, control bytes replaced, cut after 100 bytes.
std::string shown(std::string_view text);

/// Which file a message is about, and of which format: "[gguf] model.gguf: ".
class FileContext {
 public:
  FileContext(std::string_view format, std::string_view file);

  [[noreturn]] void bad(const std::string& what) const;          ///< Error{bad_checkpoint}
  [[noreturn]] void unsupported(const std::string& what) const;  ///< Error{unsupported}
  const std::string& prefix() const { return prefix_; }

 private:
  std::string prefix_;
};

/// a * b, or false when it does not fit.
[[nodiscard]] inline bool multiply(int64_t a, int64_t b, int64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

}  // namespace paceline::formats
