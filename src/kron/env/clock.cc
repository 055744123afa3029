#include "kron/env/clock.h"

#include <ctime>
#include <fstream>

namespace kron {
namespace {

Nanoseconds read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return Seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

// Empty where /proc is not mounted: then no process of before a restart is ever taken for one of ours.
std::string read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

RealClock::RealClock(Nanoseconds offset) : offset_(offset), boot_id_(read_boot_id()) {}

WallTime RealClock::wall() const { return WallTime(read_clock(CLOCK_REALTIME) + offset_); }
Nanoseconds RealClock::monotonic() const { return read_clock(CLOCK_MONOTONIC); }
Nanoseconds RealClock::boot_time() const { return read_clock(CLOCK_BOOTTIME); }

}  // namespace kron
