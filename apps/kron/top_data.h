#pragma once

#include <string>

#include "daemon_client.h"
#include "top_frame.h"

namespace kron::cli {

// Asks krond for what `kron top` shows. What is quick to answer is asked for each time, lists of all jobs and the load
// more seldom: a screen that is left open all day costs krond next to nothing.
class TopSource {
 public:
  explicit TopSource(DaemonClient client) : client_(std::move(client)) {}

  // What is known now. When krond does not answer, what was known before, with the problem.
  const TopData& look();

 private:
  Status ask_status();
  Status ask_running();
  Status ask_jobs();
  void ask_windows();
  void ask_needs();
  void ask_outcomes();
  void ask_load();
  Result<Node> asked(const Target& target);

  DaemonClient client_;
  TopData data_;
  Nanoseconds slow_again_{0};  // when the lists are asked for again, by the steady clock
};

}  // namespace kron::cli
