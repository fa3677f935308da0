#include "cli/terminal/line_reader.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/utf8.h"
#include "cli/console.h"
#include "paceline/error.h"

namespace paceline::cli {
namespace {

constexpr int kEscapeWait_ms = 50;  // what follows an Escape within this time belongs to it
constexpr std::string_view kPasteOn = "\x1b[?2004h";
constexpr std::string_view kPasteOff = "\x1b[?2004l";

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::io, std::string("[terminal] ") + what + ": " + std::strerror(errno));
}

/// Keys come one by one and unechoed, Ctrl-C as a key.
class RawMode {
 public:
  explicit RawMode(int output) : output_(output) {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) {
      fail("tcgetattr");
    }
    enter();
  }
  ~RawMode() { leave(); }
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

  /// The program stops until the shell continues it.
  void suspend() const {
    leave();
    ::raise(SIGTSTP);
    enter();
  }

 private:
  void enter() const {
    termios raw = before_;
    raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    [[maybe_unused]] const ssize_t written = ::write(output_, kPasteOn.data(), kPasteOn.size());
  }
  void leave() const {
    [[maybe_unused]] const ssize_t written = ::write(output_, kPasteOff.data(), kPasteOff.size());
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }

  int output_;
  termios before_{};
};

}  // namespace

LineReader::LineReader(const Settings& settings, const Interrupt& interrupt)
    : settings_(settings),
      interrupt_(interrupt),
      output_(settings.terminal.output ? STDOUT_FILENO : STDERR_FILENO) {}

LineReader::Result LineReader::read(std::string_view prompt, std::string_view prompt_below) {
  return settings_.line_editing ? read_edited(prompt, prompt_below) : read_plain(prompt);
}

LineReader::Result LineReader::read_edited(std::string_view prompt, std::string_view prompt_below) {
  const RawMode raw(output_);
  editor_.clear();
  while (true) {
    draw(prompt, prompt_below);
    const bool was_empty = editor_.text().empty();
    switch (next_outcome()) {
      case LineEditor::Outcome::editing:
        break;
      case LineEditor::Outcome::submitted:
        draw(prompt, prompt_below);  // keys that came in one read are not on the screen yet
        show(view_.leave());
        return {Kind::line, editor_.text()};
      case LineEditor::Outcome::interrupted:
        show(view_.leave());
        return {Kind::interrupted, {}, was_empty};
      case LineEditor::Outcome::ended:
        show(view_.leave());
        return {Kind::ended};
      case LineEditor::Outcome::clear_screen:
        show(view_.clear_screen());
        break;
      case LineEditor::Outcome::suspended:
        show(view_.leave());
        raw.suspend();
        break;
    }
  }
}

/// Handles all keys that are there before the next drawing.
LineEditor::Outcome LineReader::next_outcome() {
  if (keys_.empty() && !fill_keys()) {
    return LineEditor::Outcome::ended;
  }
  LineEditor::Outcome outcome = LineEditor::Outcome::editing;
  while (!keys_.empty() && outcome == LineEditor::Outcome::editing) {
    outcome = editor_.handle(keys_.front());
    keys_.pop_front();
  }
  return outcome;
}

/// False at the end of the input.
bool LineReader::fill_keys() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = ::poll(&input, 1, decoder_.pending() ? kEscapeWait_ms : -1);
  if (ready == 0) {
    decoder_.drop_pending();
    return true;
  }
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno != EINTR && errno != EAGAIN) {
    return false;  // the terminal is gone
  }
  if (count == 0) {
    return false;
  }
  for (Key& key : decoder_.feed({bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0})) {
    keys_.push_back(std::move(key));
  }
  return true;
}

void LineReader::draw(std::string_view prompt, std::string_view prompt_below) {
  show(view_.draw({prompt, prompt_below, editor_.text(), editor_.cursor()}, size()));
}

void LineReader::show(const std::string& bytes) const { write_all(output_, bytes, "terminal"); }

ViewSize LineReader::size() const {
  ViewSize size;
  winsize window{};
  if (ioctl(output_, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    size = {window.ws_col, window.ws_row > 0 ? window.ws_row : size.rows};
  } else if (settings_.columns > 0) {
    size.columns = settings_.columns;
  }
  return size;
}

/// False when Ctrl-C came first. It is seen through its descriptor: a signal between two calls
/// would be lost.
bool LineReader::wait_for_input() const {
  std::array<pollfd, 2> both{{{STDIN_FILENO, POLLIN, 0}, {interrupt_.fd(), POLLIN, 0}}};
  while (::poll(both.data(), both.size(), -1) < 0 && errno == EINTR) {
  }
  return !interrupt_.take();
}

LineReader::Result LineReader::read_plain(std::string_view prompt) {
  static_cast<void>(interrupt_.take());  // one that came during an answer has done its work
  show(std::string(prompt));
  while (plain_.find('\n') == std::string::npos) {
    if (!wait_for_input()) {
      show("\n");
      return {Kind::interrupted, {}, std::exchange(plain_, {}).empty()};
    }
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || plain_.size() > LineEditor::kBytesMax) {
      show("\n");
      return {Kind::ended};
    }
    plain_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end = plain_.find('\n');
  Result result{Kind::line, base::repair_utf8(std::string_view(plain_).substr(0, end))};
  plain_.erase(0, end + 1);
  return result;
}

}  // namespace paceline::cli
