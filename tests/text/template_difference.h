#pragma once

#include <set>
#include <string>

#include "text/chat_template.h"

namespace paceline::text {

/// What a reference renderer gave.
struct ExpectedRendering {
  bool fails = false;
  std::string text;  ///< of the rendering, or of the reference's error
};

/// How a rendering differs from the reference's: empty when it does not. A failure equals any
/// failure.
std::string rendering_difference(const std::string& source, const TemplateInput& input,
                                 const ExpectedRendering& expected);

/// Names listed in a JSON object {name: reason why it may differ}.
std::set<std::string> listed_exceptions(const std::string& path);

}  // namespace paceline::text
