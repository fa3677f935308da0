#include <doctest/doctest.h>
#include <mlx/ops.h>

#include <stdexcept>
#include <string>

#include "array/cpu_primitive.h"
#include "array/runtime.h"
#include "paceline/error.h"

namespace mx = mlx::core;
using namespace paceline;

TEST_CASE("the loaded MLX is the version of the headers") { array::check_mlx_version(); }

TEST_CASE("another MLX version is refused and both are named") {
  array::check_mlx_version("0.32.4", "0.32.4");
  try {
    array::check_mlx_version("0.32.4", "0.33.0");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK(std::string(error.what()).find("0.32.4") != std::string::npos);
    CHECK(std::string(error.what()).find("0.33.0") != std::string::npos);
  }
}

TEST_CASE("inside Eager operations are finished at once and unfinished operands are refused") {
  const auto twice = [](const mx::array& x) {
    return array::cpu_op("Twice", {x.shape(), mx::float32}, {x}, [n = x.size()](const auto& o) {
      for (std::size_t i = 0; i < n; ++i)
        o.template out<float>()[i] = 2 * o.template in<float>(0)[i];
    });
  };
  const auto x = array::f32_array(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK_FALSE(twice(x).is_available());
  const mx::array unfinished = mx::add(x, x);
  {
    const array::Eager eager;
    const auto y = twice(array::reshape(twice(x), {3, 2}));
    CHECK(y.is_available());
    CHECK(y.shape() == mx::Shape{3, 2});
    CHECK(array::to_vector(y) == std::vector<float>{4, 8, 12, 16, 20, 24});
    CHECK(array::to_vector(array::take_rows(y, {2, 0})) == std::vector<float>{20, 24, 4, 8});
    CHECK(array::take_rows(y, {}).shape() == mx::Shape{0, 2});
    CHECK_THROWS_AS(array::take_rows(y, {3}), Error);
    CHECK_THROWS_AS(twice(unfinished), Error);
  }
  CHECK_FALSE(twice(x).is_available());
}

TEST_CASE("arrays copy in and out and refuse a wrong size") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto a = array::f32_array(values, {2, 3});
  CHECK(array::to_vector(a) == values);
  CHECK(array::to_vector(mx::transpose(a)) == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK_THROWS_AS(array::f32_array(values, {2, 2}), Error);
  std::vector<float> five(5);
  CHECK_THROWS_AS(array::copy_out(a, std::span<float>(five)), Error);
  const std::vector<int32_t> ids{7, 8};
  std::vector<int32_t> back(2);
  array::copy_out(array::i32_array(ids, {2}), std::span<int32_t>(back));
  CHECK(back == ids);
}

namespace {

mx::array doubled(const mx::array& x) {
  const auto count = x.size();
  return array::cpu_op("Doubled", {x.shape(), mx::float32}, {x},
                       [count](const array::Operands& operands) {
                         for (size_t i = 0; i < count; ++i) {
                           operands.out<float>()[i] = 2 * operands.in<float>(0)[i];
                         }
                       });
}

}  // namespace

TEST_CASE("a primitive sees strided, broadcast and sliced inputs as rows") {
  const auto a = array::f32_array(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(array::to_vector(doubled(mx::transpose(a))) == std::vector<float>{2, 8, 4, 10, 6, 12});
  CHECK(array::to_vector(doubled(mx::slice(a, {0, 1}, {2, 3}))) ==
        std::vector<float>{4, 6, 10, 12});
  const auto one = array::f32_array(std::vector<float>{3}, {1, 1});
  CHECK(array::to_vector(doubled(mx::broadcast_to(one, {2, 2}))) == std::vector<float>{6, 6, 6, 6});
  CHECK(array::to_vector(doubled(mx::transpose(doubled(a)))) ==
        std::vector<float>{4, 16, 8, 20, 12, 24});
  CHECK(array::to_vector(doubled(mx::zeros({0, 3}))).empty());
}

TEST_CASE("an exception of a kernel reaches the evaluating thread") {
  auto bad = array::cpu_op("Bad", {{1}, mx::float32}, {},
                           [](const array::Operands&) { throw std::runtime_error("kernel"); });
  CHECK_THROWS_AS(array::evaluate({bad}), std::runtime_error);
}

TEST_CASE("limits are taken") {
  array::set_memory_limits({.memory_bytes = 0, .cache_bytes = std::size_t{256} << 20});
}
