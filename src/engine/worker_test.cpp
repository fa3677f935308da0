#include "engine/worker.h"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "engine/fake_executor.h"
#include "engine/test_job.h"

using namespace paceline;
using namespace paceline::engine;

namespace {

// Holds the engine thread at a forward until the test opens it.
class Gate {
 public:
  explicit Gate(int at) : at_(at) {}
  void pass(int number) {
    if (number != at_) return;
    reached_.set_value();
    opened_.get_future().wait();
  }
  void wait_reached() { reached_.get_future().wait(); }
  void open() { opened_.set_value(); }

 private:
  int at_;
  std::promise<void> reached_;
  std::promise<void> opened_;
};

std::unique_ptr<Worker> make_worker(FakeExecutor::Shared& shared) {
  return std::make_unique<Worker>([&] { return std::make_unique<FakeExecutor>(shared); }, 4);
}

}  // namespace

TEST_CASE("worker serves requests in order, one at a time") {
  FakeExecutor::Shared shared;
  std::vector<Record> records(3);
  std::vector<std::shared_ptr<RequestHandle::State>> states;
  const auto worker = make_worker(shared);
  for (std::size_t i = 0; i < records.size(); ++i) {
    Job job = test_job(records[i], {static_cast<TokenId>(i)}, 3);
    states.push_back(job.state);
    worker->submit(std::move(job));
  }
  for (const auto& state : states) state->wait();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto first = static_cast<TokenId>(i + 1);
    CHECK(records[i].ids() == std::vector<TokenId>{first, first + 1, first + 2});
  }
  CHECK(shared.alive == 0);
}

TEST_CASE("worker rethrows what building the executor throws") {
  const auto fail = []() -> std::unique_ptr<Executor> {
    throw Error(ErrorCode::bad_checkpoint, "[x] y");
  };
  CHECK_THROWS_WITH_AS(Worker(fail, 1), "[x] y", Error);
}

TEST_CASE("worker cancels a running request within one step") {
  FakeExecutor::Shared shared;
  Gate gate(3);
  shared.before_step = [&](int number) { gate.pass(number); };
  Record record;
  const auto worker = make_worker(shared);
  Job job = test_job(record, {1}, 1000);
  const auto state = job.state;
  worker->submit(std::move(job));
  gate.wait_reached();
  state->cancelled = true;
  gate.open();
  state->wait();
  CHECK(record.last().reason == FinishReason::cancelled);
  CHECK(shared.forwards == 4);
  CHECK(record.ids().size() == 4);
}

TEST_CASE("worker ends a cancelled request that waits before its turn") {
  FakeExecutor::Shared shared;
  Gate first(0);
  shared.before_step = [&](int number) { first.pass(number); };
  Record running;
  Record waiting;
  const auto worker = make_worker(shared);
  Job job = test_job(running, {1}, 100);
  const auto running_state = job.state;
  worker->submit(std::move(job));
  first.wait_reached();
  Job second = test_job(waiting);
  const auto waiting_state = second.state;
  worker->submit(std::move(second));
  waiting_state->cancelled = true;
  first.open();
  waiting_state->wait();
  running_state->wait();
  CHECK(waiting.events.size() == 1);
  CHECK(waiting.last().reason == FinishReason::cancelled);
  CHECK(running.last().reason == FinishReason::length);
}

TEST_CASE("worker cancel after the end changes nothing") {
  FakeExecutor::Shared shared;
  Record record;
  const auto worker = make_worker(shared);
  Job job = test_job(record);
  const RequestHandle handle(job.state);
  const auto state = job.state;
  worker->submit(std::move(job));
  state->wait();
  state->cancelled = true;
  state->wait();
  CHECK(record.last().reason == FinishReason::length);
}

TEST_CASE("worker refuses the request that would be the 65th to wait") {
  FakeExecutor::Shared shared;
  Gate gate(0);
  shared.before_step = [&](int number) { gate.pass(number); };
  std::vector<Record> records(Worker::kWaitingMax + 2);
  const auto worker = make_worker(shared);
  worker->submit(test_job(records[0]));
  gate.wait_reached();
  for (std::size_t i = 1; i <= Worker::kWaitingMax; ++i) worker->submit(test_job(records[i]));
  try {
    worker->submit(test_job(records.back()));
    FAIL("expected a refusal");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::out_of_memory);
    CHECK(std::string(error.what()).find("64 requests wait, at most 64") != std::string::npos);
  }
  Job last = test_job(records.back());
  const auto state = last.state;
  gate.open();
  while (true) {
    try {
      worker->submit(std::move(last));
      break;
    } catch (const Error&) {
      std::this_thread::yield();
      last = test_job(records.back());
      last.state = state;
    }
  }
  state->wait();
  for (const Record& record : records) CHECK(record.last().reason == FinishReason::length);
}

TEST_CASE("worker goes on after a request failed and after a callback threw") {
  FakeExecutor::Shared shared;
  shared.before_step = [](int number) {
    if (number == 0) throw std::runtime_error("boom");
  };
  Record failed;
  Record thrown;
  Record good;
  thrown.on_event = [](const Event&) { throw std::runtime_error("no"); };
  const auto worker = make_worker(shared);
  worker->submit(test_job(failed));
  worker->submit(test_job(thrown));
  Job job = test_job(good);
  const auto state = job.state;
  worker->submit(std::move(job));
  state->wait();
  CHECK(failed.last().reason == FinishReason::error);
  CHECK(thrown.last().reason == FinishReason::error);
  CHECK(good.last().reason == FinishReason::length);
  CHECK(shared.alive == 0);
}

TEST_CASE("worker destructor cancels what runs and what waits, and delivers both ends") {
  FakeExecutor::Shared shared;
  Gate gate(2);
  shared.before_step = [&](int number) { gate.pass(number); };
  Record running;
  Record waiting;
  auto worker = make_worker(shared);
  Job job = test_job(running, {1}, 1 << 30);
  const auto state = job.state;
  worker->submit(std::move(job));
  gate.wait_reached();
  worker->submit(test_job(waiting));
  std::future<void> gone = std::async(std::launch::async, [&] { worker.reset(); });
  gate.open();
  gone.get();
  state->wait();
  CHECK(running.last().reason == FinishReason::cancelled);
  CHECK(waiting.last().reason == FinishReason::cancelled);
  CHECK(shared.alive == 0);
}

TEST_CASE("worker runs a call between requests and passes on what it throws") {
  FakeExecutor::Shared shared;
  Record record;
  const auto worker = make_worker(shared);
  worker->submit(test_job(record));
  int forwards = 0;
  worker->call([&](Executor& executor) {
    forwards = shared.forwards;
    CHECK(executor.new_sequence() != nullptr);
  });
  CHECK(forwards == 5);
  CHECK(record.last().reason == FinishReason::length);
  CHECK_THROWS_WITH_AS(worker->call([](Executor&) { throw Error(ErrorCode::internal, "[x] y"); }),
                       "[x] y", Error);
}
