#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::text {

/// Token types, numbered as GGUF does.
enum class TokenType : uint8_t { none = 0, normal, unknown, control, user_defined, unused, byte };

/// How literals turn into bytes.
enum class DecodeKind { byte_level, sentencepiece };

/// Literal, bytes and type of every id of a vocabulary.
class TokenTable {
 public:
  explicit TokenTable(DecodeKind kind) : kind_(kind) {}

  void reserve(std::size_t tokens);
  void append(std::string_view literal, TokenType type);
  void set_type(int32_t id, TokenType type);

  int32_t size() const { return static_cast<int32_t>(types_.size()); }
  bool contains(int32_t id) const { return id >= 0 && id < size(); }
  std::string_view literal(int32_t id) const;
  TokenType type(int32_t id) const { return types_[static_cast<std::size_t>(id)]; }
  /// Control tokens and the unknown token: what plain text never becomes and readers do not want to
  /// see.
  bool is_control(int32_t id) const;
  /// What the id adds to a text; nothing for ids that are unused or outside the table.
  void append_bytes(int32_t id, std::string& out) const;
  /// The last id with this literal.
  std::optional<int32_t> find(std::string_view literal) const;
  /// Same literals and types, same text; for files that belong to a vocabulary.
  std::string hash() const;

 private:
  DecodeKind kind_;
  std::string arena_;
  std::vector<uint32_t> ends_;
  std::vector<TokenType> types_;
};

}  // namespace paceline::text
