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

void set_timer(const Descriptor& timer, int flags, timespec at) {
  const itimerspec spec{.it_interval = {}, .it_value = at};
  ::timerfd_settime(timer.get(), flags, &spec, nullptr);
}

}  // namespace

EventLoop::EventLoop(Descriptor epoll, Descriptor wall, Descriptor monotonic, Nanoseconds clock_offset)
    : epoll_(std::move(epoll)), wall_(std::move(wall)), monotonic_(std::move(monotonic)), clock_offset_(clock_offset) {}

Result<std::unique_ptr<EventLoop>> EventLoop::create(Nanoseconds clock_offset) {
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  Descriptor wall(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  Descriptor monotonic(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll || !wall || !monotonic) return fail(system_error("make", "the timers of the event loop", errno));
  std::unique_ptr<EventLoop> loop(new EventLoop(std::move(epoll), std::move(wall), std::move(monotonic), clock_offset));
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
  const Nanoseconds machine_time = wall.value_or(kNever).time_since_epoch() - (wall ? clock_offset_ : Nanoseconds(0));
  set_timer(wall_, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, timespec_of(machine_time));
}

void EventLoop::wake_at_monotonic(std::optional<Nanoseconds> monotonic) {
  if (monotonic == monotonic_set_) return;
  monotonic_set_ = monotonic;
  set_timer(monotonic_, TFD_TIMER_ABSTIME, monotonic ? timespec_of(*monotonic) : timespec{});
}

Result<bool> EventLoop::wait() {
  epoll_event events[kEventsAtOnce];
  const int count = uninterrupted([&] { return ::epoll_wait(epoll_.get(), events, kEventsAtOnce, -1); });
  if (count < 0) return fail(system_error("wait", "for events", errno));
  for (int i = 0; i < count; ++i) {
    // A handler may have ended the watch of another.
    const auto handler = handlers_.find(events[i].data.fd);
    if (handler != handlers_.end()) handler->second();
  }
  return std::exchange(clock_changed_, false);
}

}  // namespace kron
