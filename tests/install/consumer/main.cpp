#include <paceline/engine.h>
#include <paceline/error.h>
#include <paceline/tokenizer.h>
#include <paceline/version.h>

#include <iostream>

namespace {

/// An exception thrown inside the library is caught by its type outside.
template <typename Load>
bool is_refused(Load load) {
  try {
    (void)load("/no/such/model.gguf");
  } catch (const paceline::Error& error) {
    return error.code() == paceline::ErrorCode::not_found &&
           paceline::name(error.code()) == "not_found";
  }
  return false;
}

}  // namespace

int main() {
  const bool engine = is_refused([](const char* path) { return paceline::Engine::load(path); });
  const bool tokenizer =
      is_refused([](const char* path) { return paceline::Tokenizer::load(path); });
  if (!engine || !tokenizer || paceline::mlx_version().empty()) return 1;
  std::cout << "paceline " << paceline::version() << "\n";
  return 0;
}
