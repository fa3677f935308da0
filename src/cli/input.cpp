#include "cli/input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "paceline/error.h"

namespace paceline::cli {
namespace {

constexpr int kWait_ms = 2000;
constexpr std::size_t kChunk = 1 << 16;

Error read_failure(const std::string& what) {
  return {ErrorCode::io, "[" + what + "] cannot read: " + std::strerror(errno)};
}

}  // namespace

std::string read_all(int fd, const std::function<void()>& on_wait) {
  pollfd input{fd, POLLIN, 0};
  if (::poll(&input, 1, kWait_ms) == 0) {
    on_wait();
  }
  std::string text;
  std::vector<char> chunk(kChunk);
  while (true) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count == 0 || (count < 0 && errno == EBADF)) {
      return text;
    }
    if (count < 0 && errno != EINTR) {
      throw read_failure("stdin");
    }
    text.append(chunk.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    if (text.size() > kInputBytesMax) {
      throw Error(ErrorCode::invalid_argument, "[stdin] found more than " +
                                                   std::to_string(kInputBytesMax >> 20) +
                                                   " MiB, expected less");
    }
  }
}

std::string read_file(const std::string& path, const std::string& where) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
    throw Error(code, "[" + where + "] cannot open '" + path + "': " + std::strerror(errno));
  }
  std::string text;
  try {
    text = read_all(fd, [] {});
  } catch (const Error& error) {
    ::close(fd);
    throw Error(error.code(), "[" + where + "] '" + path + "': " + error.what());
  }
  ::close(fd);
  return text;
}

}  // namespace paceline::cli
