#include "cli/catalogue/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "cli/suggest.h"
#include "paceline/error.h"

namespace paceline::cli {

namespace fs = std::filesystem;

namespace {

int64_t size_of(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

int64_t remove_file(const fs::path& path) {
  const int64_t bytes = size_of(path);
  std::error_code error;
  const bool removed = fs::remove(path, error);
  if (error) {
    throw Error(ErrorCode::io,
                fmt::format("[cache] cannot delete {}: {}", path.string(), error.message()));
  }
  return removed ? bytes : 0;
}

}  // namespace

fs::path models_folder(const fs::path& root) { return root / "models"; }

fs::path path_in_cache(const fs::path& root, const CatalogueModel& model) {
  return models_folder(root) / model.file;
}

bool is_cached(const fs::path& root, const CatalogueModel& model) {
  const fs::path path = path_in_cache(root, model);
  std::error_code error;
  return fs::is_regular_file(path, error) && size_of(path) == model.bytes;
}

std::vector<CachedFile> cached_files(const fs::path& root) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (fs::directory_iterator it(models_folder(root), error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename();
    std::error_code ignored;
    if (!file.starts_with(".") && it->is_regular_file(ignored)) {
      files.push_back({file, size_of(it->path())});
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(ErrorCode::io, fmt::format("[cache] cannot read {}: {}",
                                           models_folder(root).string(), error.message()));
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.file < b.file; });
  return files;
}

int64_t remove_cached(const fs::path& root, const std::string& name) {
  const CatalogueModel* model = find_model(name);
  const std::string file = model != nullptr ? model->file : name;
  const std::vector<CachedFile> files = cached_files(root);
  const bool present = std::any_of(files.begin(), files.end(),
                                   [&](const auto& entry) { return entry.file == file; });
  // Only names that a listing of the folder shows: never a path that leads out of it.
  const fs::path partial = models_folder(root) / ("." + file + ".partial");
  const bool unfinished = model != nullptr && fs::exists(partial);
  if (!present && !unfinished) {
    std::vector<std::string> names = catalogue_names();
    for (const CachedFile& entry : files) {
      names.push_back(entry.file);
    }
    const std::string hint = model == nullptr ? did_you_mean(name, names) : "";
    throw Error(ErrorCode::not_found,
                fmt::format("[rm] found no cached model '{}' in {}, expected one that 'paceline "
                            "list' shows as cached{}",
                            name, models_folder(root).string(), hint));
  }
  int64_t freed = present ? remove_file(models_folder(root) / file) : 0;
  if (unfinished) {
    freed += remove_file(partial);
  }
  return freed;
}

}  // namespace paceline::cli
