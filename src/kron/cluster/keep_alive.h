#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kron/cluster/active_runs.h"
#include "kron/cluster/dialect.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron::cluster {

// Keeps this host's runs alive in Redis: their heartbeats, and their locks. A renewal that is confirmed moves the
// deadline in the claim file on, by which kron-exec lives; one that says that the lock is somebody else's ends the run
// at once. A service that is stepped, by one thread; answers are taken on the link's.
class KeepAlive {
 public:
  struct Options {
    Nanoseconds heartbeat = std::chrono::seconds(30);
    std::string owner = {};  // of the claims: this state directory
    std::string host = {};   // as rundata names it
    Dialect dialect = Dialect::seed;
    std::function<void(const ProcessIdentity&)> kill = {};  // none: by a signal to kron-exec
  };
  // All of them outlive it, and the link's answers.
  KeepAlive(ActiveRuns& runs, Link& link, Keys keys, const Clock& clock, Log& log, Options options);
  KeepAlive(ActiveRuns& runs, Link& link, Keys keys, const Clock& clock, Log& log);

  // Posts what is due. How long the next step can wait, kLongestStep at most; less when a run is added whose lock is to
  // be renewed before.
  Nanoseconds tick();
  static constexpr Nanoseconds kLongestStep = std::chrono::seconds(1);

  // Redis has lost writes, and perhaps those that told of our runs: they are written again. A run whose lock another
  // has by now is killed. From any thread, the link's too.
  void assert_runs();

 private:
  struct Asked {
    std::string run_id;
    bool is_for_lock = false;
  };

  void post(std::vector<Asked> asked);
  void take(const std::vector<Asked>& asked, const TimedReply& reply);
  void take_assertion(const std::string& run_id, const TimedReply& reply);
  void extend(ActiveRun& run, Nanoseconds sent);
  void lose(ActiveRun& run);

  ActiveRuns& runs_;
  Link& link_;
  Keys keys_;
  const Clock& clock_;
  Log& log_;
  Options options_;
};

// Ends a run whose lock is lost, from any thread: the helper reads in its lease why.
void kill_by_lease(const ProcessIdentity& helper);

}  // namespace kron::cluster
