#include "cli/catalogue/helper.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "paceline/error.h"

namespace paceline::cli {

namespace fs = std::filesystem;

namespace {

/// Ignores Ctrl-C for as long as it lives.
class IgnoreInterrupts {
 public:
  IgnoreInterrupts() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &before_);
  }
  ~IgnoreInterrupts() { sigaction(SIGINT, &before_, nullptr); }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

 private:
  struct sigaction before_{};
};

/// The child's signals are the default ones.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw Error(ErrorCode::io,
                  std::string("[pull] cannot wait for python3: ") + std::strerror(errno));
    }
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

fs::path find_fetch_helper(const fs::path& executable) {
  const fs::path helper =
      (executable.parent_path() / ".." / "share" / "paceline" / "fetch_model.py")
          .lexically_normal();
  if (fs::exists(helper)) {
    return helper;
  }
  throw Error(ErrorCode::not_found,
              "[pull] found no fetch_model.py near " + executable.string() +
                  ", expected it in ../share/paceline; give a path to a model file instead");
}

int run_python(const fs::path& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"python3", script.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const SpawnAttributes attributes;
  const IgnoreInterrupts ignore;
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, "python3", nullptr, attributes.get(), argv.data(), environ);
  if (failure != 0) {
    throw Error(ErrorCode::not_found, std::string("[pull] cannot start python3: ") +
                                          std::strerror(failure) +
                                          "; install python3, or give a path to a model file");
  }
  return wait_for(child);
}

}  // namespace paceline::cli
