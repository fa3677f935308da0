#include "cli/terminal/line_editor.h"

#include <doctest/doctest.h>

#include "cli/terminal/line_view.h"
#include "cli/terminal/multi_line.h"
#include "cli/terminal/text_width.h"

using namespace paceline::cli;
using Kind = Key::Kind;

namespace {

/// Types bytes as a terminal would send them; the outcome of the last key.
LineEditor::Outcome type(LineEditor& editor, std::string_view bytes) {
  KeyDecoder decoder;
  LineEditor::Outcome outcome = LineEditor::Outcome::editing;
  for (const Key& key : decoder.feed(bytes)) {
    outcome = editor.handle(key);
  }
  return outcome;
}

std::string typed(std::string_view bytes) {
  LineEditor editor;
  type(editor, bytes);
  return editor.text();
}

}  // namespace

TEST_CASE("keys come out the same however their bytes are cut") {
  const std::string bytes =
      "h\xC3\xA9\xF0\x9F\x8E\x89\x1b[A\x1b[3~\x1bOH\x1b[1;5C\x1b[200~a\rb\x1b[201~\x03\r";
  KeyDecoder whole;
  const std::vector<Key> expected = whole.feed(bytes);
  REQUIRE(expected.size() == 10);
  CHECK(expected[1] == Key{Kind::text, "\xC3\xA9"});
  CHECK(expected[3].kind == Kind::up);
  CHECK(expected[4].kind == Kind::erase);
  CHECK(expected[5].kind == Kind::home);
  CHECK(expected[6].kind == Kind::word_right);
  CHECK(expected[7] == Key{Kind::paste, "a\nb"});
  CHECK(expected[8].kind == Kind::interrupt);
  KeyDecoder pieces;
  std::vector<Key> found;
  for (const char byte : bytes) {
    for (const Key& key : pieces.feed({&byte, 1})) {
      found.push_back(key);
    }
  }
  CHECK(found == expected);
  CHECK_FALSE(pieces.pending());
}

TEST_CASE("bytes that are no keys do no harm") {
  CHECK(typed("a\xFFz") == "a\xEF\xBF\xBDz");
  CHECK(typed("a\x1b[99~b\x1b[?1;2cc\x1bxd") == "abcd");
  KeyDecoder decoder;
  CHECK(decoder.feed("\x1b").empty());
  CHECK(decoder.pending());
  decoder.drop_pending();
  CHECK(decoder.feed("a").size() == 1);
  CHECK(decoder.feed("\x1b[" + std::string(100, '1')).empty());
  CHECK_FALSE(decoder.pending());
}

TEST_CASE("editing moves and deletes whole characters") {
  CHECK(typed("ab\x02X") == "aXb");             // Ctrl-B
  CHECK(typed("ab\x01X\x05Y") == "XabY");       // Ctrl-A, Ctrl-E
  CHECK(typed("e\xCC\x81z\x02\x7F!") == "!z");  // a combining mark goes with its letter
  CHECK(typed("\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBBx\x02\x7F") == "x");  // joined emoji
  CHECK(typed("abc\x1b[D\x1b[D\x1b[3~") == "ac");
  CHECK(typed("one two\x17") == "one ");           // Ctrl-W
  CHECK(typed("one two\x02\x02\x0B") == "one t");  // Ctrl-K
  CHECK(typed("one two\x02\x15") == "o");          // Ctrl-U
  CHECK(typed("ab\x01\x04") == "b");               // Ctrl-D deletes in a text
  CHECK(typed("one two\x1b[1;5D\x1b[1;5DX") == "Xone two");
  CHECK(typed("\x7F\x1b[D\x1b[C\x0B\x15\x17") == "");
}

TEST_CASE("Enter submits, Ctrl-C interrupts, Ctrl-D ends an empty text") {
  LineEditor editor;
  CHECK(type(editor, "\x04") == LineEditor::Outcome::ended);
  CHECK(type(editor, "a\r") == LineEditor::Outcome::submitted);
  CHECK(editor.text() == "a");
  CHECK(type(editor, "\x03") == LineEditor::Outcome::interrupted);
  CHECK(type(editor, "\x0C") == LineEditor::Outcome::clear_screen);
  CHECK(type(editor, "\x1a") == LineEditor::Outcome::suspended);
}

TEST_CASE("a paste is text, its newlines do not submit") {
  LineEditor editor;
  CHECK(type(editor, "\x1b[200~one\r\ntwo\x03\x1b[201~") == LineEditor::Outcome::editing);
  CHECK(editor.text() == "one\ntwo\x03");
  CHECK(typed("a\x1b\rb") == "a\nb");  // Alt-Enter
}

TEST_CASE("the history keeps the draft and drops repetitions") {
  LineEditor editor;
  editor.remember("first");
  editor.remember("second");
  editor.remember("second");
  editor.remember("");
  type(editor, "dra\x1b[A");
  CHECK(editor.text() == "second");
  type(editor, "\x1b[A\x1b[A\x1b[A");
  CHECK(editor.text() == "first");
  type(editor, "\x1b[B\x1b[B");
  CHECK(editor.text() == "dra");
  type(editor, "\x1b[B");
  CHECK(editor.text() == "dra");
}

