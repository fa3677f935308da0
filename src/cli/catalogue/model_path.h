#pragma once

#include <filesystem>
#include <string>

#include "cli/catalogue/catalogue.h"
#include "cli/console.h"
#include "cli/options.h"

namespace paceline::cli {

/// The file or folder that MODEL means. A model of the catalogue that is not cached is fetched
/// first; one that the user has by path stays where it is. Throws Error{not_found} naming the
/// nearest name, ExitWith when the fetch failed.
std::filesystem::path model_path(const ModelFlags& flags, const Console& console);

/// Fetches a model of the catalogue unless it is cached. Throws as model_path().
void fetch_model(const CatalogueModel& model, const ModelFlags& flags, const Console& console);

/// A name of the catalogue, or a file or folder that exists.
bool is_model(const std::string& text);
/// Ends in .gguf or .safetensors.
bool has_model_suffix(const std::string& text);

/// [where] found 'text', expected a name of the catalogue: with the nearest one.
std::string unknown_model(const std::string& where, const std::string& text);

}  // namespace paceline::cli
