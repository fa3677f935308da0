#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
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
  const std::less<> before;  // pointers into different blocks of memory
  const std::byte* const file_end = data_ + size_;
  const std::byte* const begin = before(bytes.data(), data_) ? data_ : bytes.data();
  const std::byte* const bytes_end = bytes.data() + bytes.size();
  const std::byte* const end = before(file_end, bytes_end) ? file_end : bytes_end;
  if (!before(begin, end)) return;
  const auto page = static_cast<std::ptrdiff_t>(::sysconf(_SC_PAGESIZE));
  const std::ptrdiff_t first = (begin - data_) / page * page;
  ::madvise(const_cast<std::byte*>(data_) + first, static_cast<std::size_t>(end - data_ - first),
            MADV_DONTNEED);
}

}  // namespace paceline::base
