#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace paceline::base {

/// A whole file mapped read-only. The bytes stay valid for the object's life.
class MappedFile {
 public:
  /// Throws Error{not_found} or Error{io} naming the path. An empty file maps to an empty span.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }
  /// Gives resident pages back to the system: of the whole file, or of the part of `bytes` that
  /// lies in it. They are read again on the next access.
  void drop_resident() const;
  void drop_resident(std::span<const std::byte> bytes) const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace paceline::base
