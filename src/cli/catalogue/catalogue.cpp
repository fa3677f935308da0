#include "cli/catalogue/catalogue.h"

#include <nlohmann/json.hpp>

#include "base/assert.h"

namespace paceline::cli {

/// Text of catalogue.json, from the generated source.
std::string_view catalogue_json();

namespace {

struct Catalogue {
  std::vector<CatalogueModel> models;
  std::string starter;
};

CatalogueModel read_model(const nlohmann::json& json) {
  CatalogueModel model;
  json.at("name").get_to(model.name);
  json.at("description").get_to(model.description);
  json.at("licence").get_to(model.licence);
  json.at("licence_notice").get_to(model.licence_notice);
  json.at("must_accept").get_to(model.must_accept);
  json.at("file").get_to(model.file);
  json.at("bytes").get_to(model.bytes);
  json.at("sha256").get_to(model.sha256);
  return model;
}

Catalogue read_catalogue() {
  const nlohmann::json json = nlohmann::json::parse(catalogue_json());
  Catalogue result;
  json.at("starter").get_to(result.starter);
  for (const nlohmann::json& model : json.at("models")) {
    result.models.push_back(read_model(model));
  }
  return result;
}

const Catalogue& whole() {
  static const Catalogue catalogue = read_catalogue();
  return catalogue;
}

}  // namespace

const std::vector<CatalogueModel>& catalogue() { return whole().models; }

const CatalogueModel* find_model(std::string_view name) {
  for (const CatalogueModel& model : catalogue()) {
    if (model.name == name) {
      return &model;
    }
  }
  return nullptr;
}

const CatalogueModel& starter_model() {
  const CatalogueModel* model = find_model(whole().starter);
  PACELINE_ASSERT(model != nullptr);
  return *model;
}

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names;
  for (const CatalogueModel& model : catalogue()) {
    names.push_back(model.name);
  }
  return names;
}

}  // namespace paceline::cli
