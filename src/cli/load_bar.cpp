#include "cli/load_bar.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "cli/catalogue/helper.h"
#include "cli/numbers.h"

namespace paceline::cli {
namespace {

constexpr std::chrono::milliseconds kBetween{100};
constexpr std::string_view kErase = "\r\x1b[K";
constexpr int kBarLeast = 5;
constexpr double kRateFrom = 0.2;  // seconds; a rate before that says nothing

std::atomic<bool> g_shown = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // the handler reads it

extern "C" void end_load(int) {
  if (g_shown.load()) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kErase.data(), kErase.size());
  }
  ::_exit(kInterrupted);
}

int columns_of(const Settings& settings) {
  winsize window{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    return window.ws_col;
  }
  return settings.columns > 0 ? settings.columns : 80;
}

std::string time_left(const BarState& state) {
  const double seconds = state.seconds / state.fraction * (1 - state.fraction);
  if (seconds < 60) {
    return fmt::format("{:.0f} s left", seconds);
  }
  return fmt::format("{:.0f} min left", seconds / 60);
}

std::string tail_of(const BarState& state) {
  std::string tail = fmt::format("{:.0f} %", 100 * state.fraction);
  const bool has_rate = state.fraction > 0 && state.seconds > kRateFrom;
  if (state.bytes > 0) {
    tail += " of " + format_bytes(state.bytes);
  }
  if (state.bytes > 0 && has_rate) {
    const double rate = static_cast<double>(state.bytes) * state.fraction / state.seconds;
    tail += ", " + format_bytes(static_cast<int64_t>(rate)) + "/s";
  }
  return has_rate ? tail + ", " + time_left(state) : tail;
}

}  // namespace

std::string bar_line(const std::string& name, const BarState& state) {
  const std::string head = "loading " + name;
  const std::string tail = tail_of(state);
  const int around = static_cast<int>(head.size() + tail.size()) + 6;  // "  [" and "]  "
  const int room = std::min(state.columns - 1 - around, 40);
  if (room < kBarLeast) {
    const std::string line = fmt::format("loading {:.0f} %", 100 * state.fraction);
    return line.substr(0, static_cast<std::size_t>(std::max(state.columns - 1, 0)));
  }
  const int full = std::clamp(static_cast<int>(room * state.fraction), 0, room);
  std::string filled(static_cast<std::size_t>(full), '#');
  if (state.with_colour) {
    filled = "\x1b[36m" + filled + "\x1b[0m";
  }
  return fmt::format("{}  [{}{}]  {}", head, filled,
                     std::string(static_cast<std::size_t>(room - full), '.'), tail);
}

LoadBar::LoadBar(const std::string& name, int64_t bytes, const Console& console)
    : name_(one_line(name)), bytes_(bytes), console_(console) {
  struct sigaction before{};
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler == SIG_IGN) {
    return;  // a background job
  }
  struct sigaction action{};
  action.sa_handler = end_load;
  sigaction(SIGINT, &action, nullptr);
}

LoadBar::~LoadBar() {
  struct sigaction now{};
  sigaction(SIGINT, nullptr, &now);
  if (now.sa_handler == end_load) {
    now.sa_handler = SIG_DFL;
    sigaction(SIGINT, &now, nullptr);
  }
  if (g_shown.exchange(false)) {
    console_.live("");
  }
}

void LoadBar::show(double fraction) {
  const Clock::time_point now = Clock::now();
  if (!console_.settings().live_error || now < next_) {
    return;
  }
  next_ = now + kBetween;
  g_shown = true;
  console_.live(bar_line(name_, {.fraction = std::clamp(fraction, 0.0, 1.0),
                                 .seconds = std::chrono::duration<double>(now - start_).count(),
                                 .bytes = bytes_,
                                 .columns = columns_of(console_.settings()),
                                 .with_colour = console_.settings().colour_error}));
}

}  // namespace paceline::cli
