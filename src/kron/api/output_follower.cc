#include "kron/api/output_follower.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kron/env/system_error.h"
#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"

namespace kron::api {
namespace {

constexpr std::size_t kFollowedPiece = std::size_t{64} << 10;
constexpr Nanoseconds kTurn = std::chrono::milliseconds(100);

// As the loop that sleeps by it understands it.
Nanoseconds monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

Result<std::unique_ptr<OutputFollower>> OutputFollower::start(std::string runs_directory) {
  Result<std::unique_ptr<EventLoop>> loop = EventLoop::create(Nanoseconds(0));
  if (!loop) return fail(loop.error());
  Descriptor changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!changes) return fail(system_error("watch", runs_directory, errno));
  std::unique_ptr<OutputFollower> follower(
      new OutputFollower(std::move(runs_directory), *std::move(loop), std::move(changes)));
  OutputFollower* self = follower.get();
  Status watched = self->loop_->watch(self->mailbox_.descriptor(), [self] { self->mailbox_.work_off(kTurn); });
  if (watched) watched = self->loop_->watch(self->changes_.get(), [self] { self->take_changes(); });
  if (!watched) return fail(watched.error());
  Result<std::thread> thread =
      with_thread("outputs that are followed", [self] { return std::thread([self] { self->serve(); }); });
  if (!thread) return fail(thread.error());
  self->thread_ = *std::move(thread);
  return follower;
}

OutputFollower::OutputFollower(std::string runs_directory, std::unique_ptr<EventLoop> loop, Descriptor changes)
    : runs_directory_(std::move(runs_directory)), loop_(std::move(loop)), changes_(std::move(changes)) {}

OutputFollower::~OutputFollower() {
  mailbox_.post([this] { is_ending_ = true; });
  if (thread_.joinable()) thread_.join();
}

void OutputFollower::serve() {
  become_background_thread();
  while (!is_ending_) {
    loop_->wake_at_monotonic(next_deadline());
    if (!loop_->wait()) break;
    call_those_who_waited([now = monotonic_now()](const Waiter& waiter) { return waiter.until <= now; });
  }
  // Whoever still reads must not take what he has for the whole.
  for (auto& [key, followed] : followed_) followed.stream->cut();
  followed_.clear();
  waiters_.clear();
}

void OutputFollower::follow(std::string run_id, std::shared_ptr<http::Stream> stream, bool has_ended,
                            std::uint64_t from) {
  auto followed = std::make_shared<Followed>();
  followed->run_id = std::move(run_id);
  followed->stream = std::move(stream);
  followed->has_ended = has_ended;
  followed->from = from;
  mailbox_.post([this, followed] { add(std::move(*followed)); });
}

void OutputFollower::run_ended(std::string run_id) {
  mailbox_.post([this, run_id = std::move(run_id)] {
    std::vector<Key> keys;
    for (auto& [key, followed] : followed_) {
      if (followed.run_id != run_id) continue;
      followed.has_ended = true;
      keys.push_back(key);
    }
    for (const Key key : keys) advance(key);
    call_those_who_waited([&run_id](const Waiter& waiter) { return waiter.run_id == run_id; });
  });
}

void OutputFollower::await_end(Ticket ticket, std::string run_id, Nanoseconds longest, std::function<void()> call) {
  Waiter waiter{std::move(run_id), monotonic_now() + longest, std::move(call)};
  mailbox_.post([this, ticket, waiter = std::move(waiter)] { waiters_.emplace(ticket, waiter); });
}

void OutputFollower::withdraw(Ticket ticket) {
  mailbox_.post([this, ticket] { waiters_.erase(ticket); });
}

std::optional<Nanoseconds> OutputFollower::next_deadline() const {
  std::optional<Nanoseconds> next;
  for (const auto& [ticket, waiter] : waiters_) next = std::min(next.value_or(waiter.until), waiter.until);
  return next;
}

void OutputFollower::call_those_who_waited(const std::function<bool(const Waiter&)>& is_over) {
  std::vector<std::function<void()>> calls;
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (is_over(waiter->second)) {
      calls.push_back(std::move(waiter->second.call));
      waiter = waiters_.erase(waiter);
    } else {
      ++waiter;
    }
  }
  for (const auto& call : calls) call();
}

