#pragma once

#include <atomic>
#include <string>

#include "kron/env/clock.h"

namespace kron::testing {

// Stands still until told otherwise, by one thread at a time; any may read it meanwhile, but for the boot id.
class FakeClock : public Clock {
 public:
  explicit FakeClock(Instant start) : wall_(start) {}

  void advance(Nanoseconds time) {
    wall_ += time;
    monotonic_ += time;
    boot_time_ += time;
  }
  void advance_to(WallTime time) { advance(time - wall()); }

  void jump(Nanoseconds by) { wall_ += by; }  // someone sets the wall clock
  void jump_to(WallTime time) { wall_ = time; }

  void sleep(Nanoseconds time) {  // the machine is suspended
    wall_ += time;
    boot_time_ += time;
  }

  void reboot(Nanoseconds downtime) {
    wall_ += downtime;
    monotonic_ = boot_time_ = Nanoseconds(0);
    boot_id_ = "boot-" + std::to_string(++boots_);
  }

  WallTime wall() const override { return wall_.get(); }
  Nanoseconds monotonic() const override { return monotonic_.get(); }
  Nanoseconds boot_time() const override { return boot_time_.get(); }
  const std::string& boot_id() const override { return boot_id_; }

 private:
  // A time that one thread sets and others read.
  template <class Time>
  class Shared {
   public:
    explicit Shared(Time time) : time_(time) {}
    Shared(const Shared& other) : time_(other.get()) {}
    Shared& operator=(const Shared& other) { return *this = other.get(); }
    Shared& operator=(Time time) {
      time_ = time;
      return *this;
    }
    Shared& operator+=(Nanoseconds by) { return *this = get() + by; }
    ~Shared() = default;

    [[nodiscard]] Time get() const { return time_; }

   private:
    std::atomic<Time> time_;
  };

  Shared<WallTime> wall_;
  Shared<Nanoseconds> monotonic_{Nanoseconds(0)};
  Shared<Nanoseconds> boot_time_{Nanoseconds(0)};
  int boots_ = 1;
  std::string boot_id_ = "boot-1";
};

}  // namespace kron::testing
