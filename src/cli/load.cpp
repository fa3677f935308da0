#include "cli/load.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/catalogue/model_path.h"
#include "cli/input.h"
#include "cli/load_bar.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

// Of one file; 0 for folders and parts of a split file, whose rate is not shown.
int64_t stored_bytes(const fs::path& path) {
  std::error_code error;
  if (path.filename().string().find("-of-") != std::string::npos ||
      !fs::is_regular_file(path, error)) {
    return 0;
  }
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

std::string name_of(const ModelFlags& flags, const fs::path& path) {
  if (flags.model.empty()) {
    return starter_model().name;
  }
  const fs::path file = path.filename().empty() ? path.parent_path().filename() : path.filename();
  return find_model(flags.model) != nullptr ? flags.model : file.string();
}

}  // namespace

std::unique_ptr<Engine> load_engine(const ModelFlags& model, const LoadFlags& flags,
                                    const Console& console) {
  LoadOptions options;
  options.context = flags.context;
  options.threads = flags.threads;
  options.ops = flags.portable ? Ops::portable : Ops::automatic;
  options.numerics = flags.exact ? Numerics::exact : Numerics::fast;
  options.kv_type = flags.kv;
  options.isa = flags.isa;
  options.pre_override = flags.pre;
  if (!flags.chat_template_file.empty()) {
    options.chat_template = read_file(flags.chat_template_file, "--chat-template");
  }
  const std::filesystem::path path = model_path(model, console);
  LoadBar bar(name_of(model, path), stored_bytes(path), console);
  options.load_progress = [&bar](double fraction) { bar.show(fraction); };
  return Engine::load(path, options);
}

}  // namespace paceline::cli
