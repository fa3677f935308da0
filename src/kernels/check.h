#pragma once

#include <mlx/array.h>

#include <string>

namespace paceline::kernels {

/// "[2, 3]"
std::string shape_text(const mlx::core::Shape& shape);
/// Throws Error{invalid_argument} "[where] name is ..., expected ..." unless `x` is f32 (or i32) of
/// this shape.
void check_f32(const char* where, const char* name, const mlx::core::array& x,
               const mlx::core::Shape& shape);
void check_i32(const char* where, const char* name, const mlx::core::array& x,
               const mlx::core::Shape& shape);
[[noreturn]] void refuse(const char* where, const std::string& what);

}  // namespace paceline::kernels
