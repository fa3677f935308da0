#pragma once

namespace paceline::cli {

/// While it lives, Ctrl-C makes fd() readable instead of ending the process. One at a time.
class Interrupt {
 public:
  enum class Second {
    ends_process,  ///< a second Ctrl-C has its usual effect
    is_recorded,
  };
  explicit Interrupt(Second second);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  int fd() const { return fd_; }
  /// Whether Ctrl-C came since the last call.
  bool take() const;

 private:
  int fd_;
};

}  // namespace paceline::cli