TEST_CASE("up and down stay inside a text of several lines") {
  LineEditor editor;
  editor.remember("old");
  type(editor, "\x1b[200~one\ntwo\x1b[201~\x1b[AX");
  CHECK(editor.text() == "oneX\ntwo");
  type(editor, "\x1b[BY\x01Z");
  CHECK(editor.text() == "oneX\nZtwoY");
  type(editor, "\x1b[A\x1b[A");
  CHECK(editor.text() == "old");
}

TEST_CASE("history and text have limits") {
  LineEditor editor;
  for (std::size_t i = 0; i < LineEditor::kHistoryMax + 10; ++i) {
    editor.remember(std::to_string(i));
  }
  for (std::size_t i = 0; i < LineEditor::kHistoryMax + 10; ++i) {
    editor.handle({Kind::up, {}});
  }
  CHECK(editor.text() == "10");
  editor.clear();
  editor.handle({Kind::paste, std::string(LineEditor::kBytesMax, 'a')});
  CHECK(editor.text().size() == LineEditor::kBytesMax);
  editor.handle({Kind::text, "b"});
  CHECK(editor.text().size() == LineEditor::kBytesMax);
}

TEST_CASE("columns of wide, combining and control characters") {
  CHECK(shown("a").columns == 1);
  CHECK(shown("\xE4\xB8\x96").columns == 2);              // CJK
  CHECK(shown("e\xCC\x81").columns == 1);                 // e + acute
  CHECK(shown("\xF0\x9F\x8E\x89").columns == 2);          // party popper
  CHECK(shown("\xE2\x9D\xA4\xEF\xB8\x8F").columns == 2);  // heart in emoji style
  CHECK(shown("\x1b").text == "^[");
  CHECK(shown("\t").columns == 4);
  const std::string flags = "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7";
  CHECK(next_cluster(flags, 0) == 8);
  CHECK(previous_cluster(flags, 16) == 8);
  CHECK(previous_cluster("a\nb", 2) == 1);
  CHECK(previous_cluster("", 0) == 0);
}

TEST_CASE("long texts wrap and the cursor follows") {
  const Layout one = lay_out({">>> ", "... ", "abcdefgh", 8}, 10);
  CHECK(one.rows == std::vector<std::string>{">>> abcdef", "gh"});
  CHECK(one.cursor_row == 1);
  CHECK(one.cursor_column == 2);
  const Layout full = lay_out({">>> ", "... ", "abcdef", 6}, 10);
  CHECK(full.cursor_row == 1);
  CHECK(full.cursor_column == 0);
  const Layout wide = lay_out({">>> ", "... ", "abcde\xE4\xB8\x96", 5}, 10);
  CHECK(wide.rows == std::vector<std::string>{">>> abcde", "\xE4\xB8\x96"});
  const Layout lines = lay_out({">>> ", "... ", "a\nb", 1}, 10);
  CHECK(lines.rows == std::vector<std::string>{">>> a", "... b"});
  CHECK(lines.cursor_row == 0);
  CHECK(lines.cursor_column == 5);
}

TEST_CASE("a redraw starts where the last one started, and stays on the screen") {
  LineView view;
  CHECK(view.draw({">>> ", "... ", "a", 1}, {80, 24}) == "\r\x1b[J>>> a\r\x1b[5C");
  CHECK(view.draw({">>> ", "... ", "a\nb", 3}, {80, 24}) == "\r\x1b[J>>> a\r\n... b\r\x1b[5C");
  CHECK(view.draw({">>> ", "... ", "a\nb", 0}, {80, 24}) ==
        "\x1b[1A\r\x1b[J>>> a\r\n... b\x1b[1A\r\x1b[4C");
  CHECK(view.leave() == "\x1b[1B\r\n");
  const std::string tall = view.draw({"> ", "> ", "1\n2\n3\n4\n5\n6", 11}, {80, 4});
  CHECK(tall == "\r\x1b[J> 4\r\n> 5\r\n> 6\r\x1b[3C");
}

TEST_CASE("inputs of several lines") {
  MultiLine input;
  CHECK(input.add("one") == "one");
  CHECK_FALSE(input.add("one \\"));
  CHECK(input.open());
  CHECK(input.add("two") == "one \ntwo");
  CHECK_FALSE(input.add("\"\"\"one"));
  CHECK_FALSE(input.add(""));
  CHECK(input.add("two\"\"\"") == "one\n\ntwo");
  CHECK_FALSE(input.add("\"\"\""));
  CHECK_FALSE(input.add("x\\"));
  CHECK(input.add("\"\"\"") == "x\\");
  CHECK(input.add("\"\"\"a\"\"\"") == "a");
  CHECK_FALSE(input.add("\"\"\""));
  input.drop();
  CHECK(input.add("b") == "b");
}
