#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/catalogue/cache.h"
#include "cli/catalogue/model_path.h"
#include "cli/commands/commands.h"
#include "cli/numbers.h"
#include "paceline/error.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<CachedFile> files_outside_the_catalogue(const std::filesystem::path& root) {
  std::vector<CachedFile> files = cached_files(root);
  const auto known = [](const CachedFile& entry) {
    const auto& models = catalogue();
    return std::any_of(models.begin(), models.end(),
                       [&](const auto& model) { return model.file == entry.file; });
  };
  files.erase(std::remove_if(files.begin(), files.end(), known), files.end());
  return files;
}

std::string list_json(const std::filesystem::path& root) {
  Json json{{"cache", root.string()}, {"models", Json::array()}, {"other_files", Json::array()}};
  for (const CatalogueModel& model : catalogue()) {
    json["models"].push_back({{"name", model.name},
                              {"description", model.description},
                              {"licence", model.licence},
                              {"bytes", model.bytes},
                              {"cached", is_cached(root, model)},
                              {"path", path_in_cache(root, model).string()}});
  }
  for (const CachedFile& entry : files_outside_the_catalogue(root)) {
    json["other_files"].push_back({{"file", entry.file}, {"bytes", entry.bytes}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string list_text(const std::filesystem::path& root) {
  std::size_t width = 4;
  for (const CatalogueModel& model : catalogue()) {
    width = std::max(width, model.name.size());
  }
  std::string text = fmt::format("{:<{}}  {:>9}  {:<6}  {}\n", "NAME", width, "SIZE", "CACHED",
                                 "LICENCE, DESCRIPTION");
  for (const CatalogueModel& model : catalogue()) {
    text +=
        fmt::format("{:<{}}  {:>9}  {:<6}  {}: {}\n", model.name, width, format_bytes(model.bytes),
                    is_cached(root, model) ? "yes" : "no", model.licence, model.description);
  }
  for (const CachedFile& entry : files_outside_the_catalogue(root)) {
    text += fmt::format("{}  {}  in the cache, not in the catalogue\n", entry.file,
                        format_bytes(entry.bytes));
  }
  return text + "Cache: " + models_folder(root).string() + "\n";
}

}  // namespace

int pull(const PullCommand& command, const Console& console) {
  const CatalogueModel* model = find_model(command.model.model);
  if (model == nullptr) {
    throw Error(ErrorCode::not_found, unknown_model("pull", command.model.model));
  }
  fetch_model(*model, command.model, console);
  const auto path = path_in_cache(cache_root(console.settings(), command.model.cache_dir), *model);
  console.print(fmt::format("{}: {} ({}, {})\n", model->name, path.string(),
                            format_bytes(model->bytes), model->licence));
  return 0;
}

int list(const ListCommand& command, const Console& console) {
  const auto root = cache_root(console.settings(), command.cache_dir);
  console.print(command.json ? list_json(root) : list_text(root));
  return 0;
}

int remove(const RemoveCommand& command, const Console& console) {
  const auto root = cache_root(console.settings(), command.model.cache_dir);
  const int64_t freed = remove_cached(root, command.model.model);
  console.print(fmt::format("{}: deleted, {} freed\n", command.model.model, format_bytes(freed)));
  return 0;
}

}  // namespace paceline::cli
