#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kron/operator/job_view.h"
#include "kron/operator/kron_job.h"

// Why a period ran, did not run, or when it will: out of what the server has, without an operator.
namespace kron::kronjobs {

enum class PeriodFate : std::uint8_t {
  executed,       // its Job was started
  skipped,        // judged, and not started …
  missed,         // …
  unschedulable,  // … as the reason says
  opening,        // recorded; its Job is at its gate
  waiting,        // for the runs that it replaces to end
  handled,        // judged so long ago that the status does not say how any more
  passed_over,    // late, and a later period was judged in its place
  not_counted,    // due before the KronJob, or its schedule, was there
  suspended,      // nothing is judged
  invalid,        // the spec cannot be scheduled
  unreadable,     // the operator's memory in the status is broken
  due,            // its time has come, and nothing is recorded yet
  ahead,
};
std::string_view name_of(PeriodFate fate);

struct Verdict {
  PeriodFate fate = PeriodFate::ahead;
  std::string sentence;                 // for people: without a full stop
  std::optional<PeriodNote> note = {};  // what the status has recorded of it
  std::string job_name = {};            // of the Job that it has, or would have

  bool operator==(const Verdict&) const = default;
};

// `jobs` are those of the identity, as far as they are known; what has ended may be gone. Pure.
Verdict verdict_of(const KronJobView& kron_job, std::span<const JobView> jobs, Instant period, Instant now);

}  // namespace kron::kronjobs
