#pragma once

#include <deque>
#include <functional>
#include <mutex>

#include "kron/base/instant.h"
#include "kron/env/descriptor.h"

namespace kron {

// Work that other threads hand to the thread of an event loop, done in the order it came.
class Mailbox {
 public:
  using Work = std::function<void()>;

  Mailbox();

  // From any thread.
  void post(Work work);

  // Readable while there is work: what the loop watches.
  int descriptor() const { return event_.get(); }

  // Does what is there, but begins nothing more when `budget` is spent: the loop has other duties, and comes back. What
  // the work itself posts waits for the next time.
  void work_off(Nanoseconds budget);

 private:
  Descriptor event_;
  std::mutex mutex_;
  std::deque<Work> waiting_;
};

}  // namespace kron
