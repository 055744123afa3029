#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/descriptor.h"

struct itimerspec;

namespace kron {

// What wakes a thread that otherwise sleeps: a wall-clock time, a change of that clock, a monotonic time, a signal, a
// descriptor. Nothing is polled.
class EventLoop {
 public:
  using Handler = std::function<void()>;

  // timerfd_settime(2), which tests replace to set the clock at the worst moment. False: errno says why.
  using SetTimer = std::function<bool(int timer, int flags, const itimerspec& at)>;
  static bool set_timer(int timer, int flags, const itimerspec& at);

  // `clock_offset`: what the daemon's wall clock is ahead of the machine's (drills).
  static Result<std::unique_ptr<EventLoop>> create(Nanoseconds clock_offset, SetTimer set_timer = EventLoop::set_timer);

  // Calls the handler whenever the descriptor is readable. The descriptor outlives the loop, or ends by unwatch().
  Status watch(int descriptor, Handler handler);
  void unwatch(int descriptor);

  // Blocks these signals for this thread and those it makes, and hands them over here instead.
  Status take_signals(std::initializer_list<int> signals, std::function<void(int signal)> handler);

  // The loop wakes at this time of the daemon's wall clock; at once if it is past. A jump of the clock wakes it too,
  // also one that is noticed only now. Times that no timer can hold (beyond the year 2242) are as good as none.
  void wake_at(std::optional<Instant> wall);

  // The same by the monotonic clock, which no jump moves.
  void wake_at_monotonic(std::optional<Nanoseconds> monotonic);

  // Sleeps until there is something, and calls the handlers it is for. True when the wall clock was set meanwhile.
  Result<bool> wait();

 private:
  EventLoop(Descriptor epoll, Descriptor wall, Descriptor monotonic, Nanoseconds clock_offset, SetTimer set_timer);

  Descriptor epoll_;
  Descriptor wall_;
  Descriptor monotonic_;
  Descriptor signals_;
  Nanoseconds clock_offset_;
  SetTimer set_timer_;
  std::optional<Instant> wall_set_;
  std::optional<Nanoseconds> monotonic_set_;
  bool wall_armed_ = false;
  bool clock_changed_ = false;
  std::map<int, Handler> handlers_;
};

}  // namespace kron
