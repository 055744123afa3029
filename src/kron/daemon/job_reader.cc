#include "kron/daemon/job_reader.h"

#include <memory>

#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"

namespace kron::daemon {

void JobReader::ask(Answer answer) {
  if (answer || waiting_.empty()) waiting_.push_back(std::move(answer));
  if (!is_reading_) begin();
}

void JobReader::begin() {
  is_reading_ = true;
  asked_ = std::exchange(waiting_, {});
  hooks_.before();
  Result<std::jthread> thread = with_thread("reading the job files", [this] {
    return std::jthread([this] {
      become_background_thread();
      auto read = std::make_shared<jobs::LoadedJobs>(hooks_.read());
      hooks_.to_loop([this, read] { end(std::move(*read)); });
    });
  });
  // The thread of the reading before has handed over what it read, so it ends by itself.
  if (thread) {
    thread_ = *std::move(thread);
  } else {
    end(hooks_.read());
  }
}

void JobReader::end(jobs::LoadedJobs read) {
  is_reading_ = false;
  hooks_.take(std::move(read), std::exchange(asked_, {}));
  if (!waiting_.empty()) begin();
}

}  // namespace kron::daemon
