#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "paceline/error.h"

namespace paceline::base {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* step) {
  const int error = errno;
  const ErrorCode code = error == ENOENT ? ErrorCode::not_found : ErrorCode::io;
  throw Error(code, "[file] cannot " + std::string(step) + " '" + path.string() +
                        "': " + std::strerror(error));
}

/// Owns a descriptor until the end of the constructor.
struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  // Without O_NONBLOCK opening a FIFO waits for a writer, before anybody can see that it is no
  // regular file.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail(path, "open");
  const Descriptor descriptor{fd};
  struct stat status{};
  if (::fstat(fd, &status) != 0) fail(path, "read the size of");
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::io, "[file] '" + path.string() + "' is not a regular file");
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapped == MAP_FAILED) fail(path, "map");
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::drop_resident() const { drop_resident(bytes()); }

void MappedFile::drop_resident(std::span<const std::byte> bytes) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(data_);
  const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t begin = std::max(start, at) / page * page;
  const std::uintptr_t end = std::min(start + size_, at + bytes.size());
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace paceline::base
