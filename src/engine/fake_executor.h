#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/executor.h"

namespace paceline::engine {

/// A model for tests: the best next token is (last + 1) mod vocab, runner-up the one after.
/// Sequences store their ids.
class FakeExecutor final : public Executor {
 public:
  struct Sequence final : ExecutorSequence {
    explicit Sequence(std::atomic<int>& alive) : count(alive) { ++count; }
    ~Sequence() override { --count; }
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;
    std::atomic<int>& count;
    std::vector<TokenId> ids;
  };
  /// What tests look at and steer; outlives the executor.
  struct Shared {
    int32_t vocab = 32;
    int32_t padded = 8;                    ///< further logits, higher than all others
    std::function<void(int)> before_step;  ///< called with the number of the forward
    std::function<void(int, std::span<float>)> edit_logits;
    std::vector<std::size_t> slices;  ///< tokens of each forward
    std::vector<TokenId> ids;         ///< of the sequence of the last forward
    struct Probe {
      std::vector<std::size_t> held;  ///< tokens of each row's sequence
      std::size_t tokens = 0;         ///< new ones of each row
      int32_t wanted = 0;             ///< of each row
      bool operator==(const Probe&) const = default;
    };
    std::vector<Probe> probes;
    std::atomic<int> forwards = 0;
    std::atomic<int> alive = 0;
  };

  explicit FakeExecutor(Shared& shared) : shared_(shared) {}

  std::unique_ptr<ExecutorSequence> new_sequence() override {
    return std::make_unique<Sequence>(shared_.alive);
  }

  std::vector<std::span<const float>> step(std::span<const StepRow> rows) override {
    const int number = shared_.forwards++;
    if (shared_.before_step) shared_.before_step(number);
    std::vector<std::span<const float>> result;
    for (const StepRow& row : rows) {
      auto& ids = static_cast<Sequence&>(*row.sequence).ids;
      ids.insert(ids.end(), row.tokens.begin(), row.tokens.end());
      shared_.slices.push_back(row.tokens.size());
      shared_.ids = ids;
      if (row.wants_logits) result.emplace_back(fill(number, ids.back()));
    }
    return result;
  }

  std::span<const float> probe(std::span<const ProbeRow> rows) override {
    Shared::Probe probe;
    for (const ProbeRow& row : rows) {
      probe.held.push_back(static_cast<Sequence&>(*row.sequence).ids.size());
      probe.tokens = row.tokens.size();
      probe.wanted = row.wanted;
    }
    shared_.probes.push_back(std::move(probe));
    return {};
  }

 private:
  std::span<const float> fill(int number, TokenId last) {
    logits_.assign(static_cast<std::size_t>(shared_.vocab + shared_.padded), 99);
    for (int32_t i = 0; i < shared_.vocab; ++i)
      logits_[static_cast<std::size_t>(i)] = -std::abs(static_cast<float>(i % 7));
    logits_[static_cast<std::size_t>((last + 1) % shared_.vocab)] = 5;
    logits_[static_cast<std::size_t>((last + 2) % shared_.vocab)] = 4;
    if (shared_.edit_logits) shared_.edit_logits(number, logits_);
    return logits_;
  }

  Shared& shared_;
  std::vector<float> logits_;
};

}  // namespace paceline::engine
