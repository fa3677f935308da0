#include "support/golden_file.h"

#include <cstring>
#include <stdexcept>

#include "base/mapped_file.h"
#include "formats/safetensors.h"

namespace paceline::testing {

struct GoldenFile::Impl {
  base::MappedFile file;
  formats::SafetensorsFile parsed;
  explicit Impl(const std::filesystem::path& path)
      : file(path), parsed(formats::parse_safetensors(file.bytes(), path.string())) {}

  const blocks::StoredTensor* find(const std::string& name) const {
    for (const blocks::StoredTensor& tensor : parsed.tensors) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }

  const blocks::StoredTensor& get(const std::string& name, blocks::Encoding encoding) const {
    const blocks::StoredTensor* tensor = find(name);
    if (tensor == nullptr || tensor->encoding != encoding) {
      throw std::runtime_error("golden file lacks '" + name + "' in the expected type");
    }
    return *tensor;
  }
};

GoldenFile::GoldenFile(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
GoldenFile::~GoldenFile() = default;

bool GoldenFile::has(const std::string& name) const { return impl_->find(name) != nullptr; }

Matrix<float> GoldenFile::floats(const std::string& name) const {
  const blocks::StoredTensor& tensor = impl_->get(name, blocks::Encoding::f32);
  Matrix<float> matrix{.rows = tensor.rows(), .columns = tensor.columns(), .values = {}};
  matrix.values.resize(tensor.data.size() / sizeof(float));
  std::memcpy(matrix.values.data(), tensor.data.data(), tensor.data.size());
  return matrix;
}

std::vector<int32_t> GoldenFile::ints(const std::string& name) const {
  const blocks::StoredTensor& tensor = impl_->get(name, blocks::Encoding::i32);
  std::vector<int32_t> values(tensor.data.size() / sizeof(int32_t));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

}  // namespace paceline::testing
