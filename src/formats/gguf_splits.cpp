#include <algorithm>
#include <cstdio>
#include <string>

#include "formats/file_context.h"
#include "formats/gguf.h"
#include "paceline/error.h"

namespace paceline::formats {
namespace {

namespace fs = std::filesystem;

struct Opened {
  std::shared_ptr<const base::MappedFile> file;
  GgufFile parsed;
};

Opened open_one(const fs::path& path) {
  Opened one;
  one.file = std::make_shared<const base::MappedFile>(path);
  one.parsed = parse_gguf(one.file->bytes(), path.filename().string());
  return one;
}

void add(Checkpoint& checkpoint, Opened one) {
  const FileContext file("gguf", one.file->path().filename().string());
  for (blocks::StoredTensor& tensor : one.parsed.tensors) {
    std::string name = tensor.name;
    const auto [at, inserted] = checkpoint.tensors.emplace(std::move(name), std::move(tensor));
    if (!inserted) file.bad("tensor " + shown(at->first) + ": also in an earlier file of the split");
  }
  checkpoint.files.push_back(std::move(one.file));
}

std::string number_of_five(int64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%05lld", static_cast<long long>(number));
  return text;
}

fs::path sibling(const fs::path& path, const SplitName& name, int64_t number) {
  return path.parent_path() /
         (name.stem + "-" + number_of_five(number) + "-of-" + number_of_five(name.count) + ".gguf");
}

/// The file's own record must say what its name says.
void check_split_keys(const Metadata& metadata, const SplitName& name, const FileContext& file) {
  const int64_t number = metadata.integer("split.no").value_or(-1);
  const int64_t count = metadata.integer("split.count").value_or(0);
  if (number == name.number - 1 && count == name.count) return;
  file.bad("split.no " + std::to_string(number) + " of " + std::to_string(count) + ", expected " +
           std::to_string(name.number - 1) + " of " + std::to_string(name.count) + " by its name");
}

Checkpoint open_split(const fs::path& path, const SplitName& name) {
  Checkpoint checkpoint;
  int64_t expected_tensors = -1;
  for (int64_t number = 1; number <= name.count; ++number) {
    const fs::path part = sibling(path, name, number);
    Opened one = open_one(part);
    check_split_keys(one.parsed.metadata, {name.stem, number, name.count},
                     FileContext("gguf", part.filename().string()));
    if (number == 1) {
      checkpoint.metadata = std::move(one.parsed.metadata);
      expected_tensors = checkpoint.metadata.integer("split.tensors.count").value_or(-1);
    }
    add(checkpoint, std::move(one));
  }
  const auto found = static_cast<int64_t>(checkpoint.tensors.size());
  if (expected_tensors != -1 && expected_tensors != found) {
    FileContext("gguf", path.filename().string())
        .bad(std::to_string(found) + " tensors in all files, expected split.tensors.count " +
             std::to_string(expected_tensors));
  }
  return checkpoint;
}

Checkpoint open_files(const fs::path& path) {
  Opened first = open_one(path);
  const FileContext file("gguf", path.filename().string());
  const int64_t count = first.parsed.metadata.integer("split.count").value_or(1);
  if (count == 0 || count == 1) {
    Checkpoint checkpoint;
    checkpoint.metadata = std::move(first.parsed.metadata);
    add(checkpoint, std::move(first));
    return checkpoint;
  }
  if (count < 0 || count > GgufLimits::kSplitsMax) {
    file.bad("split.count " + std::to_string(count) + ", expected 1 to " + std::to_string(GgufLimits::kSplitsMax));
  }
  const auto name = parse_split_name(path.filename().string());
  if (!name) file.bad("one of " + std::to_string(count) + " files, expected a name like NAME-00001-of-00002.gguf");
  check_split_keys(first.parsed.metadata, *name, file);
  return open_split(path, *name);
}

}  // namespace

std::optional<SplitName> parse_split_name(std::string_view file_name) {
  constexpr std::string_view kShape = "-#####-of-#####.gguf";
  if (file_name.size() <= kShape.size()) return std::nullopt;
  const std::string_view tail = file_name.substr(file_name.size() - kShape.size());
  const auto fits = [](char c, char shape) { return shape == '#' ? c >= '0' && c <= '9' : c == shape; };
  if (!std::equal(tail.begin(), tail.end(), kShape.begin(), fits)) return std::nullopt;
  SplitName name;
  name.stem = file_name.substr(0, file_name.size() - kShape.size());
  name.number = std::stoll(std::string(tail.substr(1, 5)));
  name.count = std::stoll(std::string(tail.substr(10, 5)));
  if (name.number < 1 || name.number > name.count) return std::nullopt;
  return name;
}

Checkpoint open_gguf(const fs::path& path) {
  Checkpoint checkpoint = open_files(path);
  checkpoint.source = Source::gguf;
  checkpoint.path = path;
  const auto architecture = checkpoint.metadata.string("general.architecture");
  if (!architecture || architecture->empty()) {
    FileContext("gguf", path.filename().string()).bad("no general.architecture, expected a model name");
  }
  checkpoint.architecture = *architecture;
  return checkpoint;
}

}  // namespace paceline::formats
