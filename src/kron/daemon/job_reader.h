#pragma once

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "kron/api/parts.h"
#include "kron/base/result.h"
#include "kron/jobs/load.h"

namespace kron::daemon {

// Reads the job files for reloads on a thread of its own, so that the loop does not wait for the disk and the parser.
// One reading at a time: who asks while one is under way may mean a change that it has not seen, and gets the next.
// Used by the loop alone; where there is no thread to be had, the loop reads.
class JobReader {
 public:
  using Answer = std::function<void(const Result<api::ReloadReport>&)>;
  struct Hooks {
    std::function<void()> before;            // on the loop, before each reading
    std::function<jobs::LoadedJobs()> read;  // on the reader's thread
    std::function<void(jobs::LoadedJobs, std::vector<Answer>)>
        take;                                            // on the loop, with all who asked for this reading
    std::function<void(std::function<void()>)> to_loop;  // has this done by the loop, from any thread
  };

  explicit JobReader(Hooks hooks) : hooks_(std::move(hooks)) {}
  JobReader(const JobReader&) = delete;
  JobReader& operator=(const JobReader&) = delete;
  // Waits for the reading that is under way; nobody takes it.
  ~JobReader() = default;

  // Never fails, and does not wait. `answer` may be empty.
  void ask(Answer answer);

  bool is_reading() const { return is_reading_; }

 private:
  void begin();
  void end(jobs::LoadedJobs read);

  Hooks hooks_;
  bool is_reading_ = false;
  std::vector<Answer> asked_;    // for the reading that is under way
  std::vector<Answer> waiting_;  // for the next one
  std::jthread thread_;          // last: it uses the above
};

}  // namespace kron::daemon
