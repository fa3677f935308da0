#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "engine/model_executor.h"
#include "engine/text_model.h"
#include "engine/worker.h"
#include "paceline/engine.h"

namespace paceline {

struct Engine::Impl {
  engine::TextModel text;
  ModelInfo info;
  int32_t head_size = 0;  ///< ids that the model has rows for
  std::unique_ptr<engine::Worker> worker;

  /// Tests build engines from parts; Engine's constructor is private.
  static std::unique_ptr<Engine> make(std::unique_ptr<Impl> impl);
  engine::Job make_job(Request request, EventCallback on_event) const;
};

namespace engine {

/// Engine::load with settings that only tests vary.
std::unique_ptr<Engine> load_engine(const std::filesystem::path& model, const LoadOptions& options,
                                    const Tuning& tuning);

}  // namespace engine
}  // namespace paceline
