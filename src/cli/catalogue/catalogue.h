#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::cli {

/// A model that `pull` can fetch. What it is fetched from is the helper's business
/// (scripts/fetch_model.py).
struct CatalogueModel {
  std::string name;
  std::string description;
  std::string licence;
  std::string licence_notice;
  bool must_accept = false;
  std::string file;  ///< name inside the cache
  int64_t bytes = 0;
  std::string sha256;
};

/// catalogue.json, which is built into the program.
const std::vector<CatalogueModel>& catalogue();
const CatalogueModel& starter_model();
/// Null when there is no such name.
const CatalogueModel* find_model(std::string_view name);
std::vector<std::string> catalogue_names();

}  // namespace paceline::cli
