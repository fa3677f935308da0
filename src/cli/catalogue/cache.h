#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/catalogue/catalogue.h"

namespace paceline::cli {

struct CachedFile {
  std::string file;
  int64_t bytes = 0;
};

/// <root>/models, where the files of models lie.
std::filesystem::path models_folder(const std::filesystem::path& root);
std::filesystem::path path_in_cache(const std::filesystem::path& root, const CatalogueModel& model);
/// The file is there with the catalogue's size.
bool is_cached(const std::filesystem::path& root, const CatalogueModel& model);
/// Whole models, by name; hidden files are unfinished ones. Throws Error{io}.
std::vector<CachedFile> cached_files(const std::filesystem::path& root);

/// Deletes a cached model, named as in the catalogue or by its file, and what is left of an
/// unfinished fetch of it. Returns the bytes freed. Throws Error{not_found, io}.
int64_t remove_cached(const std::filesystem::path& root, const std::string& name);

}  // namespace paceline::cli
