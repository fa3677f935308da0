#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "formats/file_context.h"
#include "formats/mlx_quantization.h"
#include "formats/safetensors.h"
#include "formats/strict_json.h"
#include "formats/texts.h"
#include "paceline/error.h"

namespace paceline::formats {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kIndexName = "model.safetensors.index.json";
constexpr std::size_t kIndexBytesMax = 64 << 20;
constexpr std::size_t kShardsMax = 1024;

/// Which files to open, and which tensor the index promises in which.
struct Plan {
  std::vector<std::string> files;
  std::map<std::string, std::string> promised;
};

/// A plain name: a shard never lies outside the folder.
void check_shard_name(const std::string& name, const FileContext& file) {
  const bool plain = !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
                     name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!plain) file.bad("shard " + shown(name) + ", expected a file name in the same folder");
}

Plan plan_of_index(const std::string& text) {
  const FileContext file("safetensors", kIndexName);
  const Json index = parse_object(text, file);
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object() || map->empty()) file.bad("no 'weight_map', expected an object");
  Plan plan;
  std::set<std::string> files;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) file.bad("shard of tensor " + shown(tensor) + ": expected a file name");
    const auto name = shard.get<std::string>();
    check_shard_name(name, file);
    files.insert(name);
    plan.promised.emplace(tensor, name);
  }
  if (files.size() > kShardsMax) {
    file.bad(std::to_string(files.size()) + " shards, expected at most " + std::to_string(kShardsMax));
  }
  plan.files.assign(files.begin(), files.end());
  return plan;
}

std::vector<std::string> model_files(const fs::path& folder) {
  std::vector<std::string> all, model;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(".safetensors")) continue;
    if (name.starts_with("model")) model.push_back(name);
    all.push_back(std::move(name));
  }
  std::vector<std::string>& found = model.empty() ? all : model;
  if (model.empty() && all.size() != 1) {
    throw Error(ErrorCode::not_found, "[safetensors] " + folder.filename().string() + ": " +
                                          std::to_string(all.size()) +
                                          " .safetensors files, expected model*.safetensors or exactly one");
  }
  std::sort(found.begin(), found.end());
  return found;
}

Plan plan_of_folder(const fs::path& folder) {
  const std::string index = read_text(folder / kIndexName, kIndexBytesMax);
  if (!index.empty()) return plan_of_index(index);
  return {model_files(folder), {}};
}

/// One file alone, unless an index beside it lists it among its shards.
Plan plan_of_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string index = read_text(path.parent_path() / kIndexName, kIndexBytesMax);
  if (!index.empty()) {
    Plan plan = plan_of_index(index);
    if (std::find(plan.files.begin(), plan.files.end(), name) != plan.files.end()) return plan;
  }
  return {{name}, {}};
}

void add_file(Checkpoint& checkpoint, const fs::path& path) {
  auto mapped = std::make_shared<const base::MappedFile>(path);
  const std::string name = path.filename().string();
  SafetensorsFile parsed = parse_safetensors(mapped->bytes(), name);
  for (blocks::StoredTensor& tensor : parsed.tensors) {
    std::string key = tensor.name;
    const auto [at, inserted] = checkpoint.tensors.emplace(std::move(key), std::move(tensor));
    if (!inserted) FileContext("safetensors", name).bad("tensor " + shown(at->first) + ": also in another shard");
  }
  const auto format = parsed.metadata.find("format");
  if (format != parsed.metadata.end()) checkpoint.safetensors_format = format->second;
  checkpoint.files.push_back(std::move(mapped));
}

void check_promises(const Checkpoint& checkpoint, const Plan& plan) {
  std::map<std::string, std::span<const std::byte>> bytes;
  for (const auto& file : checkpoint.files) bytes.emplace(file->path().filename().string(), file->bytes());
  const FileContext index("safetensors", kIndexName);
  for (const auto& [name, shard] : plan.promised) {
    const blocks::StoredTensor* tensor = checkpoint.find(name);
    const std::span<const std::byte> file = bytes.at(shard);
    const bool inside =
        tensor != nullptr && tensor->data.data() >= file.data() && tensor->data.data() <= file.data() + file.size();
    if (!inside) index.bad("tensor " + shown(name) + ": not in shard " + shown(shard));
  }
}

}  // namespace

Checkpoint open_safetensors(const fs::path& path) {
  const bool is_folder = fs::is_directory(path);
  const fs::path folder = is_folder ? path : path.parent_path();
  Checkpoint checkpoint;
  checkpoint.source = Source::safetensors;
  checkpoint.path = path;
  read_texts(folder, checkpoint);
  const FileContext config("config", "config.json");
  ConfigSummary summary;
  if (!checkpoint.config_json.empty()) summary = parse_config(checkpoint.config_json, config);
  checkpoint.architecture = summary.model_type;

  const Plan plan = is_folder ? plan_of_folder(path) : plan_of_file(path);
  for (const std::string& name : plan.files) add_file(checkpoint, folder / name);
  check_promises(checkpoint, plan);
  fold_mlx(checkpoint.tensors, summary.quantization, FileContext("safetensors", path.filename().string()));
  return checkpoint;
}

}  // namespace paceline::formats
