#include "template_difference.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cached_file.h"
#include "paceline/error.h"

namespace paceline::text {
namespace {

using nlohmann::json;

std::string quote(const std::string& text, std::size_t from) {
  return json(text.substr(from, 90)).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string rendering_difference(const std::string& source, const TemplateInput& input,
                                 const ExpectedRendering& expected) {
  std::string rendered;
  try {
    rendered = ChatTemplate(source).render(input);
  } catch (const Error& error) {
    return expected.fails
               ? ""
               : std::string("throws ") + error.what() + ", expected " + quote(expected.text, 0);
  }
  if (expected.fails) return "renders " + quote(rendered, 0) + ", expected " + expected.text;
  if (rendered == expected.text) return "";
  const auto shorter = std::min(rendered.size(), expected.text.size());
  std::size_t at = 0;
  while (at < shorter && rendered[at] == expected.text[at]) ++at;
  const std::size_t from = at < 30 ? 0 : at - 30;
  return "at byte " + std::to_string(at) + ": " + quote(rendered, from) + ", expected " +
         quote(expected.text, from);
}

std::set<std::string> listed_exceptions(const std::string& path) {
  std::set<std::string> names;
  const json list = json::parse(read_file(path));
  for (const auto& [name, reason] : list.items()) names.insert(name);
  return names;
}

}  // namespace paceline::text
