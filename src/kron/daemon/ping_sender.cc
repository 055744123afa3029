#include "kron/daemon/ping_sender.h"

#include <algorithm>

#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"
#include "kron/jobs/ping_url.h"

namespace kron::daemon {
namespace {

// A connection that nobody uses is closed after this.
constexpr Nanoseconds kIdle = std::chrono::seconds(10);
// A receiver that is away for a night is not a line for each ping.
constexpr Nanoseconds kBetweenLines = std::chrono::minutes(1);

}  // namespace

std::string_view name_of(PingSender::End end) {
  switch (end) {
    case PingSender::End::sent:
      return "sent";
    case PingSender::End::failed:
      return "failed";
    case PingSender::End::no_room:
      return "no_room";
  }
  return "failed";
}

void PingSender::send(Ping ping) {
  const std::scoped_lock lock(mutex_);
  if (has_ended_) return end(ping, End::no_room, "krond ends");
  if (!has_threads()) return end(ping, End::no_room, "there is no thread to be had");
  if (queue_.size() == PingQueue::kMost) {
    return end(ping, End::no_room, std::to_string(PingQueue::kMost) + " pings are waiting already");
  }
  queue_.push(std::move(ping), world_.clock.monotonic());
  changed_.notify_one();
}

// One is enough to go on; those that are missing are tried for again.
bool PingSender::has_threads() {
  while (threads_.size() < kThreads) {
    auto thread = with_thread("pings", [this] { return std::thread([this] { serve(); }); });
    if (!thread) break;
    threads_.push_back(*std::move(thread));
  }
  return !threads_.empty();
}

bool PingSender::is_over(Nanoseconds now) const { return ends_at_ && (queue_.size() == 0 || now >= *ends_at_); }

// Until there may be something to do, or for as long as a connection is kept.
void PingSender::rest(std::unique_lock<std::mutex>& lock, Nanoseconds now, bool has_connection) {
  std::optional<Nanoseconds> until = queue_.next();
  if (ends_at_) until = std::min(until.value_or(*ends_at_), *ends_at_);
  if (has_connection) until = std::min(until.value_or(now + kIdle), now + kIdle);
  if (until) {
    changed_.wait_for(lock, *until - now);
  } else {
    changed_.wait(lock);
  }
}

void PingSender::serve() {
  become_background_thread(kMostNiceness);
  Post post;  // none: it has no connection, either
  Nanoseconds used{0};
  std::unique_lock lock(mutex_);
  for (Nanoseconds now = world_.clock.monotonic(); !is_over(now); now = world_.clock.monotonic()) {
    std::optional<PingQueue::Try> next = queue_.take(now);
    for (const Ping& ping : queue_.take_expired()) end(ping, End::failed, "its turn did not come in time");
    if (!next) {
      if (now >= used + kIdle) post = nullptr;
      rest(lock, now, post != nullptr);
      continue;
    }
    if (ends_at_) next->until = std::min(next->until, *ends_at_);
    lock.unlock();
    world_.before_each();
    if (!post) post = world_.make_post();
    const Nanoseconds most = next->until - world_.clock.monotonic();
    const Status sent = most > Nanoseconds(0) ? post(next->ping, most) : fail(Code::unreachable, "no time is left");
    lock.lock();
    used = world_.clock.monotonic();
    if (sent) {
      queue_.sent(next->ping.job);
      end(next->ping, End::sent, {});
    } else if (queue_.failed(next->ping.job, used)) {
      end(next->ping, End::failed, sent.error().message);
    }
    changed_.notify_one();  // another has its turn, now or after a pause that nobody may be waiting for
  }
  changed_.notify_all();
}

// Of the URL nothing is said but where the receiver is.
void PingSender::end(const Ping& ping, End end, const std::string& reason) {
  world_.count(end);
  if (end == End::sent) return;
  const Nanoseconds now = world_.clock.monotonic();
  if (said_at_ && now < *said_at_ + kBetweenLines) {
    ++unsaid_;
    return;
  }
  said_at_ = now;
  world_.log.warning("ping_dropped", {{"identity", ping.job},
                                      {"runId", ping.run_id},
                                      {"ping", ping.signal},
                                      {"receiver", jobs::place_of_url(*ping.url)},
                                      {"reason", reason},
                                      {"unsaid", std::exchange(unsaid_, 0)}});
}

void PingSender::finish(Nanoseconds patience) {
  {
    const std::scoped_lock lock(mutex_);
    ends_at_ = world_.clock.monotonic() + patience;
    has_ended_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const std::scoped_lock lock(mutex_);
  (void)queue_.take(Nanoseconds::max());  // the time of all is over then
  for (const Ping& ping : queue_.take_expired()) end(ping, End::failed, "krond has ended");
}

std::size_t PingSender::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

}  // namespace kron::daemon
