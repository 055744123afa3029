#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/cluster/claims.h"
#include "kron/env/process_runner.h"
#include "kron/state/record.h"

namespace kron::cluster {

// A run of this host that Redis does not know the end of yet.
struct ActiveRun {
  Claim claim;
  ClaimFile file;
  std::optional<RunExit> exit = {};  // it is over; what is left is to tell Redis
  bool is_told = false;              // the scheduler knows that it is over

  // The keep-alive's.
  Nanoseconds deadline{0};     // as in the file
  Nanoseconds beat_at{0};      // when its next heartbeat and …
  Nanoseconds renew_at{0};     // … the next renewal of its lock are due, on Clock::boot_time
  bool is_asked = false;       // an answer about it is awaited
  bool is_asserting = false;   // writes were lost, and whether it still has its lock is being asked
  bool has_lost_lock = false;  // it was killed for that
  bool is_known_gone = false;  // it was said that Redis does not count it as active

  [[nodiscard]] bool is_locked() const { return !claim.grant.lock_key.empty(); }
};

// Those runs: for the runner, which adds them and sees them end, for the keep-alive, and for the shipper, which removes
// them once Redis has confirmed their end. Any thread.
class ActiveRuns {
 public:
  explicit ActiveRuns(Claims claims) : claims_(std::move(claims)) {}

  [[nodiscard]] Claims& claims() { return claims_; }

  void add(ActiveRun run);

  // The run has ended. False: there is none of that id.
  bool end(RunExit exit, bool is_told);
  void told(std::string_view run_id);

  // Redis has confirmed the end: the run and its claim file are gone.
  void remove(std::string_view run_id);

  // Calls `look` with the run, under the lock: quick. False: there is none of that id.
  bool with(std::string_view run_id, const std::function<void(ActiveRun&)>& look);
  void for_each(const std::function<void(ActiveRun&)>& look);

  // Run ids that were added, and that ended, since the last call: for the shipper.
  struct Changes {
    std::vector<std::string> added;
    std::vector<std::string> ended;
  };
  [[nodiscard]] Changes take_changes();

  // Runs of a job whose end the scheduler has not been told, oldest first.
  [[nodiscard]] std::vector<ActiveExecution> of(std::string_view job) const;

  [[nodiscard]] bool has(std::string_view run_id) const;
  [[nodiscard]] std::size_t size() const;
  // Over, and not confirmed: what a daemon that ends should wait for, for a while.
  [[nodiscard]] std::size_t ended() const;
  // False: not all ends were confirmed in this time.
  bool wait_for_ends(Nanoseconds patience);

  // Called after add() and end(), on their thread and without the lock. Set while nobody else uses this.
  struct Change {
    bool is_end = false;
    Nanoseconds ttl{0};  // of the lock of a run that was added; zero: it has none
  };
  void on_change(std::function<void(const Change&)> call) { changed_ = std::move(call); }

 private:
  Claims claims_;
  mutable std::mutex mutex_;
  std::condition_variable all_confirmed_;
  std::map<std::string, ActiveRun, std::less<>> runs_;
  Changes changes_;
  std::size_t ended_ = 0;
  std::function<void(const Change&)> changed_;
};

}  // namespace kron::cluster
