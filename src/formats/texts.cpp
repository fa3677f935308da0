#include "formats/texts.h"

#include "base/mapped_file.h"
#include "formats/checkpoint.h"
#include "formats/file_context.h"

namespace paceline::formats {

std::string read_text(const std::filesystem::path& path, std::size_t bytes_max) {
  if (!std::filesystem::exists(path)) return {};
  const base::MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() > bytes_max) {
    FileContext("config", path.filename().string())
        .bad(std::to_string(bytes.size()) + " bytes, expected at most " + std::to_string(bytes_max));
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void read_texts(const std::filesystem::path& folder, Checkpoint& checkpoint) {
  constexpr std::size_t kMiB = 1 << 20;
  checkpoint.config_json = read_text(folder / "config.json", 16 * kMiB);
  checkpoint.generation_config_json = read_text(folder / "generation_config.json", kMiB);
  checkpoint.tokenizer_json = read_text(folder / "tokenizer.json", 256 * kMiB);
  checkpoint.tokenizer_config_json = read_text(folder / "tokenizer_config.json", 16 * kMiB);
  checkpoint.special_tokens_map_json = read_text(folder / "special_tokens_map.json", 16 * kMiB);
  checkpoint.chat_template_jinja = read_text(folder / "chat_template.jinja", 4 * kMiB);
}

}  // namespace paceline::formats
