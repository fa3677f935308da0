#include "kernels/check.h"

#include <mlx/dtype.h>

#include "paceline/error.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

void check(const char* where, const char* name, const mx::array& x, const mx::Shape& shape,
           mx::Dtype dtype) {
  if (x.shape() != shape) {
    refuse(where, std::string(name) + " has shape " + shape_text(x.shape()) + ", expected " +
                      shape_text(shape));
  }
  if (x.dtype() != dtype) {
    refuse(where, std::string(name) + " is not " + (dtype == mx::float32 ? "float32" : "int32"));
  }
}

}  // namespace

std::string shape_text(const mx::Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

void check_f32(const char* where, const char* name, const mx::array& x, const mx::Shape& shape) {
  check(where, name, x, shape, mx::float32);
}

void check_i32(const char* where, const char* name, const mx::array& x, const mx::Shape& shape) {
  check(where, name, x, shape, mx::int32);
}

void refuse(const char* where, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, std::string("[") + where + "] " + what);
}

}  // namespace paceline::kernels
