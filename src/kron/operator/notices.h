#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kron/base/instant.h"
#include "kron/env/clock.h"
#include "kron/kube/object.h"
#include "kron/kube/request.h"
#include "kron/operator/step.h"

namespace kron::kronjobs {

// Which notices become events of the cluster: the same of one KronJob once in ten minutes, and no more than 25 of one
// KronJob in an hour, of which the last five are kept for warnings. A value without a clock.
class NoticeLimit {
 public:
  static constexpr Seconds kSame = std::chrono::minutes(10);
  static constexpr Seconds kPeriod = std::chrono::hours(1);
  static constexpr std::size_t kMost = 25;
  static constexpr std::size_t kMostNormal = 20;

  enum class Verdict : std::uint8_t {
    told,      // an event
    too_many,  // for the log alone
    repeated,  // said a short while ago
  };
  Verdict judge(std::string_view identity, const Notice& notice, Nanoseconds monotonic);

  [[nodiscard]] std::size_t remembered() const { return said_.size(); }

 private:
  struct Said {
    Nanoseconds at;
    std::size_t what;  // a hash
    bool is_event;
  };
  void forget_old(Nanoseconds monotonic);

  std::unordered_map<std::string, std::deque<Said>> said_;  // in the last hour, by identity
  Nanoseconds forgotten_at_{0};
};

// Who says it.
struct Reporter {
  std::string instance;      // at most 128 characters of it are said
  std::uint64_t events = 0;  // so far: the name of each is another
};

// The creation of an event of events.k8s.io/v1 about a KronJob.
kube::Request event_request(const kube::ObjectMeta& kron_job, const Notice& notice, WallTime at, Reporter& reporter);

}  // namespace kron::kronjobs
