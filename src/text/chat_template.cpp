#include "text/chat_template.h"

#include "text/bridge_call.h"

namespace paceline::text {
namespace {

constexpr std::string_view kWhere = "chat template";

struct FreeTemplate {
  void operator()(PlTemplate* compiled) const { pl_template_free(compiled); }
};

}  // namespace

struct ChatTemplate::Impl {
  std::string source;
  std::unique_ptr<PlTemplate, FreeTemplate> compiled;
};

ChatTemplate::ChatTemplate(std::string_view source) : impl_(std::make_unique<Impl>()) {
  PlTemplate* compiled = nullptr;
  BridgeText error;
  require_ok(pl_template_compile(borrow(source), &compiled, error.out()), kWhere, error);
  impl_->compiled.reset(compiled);
  impl_->source = source;
}

ChatTemplate::~ChatTemplate() = default;

std::string ChatTemplate::render(const TemplateInput& input) const {
  const PlRender variables = {.messages = borrow(input.messages_json),
                              .tools = borrow(input.tools_json),
                              .extra = borrow(input.extra_json),
                              .bos_token = borrow(input.bos_token),
                              .eos_token = borrow(input.eos_token),
                              .unix_time = input.unix_time,
                              .add_generation_prompt = input.add_generation_prompt};
  BridgeText rendered;
  BridgeText error;
  const auto status =
      pl_template_render(impl_->compiled.get(), &variables, rendered.out(), error.out());
  require_ok(status, kWhere, error);
  return std::string(rendered.view());
}

const std::string& ChatTemplate::source() const { return impl_->source; }

}  // namespace paceline::text
