#include <paceline/engine.h>
#include <paceline/error.h>
#include <paceline/version.h>

#include <iostream>

namespace {

/// An exception thrown inside the library is caught by its type outside.
bool catches_errors() {
  try {
    (void)paceline::Engine::load("/no/such/model.gguf", {});
  } catch (const paceline::Error& error) {
    return error.code() == paceline::ErrorCode::not_found &&
           paceline::name(error.code()) == "not_found";
  }
  return false;
}

}  // namespace

int main() {
  if (!catches_errors() || paceline::mlx_version().empty()) return 1;
  std::cout << "paceline " << paceline::version() << "\n";
  return 0;
}
