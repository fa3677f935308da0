#include "cli/inspect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "cli/numbers.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNamesShown = 20;  // the text stays readable; JSON has all

std::string line(const char* label, const std::string& value) {
  return fmt::format("{:<14} {}\n", label, value);
}

std::string architecture_text(const ModelReport& report) {
  if (report.supported) {
    return report.architecture;
  }
  const std::string nearest = report.nearest_architecture.empty()
                                  ? ""
                                  : ", the nearest known one is " + report.nearest_architecture;
  return report.architecture + " (not supported" + nearest + ")";
}

std::string types_text(const ModelReport& report) {
  std::size_t width = 4;
  for (const ModelReport::TypeShare& share : report.types) {
    width = std::max(width, share.type.size());
  }
  std::string text;
  const char* label = "types";
  for (const ModelReport::TypeShare& share : report.types) {
    const double percent = report.tensor_bytes > 0 ? 100.0 * static_cast<double>(share.bytes) /
                                                         static_cast<double>(report.tensor_bytes)
                                                   : 0;
    text +=
        line(label, fmt::format("{:<{}} {:>5} tensors {:>9} parameters {:>9} {:>5.1f} %",
                                share.type, width, share.tensors, format_count(share.parameters),
                                format_bytes(share.bytes), percent));
    label = "";
  }
  return text;
}

std::string end_tokens_text(const ModelReport& report) {
  std::string text;
  for (const ModelReport::EndToken& token : report.end_tokens) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", token.id, base::repair_utf8(token.text));
  }
  return text.empty() ? "none" : text;
}

std::string names_text(const char* label, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamesShown; ++i) {
    text += line(i == 0 ? label : "", base::repair_utf8(names[i]));
  }
  if (names.size() > kNamesShown) {
    text += line("", fmt::format("and {} more (--json lists all)", names.size() - kNamesShown));
  }
  return text;
}

std::string tensors_text(const ModelReport& report) {
  const std::string problem =
      report.problem.empty() ? "" : line("problem", base::repair_utf8(report.problem));
  if (report.missing.empty() && report.extra.empty() && report.mis_shaped.empty()) {
    return report.problem.empty() ? line("tensors", "as expected") : problem;
  }
  return problem + names_text("missing", report.missing) + names_text("extra", report.extra) +
         names_text("mis-shaped", report.mis_shaped);
}

}  // namespace

std::string report_text(const ModelReport& report) {
  const std::string context = report.context_trained > 0
                                  ? std::to_string(report.context_trained) + " tokens"
                                  : "not stated";
  const std::string vocabulary =
      report.vocab_size > 0 ? fmt::format(", {} tokens", report.vocab_size) : "";
  return line("model", base::repair_utf8(report.name)) +
         line("format", fmt::format("{}, {} file{}", report.format, report.files,
                                    report.files == 1 ? "" : "s")) +
         line("architecture", architecture_text(report)) +
         line("parameters", format_count(report.parameters)) +
         line("size", fmt::format("{}, tensors {}", format_bytes(report.file_bytes),
                                  format_bytes(report.tensor_bytes))) +
         types_text(report) + line("context", context) +
         line("chat template", report.has_chat_template ? "yes" : "no") +
         line("tokenizer", base::repair_utf8(report.tokenizer) + vocabulary) +
         line("end tokens", end_tokens_text(report)) + tensors_text(report);
}

std::string report_json(const ModelReport& report) {
  Json json{{"name", report.name},
            {"format", report.format},
            {"files", report.files},
            {"architecture", report.architecture},
            {"supported", report.supported},
            {"nearest_architecture", report.nearest_architecture},
            {"parameters", report.parameters},
            {"file_bytes", report.file_bytes},
            {"tensor_bytes", report.tensor_bytes},
            {"types", Json::array()},
            {"vocab_size", report.vocab_size},
            {"context_trained", report.context_trained},
            {"has_chat_template", report.has_chat_template},
            {"tokenizer", report.tokenizer},
            {"end_tokens", Json::array()},
            {"problem", report.problem},
            {"missing", report.missing},
            {"extra", report.extra},
            {"mis_shaped", report.mis_shaped}};
  for (const ModelReport::TypeShare& share : report.types) {
    json["types"].push_back({{"type", share.type},
                             {"tensors", share.tensors},
                             {"parameters", share.parameters},
                             {"bytes", share.bytes}});
  }
  for (const ModelReport::EndToken& token : report.end_tokens) {
    json["end_tokens"].push_back({{"id", token.id}, {"text", token.text}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paceline::cli
