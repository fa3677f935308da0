#include "cli/answer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

namespace paceline::cli {
namespace {

/// Events on their way from the engine's thread; it holds no more than one answer's.
class Mailbox {
 public:
  Mailbox() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) {
      throw Error(ErrorCode::io, std::string("[answer] eventfd: ") + std::strerror(errno));
    }
  }
  ~Mailbox() { ::close(fd_); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void post(const Event& event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    }
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
  }

  std::vector<Event> take() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_, &count, sizeof count);
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

  int fd() const { return fd_; }

 private:
  int fd_;
  std::mutex mutex_;
  std::vector<Event> events_;  // guarded by mutex_
};

/// Nobody leaves while the engine may still post.
class RunningRequest {
 public:
  explicit RunningRequest(RequestHandle handle) : handle_(std::move(handle)) {}
  ~RunningRequest() {
    if (!finished_) {
      handle_.cancel();
    }
    handle_.wait();
  }
  RunningRequest(const RunningRequest&) = delete;
  RunningRequest& operator=(const RunningRequest&) = delete;
  void cancel() const { handle_.cancel(); }
  void finished() { finished_ = true; }

 private:
  RequestHandle handle_;
  bool finished_ = false;
};

void wait_for_either(int a, int b) {
  std::array<pollfd, 2> fds = {pollfd{a, POLLIN, 0}, pollfd{b, POLLIN, 0}};
  if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) {
    throw Error(ErrorCode::io, std::string("[answer] poll: ") + std::strerror(errno));
  }
}

/// Returns whether the event was the last.
bool take_in(Event event, Answer& answer, const std::function<void(std::string_view)>& on_text) {
  const bool last = event.kind == Event::Kind::finished;
  if (event.kind == Event::Kind::token) {
    answer.tokens.push_back(std::move(event.token));
  }
  if (last) {
    answer.reason = event.reason;
    answer.error = event.error;
    answer.usage = event.usage;
    answer.timings = event.timings;
  }
  if (!event.text.empty()) {
    answer.text += event.text;
    on_text(event.text);
  }
  return last;
}

double rate(double tokens, double ms) { return tokens > 0 && ms > 0 ? tokens * 1000.0 / ms : 0; }

}  // namespace

Answer answer(Engine& engine, Request request, const Interrupt& interrupt,
              const std::function<void(std::string_view)>& on_text) {
  Mailbox mailbox;
  RunningRequest running(
      engine.submit(std::move(request), [&mailbox](const Event& event) { mailbox.post(event); }));
  Answer result;
  while (true) {
    wait_for_either(mailbox.fd(), interrupt.fd());
    if (interrupt.take()) {
      running.cancel();
    }
    for (Event& event : mailbox.take()) {
      if (take_in(std::move(event), result, on_text)) {
        running.finished();
        return result;
      }
    }
  }
}

double prompt_rate(const Answer& answer) {
  return rate(answer.usage.prompt_tokens, answer.timings.prompt_ms);
}

double decode_rate(const Answer& answer) {
  return rate(answer.usage.completion_tokens - 1,
              answer.timings.decode_ms);  // the first token ends the prompt
}

}  // namespace paceline::cli
