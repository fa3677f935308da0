#pragma once

#include <string>
#include <string_view>

#include "paceline/error.h"
#include "text/bridge/bridge.h"

namespace paceline::text {

inline PlBytes borrow(std::string_view text) { return {text.data(), text.size()}; }

/// Owns bytes that the bridge gave.
class BridgeText {
 public:
  BridgeText() = default;
  ~BridgeText() { pl_buffer_free(buffer_); }
  BridgeText(const BridgeText&) = delete;
  BridgeText& operator=(const BridgeText&) = delete;

  PlBuffer* out() { return &buffer_; }
  std::string_view view() const { return {buffer_.data, buffer_.size}; }

 private:
  PlBuffer buffer_{};
};

/// Throws the Error that a failed call stands for; `where` goes in front of the bridge's text.
void require_ok(PlStatus status, std::string_view where, const BridgeText& error);

}  // namespace paceline::text