// Watched before it is read: what is written in between is seen twice rather than not at all.
void OutputFollower::add(Followed followed) {
  const Key key = next_key_++;
  followed.tail.emplace(runs_directory_, followed.run_id, followed.from);
  if (!followed.has_ended) watch(followed);
  followed_.emplace(key, std::move(followed));
  advance(key);
}

// A run has no directory before it writes something. Until then the directory of all runs tells of a new one; that is
// watched first, so that none is missed in between.
void OutputFollower::watch(Followed& followed) {
  const std::string directory = runs_directory_ + "/" + followed.run_id;
  const auto try_it = [&] {
    followed.watch = ::inotify_add_watch(changes_.get(), directory.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO);
    return followed.watch >= 0;
  };
  if (try_it()) return;
  if (runs_watch_ < 0) {
    runs_watch_ = ::inotify_add_watch(changes_.get(), runs_directory_.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  }
  try_it();
}

void OutputFollower::watch_new_directories() {
  bool all_are_watched = true;
  for (auto& [key, followed] : followed_) {
    if (followed.watch < 0 && !followed.has_ended) watch(followed);
    all_are_watched = all_are_watched && (followed.watch >= 0 || followed.has_ended);
  }
  if (all_are_watched && runs_watch_ >= 0) ::inotify_rm_watch(changes_.get(), std::exchange(runs_watch_, -1));
}

void OutputFollower::take_changes() {
  alignas(inotify_event) std::array<char, 4096> buffer{};
  std::vector<int> watches;
  bool overflowed = false;  // what was lost may be anybody's
  while (true) {
    const ssize_t size = ::read(changes_.get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    for (const char* at = buffer.data(); at < buffer.data() + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      watches.push_back(event->wd);
      overflowed = overflowed || (event->mask & IN_Q_OVERFLOW) != 0;
      at += sizeof(inotify_event) + event->len;
    }
  }
  const auto has_changed = [&](int watch) {
    return overflowed || std::find(watches.begin(), watches.end(), watch) != watches.end();
  };
  std::vector<Key> keys;
  const bool has_new_directory = runs_watch_ >= 0 && has_changed(runs_watch_);
  for (const auto& [key, followed] : followed_) {
    if (followed.watch < 0 ? has_new_directory : has_changed(followed.watch)) keys.push_back(key);
  }
  if (has_new_directory) watch_new_directories();
  for (const Key key : keys) advance(key);
}

void OutputFollower::advance(Key key) {
  const auto found = followed_.find(key);
  if (found == followed_.end() || found->second.waits_for_reader) return;
  if (!send_what_is_there(key, found->second)) return forget(key);
  if (found->second.waits_for_reader || !found->second.has_ended) return;
  found->second.stream->end();
  forget(key);
}

// False: nobody reads any more. A piece at a time, the next one when the reader has taken it.
bool OutputFollower::send_what_is_there(Key key, Followed& followed) {
  runner::OutputTail::Piece piece = followed.tail->read(kFollowedPiece);
  // On a line of its own, so that a reader finds it: the rest of the line before it is gone.
  if (piece.lost > 0) piece.bytes.insert(0, (followed.is_within_line ? "\n" : "") + runner::cut_line(piece.lost));
  if (piece.bytes.empty()) return true;
  followed.is_within_line = !piece.bytes.ends_with('\n');
  if (!followed.stream->write(std::move(piece.bytes))) return false;
  followed.waits_for_reader = true;
  followed.stream->on_drained([this, key] {
    mailbox_.post([this, key] {
      const auto found = followed_.find(key);
      if (found == followed_.end()) return;
      found->second.waits_for_reader = false;
      advance(key);
    });
  });
  return true;
}

void OutputFollower::forget(Key key) {
  const auto found = followed_.find(key);
  const int watch = found->second.watch;
  followed_.erase(found);
  watch_new_directories();
  if (watch < 0) return;
  for (const auto& [other, followed] : followed_) {
    if (followed.watch == watch) return;  // inotify gives one watch to all who follow one run
  }
  ::inotify_rm_watch(changes_.get(), watch);
}

}  // namespace kron::api
