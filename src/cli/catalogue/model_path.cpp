#include "cli/catalogue/model_path.h"

#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "cli/catalogue/cache.h"
#include "cli/catalogue/helper.h"
#include "cli/suggest.h"
#include "paceline/error.h"

namespace paceline::cli {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> neighbours(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < 1000;
       it.increment(error)) {
    names.push_back(it->path().filename());
  }
  return names;
}

std::string unknown_file(const std::string& text) {
  const fs::path path = text;
  return fmt::format(
      "[model] found no file or folder '{}', expected a .gguf or .safetensors file, a folder, or a "
      "name "
      "that 'paceline list' shows{}",
      text, did_you_mean(path.filename().string(), neighbours(path)));
}

}  // namespace

bool is_model(const std::string& text) {
  std::error_code error;
  return find_model(text) != nullptr || fs::exists(text, error);
}

bool has_model_suffix(const std::string& text) {
  return text.ends_with(".gguf") || text.ends_with(".safetensors");
}

std::string unknown_model(const std::string& where, const std::string& text) {
  const std::vector<std::string> names = catalogue_names();
  return fmt::format("[{}] found '{}', expected a file, a folder or one of {}{}", where, text,
                     fmt::join(names, ", "), did_you_mean(text, names));
}

void fetch_model(const CatalogueModel& model, const ModelFlags& flags, const Console& console) {
  const fs::path root = cache_root(console.settings(), flags.cache_dir);
  if (is_cached(root, model)) {
    return;
  }
  std::vector<std::string> arguments = {model.name, "--cache-dir", root.string()};
  if (flags.accept_licence) {
    arguments.emplace_back("--accept-licence");
  }
  const int code = run_python(find_fetch_helper(console.settings().executable), arguments);
  if (code != 0) {
    throw ExitWith(code == kInterrupted ? kInterrupted : 1);
  }
}

fs::path model_path(const ModelFlags& flags, const Console& console) {
  const std::string& text = flags.model.empty() ? starter_model().name : flags.model;
  if (const CatalogueModel* model = find_model(text)) {
    fetch_model(*model, flags, console);
    return path_in_cache(cache_root(console.settings(), flags.cache_dir), *model);
  }
  if (is_model(text)) {
    return text;
  }
  throw Error(ErrorCode::not_found, text.find('/') != std::string::npos || has_model_suffix(text)
                                        ? unknown_file(text)
                                        : unknown_model("model", text));
}

}  // namespace paceline::cli
