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

  // `pause` or `trigger`; what became of it, in a sentence.
  std::string act(std::string_view verb, const std::string& job);

 private:
  Result<Node> asked(const Target& target);
  Status ask_present();
  Status ask_starts();
  void ask_windows();
  void ask_rest();

  DaemonClient client_;
  TopData data_;
  Nanoseconds slow_again_{0};  // when the lists are asked for again, by the steady clock
};

}  // namespace kron::cli
