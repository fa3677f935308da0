#include "formats/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "formats/gguf.h"
#include "formats/safetensors.h"
#include "paceline/error.h"

namespace paceline::formats {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(ErrorCode code, const fs::path& path, const std::string& what) {
  throw Error(code, "[checkpoint] '" + path.string() + "': " + what);
}

/// The .gguf files of a folder, one path for each split; a separate media projector does not count.
std::vector<fs::path> gguf_files(const fs::path& folder) {
  std::vector<fs::path> found;
  std::set<std::string> splits;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".gguf") || name.find("mmproj") != std::string::npos) continue;
    const auto split = parse_split_name(name);
    if (split && !splits.insert(split->stem + "/" + std::to_string(split->count)).second) continue;
    found.push_back(entry.path());
  }
  return found;
}

bool holds_safetensors(const fs::path& folder) {
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) {
                       const std::string name = entry.path().filename().string();
                       return name.ends_with(".safetensors") ||
                              name == "model.safetensors.index.json";
                     });
}

Checkpoint open_folder(const fs::path& path) {
  const std::vector<fs::path> files = gguf_files(path);
  // A folder with one GGUF model and stray tensors beside it, but no configuration, is that GGUF
  // model.
  const bool configured = fs::exists(path / "config.json") || files.empty();
  if (holds_safetensors(path) && configured) return open_safetensors(path);
  if (files.size() == 1) return open_gguf(files.front());
  if (files.empty())
    refuse(ErrorCode::not_found, path, "the folder holds neither .safetensors nor .gguf files");
  refuse(ErrorCode::invalid_argument, path,
         "the folder holds " + std::to_string(files.size()) +
             " .gguf models, expected one; name the file");
}

/// By content, because model stores keep files under names without an ending.
bool begins_as_gguf(const fs::path& path) {
  const base::MappedFile file(path);
  return file.bytes().size() >= 4 && std::memcmp(file.bytes().data(), "GGUF", 4) == 0;
}

}  // namespace

const blocks::StoredTensor* Checkpoint::find(std::string_view name) const {
  const auto at = tensors.find(name);
  return at == tensors.end() ? nullptr : &at->second;
}

Checkpoint open_checkpoint(const fs::path& path) {
  try {
    if (!fs::exists(path)) refuse(ErrorCode::not_found, path, "does not exist");
    if (fs::is_directory(path)) return open_folder(path);
    if (path.extension() == ".gguf" || begins_as_gguf(path)) return open_gguf(path);
    if (path.extension() == ".safetensors") return open_safetensors(path);
  } catch (const fs::filesystem_error& error) {
    refuse(ErrorCode::io, path, error.code().message());
  }
  refuse(ErrorCode::bad_checkpoint, path, "neither a GGUF nor a .safetensors file");
}

}  // namespace paceline::formats
