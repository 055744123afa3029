#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/state/record.h"

namespace kron::cluster {

// Redis has said that this host may run this; what the run's end and its lease need.
struct Grant {
  std::string run_id;
  std::string job;                     // its name
  std::optional<Instant> period = {};  // none for a manual run
  std::optional<Instant> chosen = {};
  Trigger trigger = Trigger::schedule;
  std::string start_time;  // "sec.usec" of Redis's TIME, as in rundata
  std::uint64_t fence = 0;
  std::string lock_key = {};  // empty: no lock
  Nanoseconds ttl{0};         // of the lock
  Nanoseconds sent{0};        // CLOCK_BOOTTIME when the claim was sent: the lease counts from here
  Nanoseconds least_hold{0};  // how long after the start the lock is held at least

  bool operator==(const Grant&) const = default;
};

// From the ledger, which gets them in its own thread, to the runner, which lets the runs go in the loop's.
class Grants {
 public:
  void put(Grant grant) {
    const std::lock_guard lock(mutex_);
    std::string run_id = grant.run_id;
    grants_.insert_or_assign(std::move(run_id), std::move(grant));
  }

  std::optional<Grant> take(std::string_view run_id) {
    const std::lock_guard lock(mutex_);
    const auto found = grants_.find(run_id);
    if (found == grants_.end()) return std::nullopt;
    Grant grant = std::move(found->second);
    grants_.erase(found);
    return grant;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Grant, std::less<>> grants_;
};

}  // namespace kron::cluster
