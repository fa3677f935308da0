#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paceline::testing {

/// A matrix of a golden file: rows x columns, row major.
template <typename T>
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<T> values;
};

/// The named tensors of a safetensors file with expected results (tests/golden/README.md).
class GoldenFile {
 public:
  explicit GoldenFile(const std::filesystem::path& path);
  ~GoldenFile();
  bool has(const std::string& name) const;
  Matrix<float> floats(const std::string& name) const;
  std::vector<int32_t> ints(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline::testing
