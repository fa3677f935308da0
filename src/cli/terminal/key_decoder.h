#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline::cli {

struct Key {
  enum class Kind {
    text,   ///< one code point
    paste,  ///< bracketed paste: any text, newlines included
    enter,
    newline,  ///< Alt-Enter
    left,
    right,
    word_left,
    word_right,
    up,
    down,
    home,
    end,
    backspace,
    erase,  ///< Delete
    kill_to_end,
    kill_to_start,
    kill_word,
    clear_screen,
    interrupt,     ///< Ctrl-C
    end_of_input,  ///< Ctrl-D
    suspend,       ///< Ctrl-Z
    unknown,
  };
  Kind kind = Kind::unknown;
  std::string text{};  ///< text and paste: valid UTF-8

  bool operator==(const Key&) const = default;
};

/// Turns the bytes of a terminal in raw mode into keys, however they are cut.
class KeyDecoder {
 public:
  std::vector<Key> feed(std::string_view bytes);
  /// Bytes wait for more: an escape sequence or a code point that is not complete.
  bool pending() const { return !pending_.empty() && !pasting_; }
  /// No more is coming: what waits is dropped (a lone Escape does nothing).
  void drop_pending() { pending_.clear(); }

 private:
  bool take_paste(std::vector<Key>& keys);
  bool take_escape(std::vector<Key>& keys);
  bool take_text(std::vector<Key>& keys);

  std::string pending_;
  bool pasting_ = false;
};

}  // namespace paceline::cli
