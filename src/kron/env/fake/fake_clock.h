#pragma once

#include <string>

#include "kron/env/clock.h"

namespace kron::testing {

// Stands still until told otherwise.
class FakeClock : public Clock {
 public:
  explicit FakeClock(Instant start) : wall_(start) {}

  void advance(Nanoseconds time) {
    wall_ += time;
    monotonic_ += time;
    boot_time_ += time;
  }
  void advance_to(WallTime time) { advance(time - wall_); }

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

  WallTime wall() const override { return wall_; }
  Nanoseconds monotonic() const override { return monotonic_; }
  Nanoseconds boot_time() const override { return boot_time_; }
  const std::string& boot_id() const override { return boot_id_; }

 private:
  WallTime wall_;
  Nanoseconds monotonic_{0};
  Nanoseconds boot_time_{0};
  int boots_ = 1;
  std::string boot_id_ = "boot-1";
};

}  // namespace kron::testing
