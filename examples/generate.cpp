// Loads a model and streams one answer: generate MODEL PROMPT [WORD]. Stops when WORD has been
// written.
#include <paceline/engine.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MODEL PROMPT [WORD]\n", argv[0]);
    return 2;
  }
  try {
    const auto engine = paceline::Engine::load(argv[1]);
    paceline::Request request;
    request.messages = {{.role = "user", .content = argv[2]}};
    request.sampling = engine->sampling_defaults();
    request.tokens_max = 128;
    if (argc > 3) request.stop = {argv[3]};

    engine->generate(request, [](const paceline::Event& event) {
      std::fputs(event.text.c_str(), stdout);
      std::fflush(stdout);
      if (event.kind != paceline::Event::Kind::finished) return;
      std::printf("\n[%s, %d tokens, seed %llu]\n", name(event.reason),
                  event.usage.completion_tokens, static_cast<unsigned long long>(event.usage.seed));
      if (event.error) std::fprintf(stderr, "%s\n", event.error->what());
    });
  } catch (const paceline::Error& error) {
    std::fprintf(stderr, "%s: %s\n", std::string(name(error.code())).c_str(), error.what());
    return 1;
  }
  return 0;
}
