#include "cli/interrupt.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "paceline/error.h"

namespace paceline::cli {
namespace {

std::atomic<int> g_fd = -1;
static_assert(std::atomic<int>::is_always_lock_free);  // the handler reads it

extern "C" void on_interrupt(int) {
  const int saved = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(g_fd.load(), &one, sizeof one);
  errno = saved;
}

}  // namespace

Interrupt::Interrupt(Second second) : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) {
    throw Error(ErrorCode::io, std::string("[interrupt] eventfd: ") + std::strerror(errno));
  }
  g_fd = fd_;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = second == Second::ends_process ? static_cast<int>(SA_RESETHAND) : 0;
  sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() {
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGINT, &usual, nullptr);
  g_fd = -1;
  ::close(fd_);
}

bool Interrupt::take() const {
  uint64_t count = 0;
  return ::read(fd_, &count, sizeof count) == sizeof count;
}

}  // namespace paceline::cli
