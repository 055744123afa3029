#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/descriptor.h"
#include "kron/env/log.h"
#include "kron/queue/task_queue.h"
#include "kron/scheduler/task_submitter.h"

namespace kron::daemon {

// Submits tasks to the queue of this machine. A queue that cannot take one now, because its disk is full or another
// process has it, is asked again until it does.
class QueueSubmitter : public TaskSubmitter {
 public:
  // Hands tasks to the queue; the answers, one for each, may come later and on another thread.
  using Answered = std::function<void(std::vector<Result<SubmitAnswer>>)>;
  using Submit = std::function<void(std::vector<NewTask>, Answered)>;

  // Clock and log outlive it.
  QueueSubmitter(Submit submit, const Clock& clock, Log& log);

  void hold(std::string_view run_id, TaskToSubmit task) override;
  void release(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  void resume(std::string_view run_id, TaskToSubmit task) override;
  std::vector<RunExit> drain_exits() override;

  // Readable when drain_exits has something to do.
  int descriptor() const { return wakeups_.get(); }

  // Runs that wait for the queue. They are in the record: the next daemon submits them again.
  std::size_t waiting() const { return waiting_.size(); }

  // Why tasks cannot be submitted any more: a bug. The daemon must end, and the next one tries again.
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }

 private:
  struct Due {
    std::string run_id;
    TaskToSubmit task;
  };

  // What the queue has said of tasks and nobody has seen yet. Lives as long as an answer may come.
  struct Answers {
    Answers();
    void add(std::vector<Due> due, std::vector<Result<SubmitAnswer>> answers);
    void ring();

    Descriptor event;
    std::mutex mutex;
    std::vector<std::pair<Due, Result<SubmitAnswer>>> waiting;
  };

  void make_due(std::string run_id, TaskToSubmit task);
  void submit_due();
  void wait_with(const Due& due, const Error& error);
  void try_again();
  void take_answers(std::vector<RunExit>& exits);
  std::optional<RunExit> exit_of(const Due& due, const Result<SubmitAnswer>& answer);

  Submit submit_;
  const Clock& clock_;
  Log& log_;
  std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  std::map<std::string, TaskToSubmit, std::less<>> held_;
  std::vector<Due> due_;
  std::vector<Due> waiting_;     // for the queue to take them …
  std::string waits_because_;    // … which it said it cannot; empty: it took the last
  Nanoseconds try_again_at_{0};  // on Clock::monotonic
  Descriptor timer_;
  Descriptor wakeups_;  // an epoll: of answers, and of the timer
  std::optional<Error> broken_;
};

}  // namespace kron::daemon
