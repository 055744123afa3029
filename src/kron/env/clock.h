#pragma once

#include <string>

#include "kron/base/instant.h"

namespace kron {

using WallTime = std::chrono::sys_time<Nanoseconds>;

class Clock {
 public:
  virtual ~Clock() = default;

  virtual WallTime wall() const = 0;          // may jump, both ways
  virtual Nanoseconds monotonic() const = 0;  // never jumps; stands still while the machine sleeps
  virtual Nanoseconds boot_time() const = 0;  // never jumps; goes on while the machine sleeps: what leases count on
  virtual const std::string& boot_id() const = 0;  // another after every boot
};

// Kron's `now`: the wall clock floored to the second.
inline Instant now(const Clock& clock) { return std::chrono::floor<Seconds>(clock.wall()); }

// The machine's clocks. `offset` shifts the wall clock (drills); the others are not shifted.
class RealClock : public Clock {
 public:
  explicit RealClock(Nanoseconds offset = Nanoseconds(0));

  WallTime wall() const override;
  Nanoseconds monotonic() const override;
  Nanoseconds boot_time() const override;
  const std::string& boot_id() const override { return boot_id_; }

 private:
  Nanoseconds offset_;
  std::string boot_id_;
};

}  // namespace kron
