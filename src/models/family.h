#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/weights.h"

namespace paceline::models {

using Progress = std::function<void(double)>;

/// One architecture: how to recognise it, what it reads, how to build it.
struct Family {
  std::string name;
  std::vector<std::string>
      model_types;  ///< config.json model_type and GGUF general.architecture values
  Layout (*layout)(const formats::Checkpoint&);
  std::unique_ptr<Model> (*load)(const formats::Checkpoint&, const ModelOptions&, const Progress&);
};

Family llama_family();
Family qwen2_family();
Family qwen3_family();
Family gemma3_family();

}  // namespace paceline::models
