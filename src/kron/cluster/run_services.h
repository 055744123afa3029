#pragma once

#include "kron/cluster/keep_alive.h"
#include "kron/cluster/output_shipper.h"
#include "kron/cluster/step_thread.h"

namespace kron::cluster {

// The two services for this host's runs, each with its thread: the keep-alive, which no disk may hold up, and the
// shipper, which yields. The link must have ended before this goes: its answers come here.
class RunServices {
 public:
  struct Options {
    KeepAlive::Options keep = {};
    OutputShipper::Options ship = {};
  };
  // All of them outlive it.
  RunServices(ActiveRuns& runs, Link& link, const Keys& keys, const Clock& clock, Log& log, Options options);

  Status start();

  // Redis has lost writes; see KeepAlive. From the link's thread.
  void lost_writes() { keep_alive_.assert_runs(); }

  // Ends: waits until Redis has confirmed the ends of all runs that are over, for `patience` at most. What is left is
  // told by the next daemon. The link must still work meanwhile.
  bool stop(Nanoseconds patience);

 private:
  ActiveRuns& runs_;
  KeepAlive keep_alive_;
  OutputShipper shipper_;
  StepThread keep_thread_;
  StepThread ship_thread_;
};

}  // namespace kron::cluster
