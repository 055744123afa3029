#include "kron/runner/exec/lease.h"

#include <ctime>
#include <sys/timerfd.h>
#include <unistd.h>

#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::int64_t boot_time_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * kNanoseconds + now.tv_nsec;
}

// A file that cannot be read extends nothing.
std::int64_t deadline_in_file() {
  std::int64_t deadline = 0;
  const ssize_t got = ::pread(runner::kLeaseDescriptor, &deadline, sizeof deadline, 0);
  return got == static_cast<ssize_t>(sizeof deadline) && deadline > 0 ? deadline : 1;
}

}  // namespace

Lease::~Lease() {
  if (timer_ >= 0) ::close(timer_);
}

bool Lease::open() {
  timer_ = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ < 0) return false;
  (void)has_run_out();
  return true;
}

bool Lease::has_run_out() const {
  if (timer_ < 0) return false;
  std::uint64_t expirations = 0;
  (void)!::read(timer_, &expirations, sizeof expirations);
  const std::int64_t deadline = deadline_in_file();
  if (deadline <= boot_time_now()) return true;
  const itimerspec at{{}, {deadline / kNanoseconds, deadline % kNanoseconds}};
  // Without a timer nobody would notice the end.
  return ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr) != 0;
}

}  // namespace kron::exec
