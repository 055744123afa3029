#include "kron/env/mailbox.h"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace kron {

Mailbox::Mailbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Mailbox::post(Work work) {
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(std::move(work));
  if (waiting_.size() > 1) return;  // it is readable already
  const std::uint64_t one = 1;
  (void)::write(event_.get(), &one, sizeof one);
}

void Mailbox::work_off(Nanoseconds budget) {
  using Steady = std::chrono::steady_clock;
  std::deque<Work> mine;
  {
    const std::scoped_lock lock(mutex_);
    mine.swap(waiting_);
    std::uint64_t count = 0;
    (void)::read(event_.get(), &count, sizeof count);
  }
  const Steady::time_point end = Steady::now() + budget;
  while (!mine.empty()) {
    const Work work = std::move(mine.front());
    mine.pop_front();
    work();
    if (Steady::now() >= end) break;
  }
  if (mine.empty()) return;
  const std::scoped_lock lock(mutex_);
  const bool was_empty = waiting_.empty();
  waiting_.insert(waiting_.begin(), std::make_move_iterator(mine.begin()), std::make_move_iterator(mine.end()));
  const std::uint64_t one = 1;
  if (was_empty) (void)::write(event_.get(), &one, sizeof one);
}

}  // namespace kron
