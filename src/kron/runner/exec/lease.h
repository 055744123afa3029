#pragma once

#include <cstdint>

namespace kron::exec {

// The run's lease: until when its command may live unless krond moves the time on. The time is in the first eight bytes
// of a file (protocol.h), on a clock that goes on while the machine sleeps. krond need not live for it to run out, and
// no renewal wakes us: the file is read only when the time that was in it last has come.
class Lease {
 public:
  Lease() = default;
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // False and errno: it cannot be watched.
  bool open();

  // Readable when it may have run out; -1: there is no lease.
  int timer() const { return timer_; }

  // Whether there is one and it has run out; if not, the timer is set to what it says now.
  bool has_run_out() const;

 private:
  int timer_ = -1;
};

}  // namespace kron::exec
