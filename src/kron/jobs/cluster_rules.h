#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/jobs/definition.h"

// What a cluster asks of a cronken definition beside its being one. Pure.
namespace kron::jobs {

// Each of these is looked at by every host with every step, and written each time.
inline constexpr std::uint64_t kMostOpenInCluster = 256;
inline constexpr Seconds kLockTtlOfZero{60};
inline constexpr Seconds kClusterDeadline{
    1};  // of definitions that name none: a hiccup of Redis must not lose a period

// Refused: empty, `all`, `__reaper__`, with control characters, longer than 512 bytes.
Status check_cluster_name(std::string_view name);

// Why a cluster does not run this job; each with the field it is about. Definitions without terms are not looked at.
std::vector<Error> refused_in_cluster(const JobDefinition& definition);

// What it does otherwise than its author may think: {message, cure}.
struct ClusterAdvice {
  std::string_view field;
  std::string message;
  std::string cure;
};
std::vector<ClusterAdvice> advice_for_cluster(const JobDefinition& definition);

// "Monday to Friday", "Monday, Wednesday and Sunday": on which weekdays the schedule runs. Nothing: it does not say.
std::optional<std::string> weekdays_in_words(const Schedule& schedule);

// The definition as a cluster runs it: a lock rules out overlaps whatever the policy says, ttl 0 is a minute, a job
// that is paused is suspended. `has_deadline`: the definition names one.
void adapt_to_cluster(JobDefinition& definition, RunOptions& options, bool has_deadline);

}  // namespace kron::jobs
