#include "cli/load.h"

#include "cli/catalogue/model_path.h"
#include "cli/input.h"

namespace paceline::cli {

std::unique_ptr<Engine> load_engine(const ModelFlags& model, const LoadFlags& flags,
                                    const Console& console) {
  LoadOptions options;
  options.context = flags.context;
  options.threads = flags.threads;
  options.ops = flags.portable ? Ops::portable : Ops::automatic;
  options.kv_type = flags.kv_f32 ? KvType::f32 : KvType::bf16;
  options.isa = flags.isa;
  options.pre_override = flags.pre;
  if (!flags.chat_template_file.empty()) {
    options.chat_template = read_file(flags.chat_template_file, "--chat-template");
  }
  return Engine::load(model_path(model, console), options);
}

}  // namespace paceline::cli
