#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/job.h"

namespace paceline::engine {

/// What the consumer of a test's request saw.
struct Record {
  std::vector<Event> events;
  std::function<void(const Event&)> on_event;  ///< called after recording

  std::vector<TokenId> ids() const {
    std::vector<TokenId> result;
    for (const Event& e : events) {
      if (e.kind == Event::Kind::token) result.push_back(e.token.id);
    }
    return result;
  }
  std::string text() const {
    std::string result;
    for (const Event& e : events) result += e.text;
    return result;
  }
  const Event& last() const { return events.back(); }
};

/// Greedy request over FakeExecutor's 32 tokens; token i reads as the letter 'a' + i % 26.
inline Job test_job(Record& record, std::vector<TokenId> prompt = {1}, int32_t tokens_max = 5) {
  Job job;
  job.prompt = std::move(prompt);
  job.sampling.temperature = 0;
  job.tokens_max = tokens_max;
  job.vocab_size = 32;
  job.text.push = [](TokenId id) { return std::string(1, static_cast<char>('a' + id % 26)); };
  job.text.finish = [] { return std::string(); };
  job.on_event = [&record](const Event& event) {
    record.events.push_back(event);
    if (record.on_event) record.on_event(event);
  };
  job.state = std::make_shared<RequestHandle::State>();
  return job;
}

}  // namespace paceline::engine
