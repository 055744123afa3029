#include "kron/env/event_loop.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

#include "kron/env/system_error.h"

namespace kron {
namespace {

// The timer is armed even when nothing is planned: only an armed timer notices that the clock was set.
constexpr Instant kNever{Seconds(std::int64_t{1} << 33)};

constexpr int kEventsAtOnce = 16;

// An absolute timer of zero would be disarmed, and one in the past fires at once.
timespec timespec_of(Nanoseconds time) {
  time = std::max(time, Nanoseconds(1));
  const Seconds whole = std::chrono::floor<Seconds>(time);
  timespec spec{};
  spec.tv_sec = static_cast<time_t>(whole.count());
  spec.tv_nsec = static_cast<long>((time - whole).count());
  return spec;
}

// The machine's time when the shifted clock reads `wall`. In seconds, because their range is beyond that of
// nanoseconds.
timespec machine_time_of(Instant wall, Nanoseconds clock_offset) {
  const Seconds offset = std::chrono::ceil<Seconds>(clock_offset);
  const Seconds whole = std::min(wall, kNever).time_since_epoch() - offset;
  if (whole < Seconds(0)) return timespec_of(Nanoseconds(0));
  timespec spec{};
  spec.tv_sec = static_cast<time_t>(whole.count());
  spec.tv_nsec = std::max(static_cast<long>((offset - clock_offset).count()), whole == Seconds(0) ? 1L : 0L);
  return spec;
}

}  // namespace

bool EventLoop::set_timer(int timer, int flags, const itimerspec& at) {
  return ::timerfd_settime(timer, flags, &at, nullptr) == 0;
}

EventLoop::EventLoop(Descriptor epoll, Descriptor wall, Descriptor monotonic, Nanoseconds clock_offset,
                     SetTimer set_timer)
    : epoll_(std::move(epoll)),
      wall_(std::move(wall)),
      monotonic_(std::move(monotonic)),
      clock_offset_(clock_offset),
      set_timer_(std::move(set_timer)) {}

Result<std::unique_ptr<EventLoop>> EventLoop::create(Nanoseconds clock_offset, SetTimer set_timer) {
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  Descriptor wall(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  Descriptor monotonic(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll || !wall || !monotonic) return fail(system_error("make", "the timers of the event loop", errno));
  std::unique_ptr<EventLoop> loop(
      new EventLoop(std::move(epoll), std::move(wall), std::move(monotonic), clock_offset, std::move(set_timer)));
  EventLoop* self = loop.get();
  Status watched = loop->watch(loop->wall_.get(), [self] {
    std::uint64_t expired = 0;
    const ssize_t size = ::read(self->wall_.get(), &expired, sizeof expired);
    if (size < 0 && errno == EAGAIN) return;
    self->clock_changed_ = self->clock_changed_ || (size < 0 && errno == ECANCELED);
    self->wall_armed_ = false;
  });
  if (watched) {
    watched = loop->watch(loop->monotonic_.get(), [self] {
      std::uint64_t expired = 0;
      if (::read(self->monotonic_.get(), &expired, sizeof expired) > 0) self->monotonic_set_.reset();
    });
  }
  if (!watched) return fail(watched.error());
  loop->wake_at(std::nullopt);
  return loop;
}

Status EventLoop::watch(int descriptor, Handler handler) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return fail(system_error("watch", "a descriptor", errno));
  }
  handlers_[descriptor] = std::move(handler);
  return {};
}

void EventLoop::unwatch(int descriptor) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  handlers_.erase(descriptor);
}

Status EventLoop::take_signals(std::initializer_list<int> signals, std::function<void(int signal)> handler) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail(system_error("watch", "signals", errno));
  return watch(signals_.get(), [this, handler = std::move(handler)] {
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) handler(static_cast<int>(signal.ssi_signo));
  });
}

void EventLoop::wake_at(std::optional<Instant> wall) {
  if (wall_armed_ && wall == wall_set_) return;
  wall_set_ = wall;
  wall_armed_ = true;
  const timespec at = wall ? machine_time_of(*wall, clock_offset_) : machine_time_of(kNever, Nanoseconds(0));
  // Somebody has set the clock since the timer was set before. The timer is set all the same, but this is the only word
  // of it that we get (timerfd_create(2), Notes).
  if (!set_timer_(wall_.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, {.it_interval = {}, .it_value = at}) &&
      errno == ECANCELED) {
    clock_changed_ = true;
  }
}

void EventLoop::wake_at_monotonic(std::optional<Nanoseconds> monotonic) {
  if (monotonic == monotonic_set_) return;
  monotonic_set_ = monotonic;
  const timespec at = monotonic ? timespec_of(*monotonic) : timespec{};
  set_timer_(monotonic_.get(), TFD_TIMER_ABSTIME, {.it_interval = {}, .it_value = at});
}

Result<bool> EventLoop::wait() {
  epoll_event events[kEventsAtOnce];
  const int forever = -1;
  const int timeout = clock_changed_ ? 0 : forever;
  const int count = uninterrupted([&] { return ::epoll_wait(epoll_.get(), events, kEventsAtOnce, timeout); });
  if (count < 0) return fail(system_error("wait", "for events", errno));
  for (int i = 0; i < count; ++i) {
    // A handler may have ended the watch of another.
    const auto handler = handlers_.find(events[i].data.fd);
    if (handler != handlers_.end()) handler->second();
  }
  return std::exchange(clock_changed_, false);
}

}  // namespace kron
