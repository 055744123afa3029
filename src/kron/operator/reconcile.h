#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/core/open_periods.h"
#include "kron/operator/job_view.h"
#include "kron/operator/kron_job.h"
#include "kron/operator/step.h"

namespace kron::kronjobs {

// What the server said to a trial of the template.
struct Trial {
  std::int64_t generation = 0;
  GateKind gate = GateKind::ours;
  std::string refusal = {};  // why it takes no such Job; empty: it does, or could not be asked
};

// A Job that the server will not take, however often it is asked.
struct Refusal {
  std::string job_name;
  std::string message;
};

// Creating or opening fails, and may succeed later.
struct Trouble {
  std::string message;
  Instant since;
  bool muted = false;  // the status that was to tell of it could not be written
};

// Everything that is known about one KronJob. Refers to what it is made of.
struct Seen {
  const KronJobView& kron_job;
  std::span<const JobView> jobs;  // those of the identity, whoever owns them; and others whose names we asked for
  const JobState* predecessor = nullptr;       // of a deleted KronJob of this identity; null: none
  std::span<const std::string> answered = {};  // uids of Jobs that are gone: there is nothing to open any more
  const Trial* trial = nullptr;                // the latest
  const Refusal* refusal = nullptr;
  const Trouble* trouble = nullptr;
};

struct Reconciled {
  Step step;
  std::vector<Notice> notices;
};

// A recorded Job is opened until this long after chosen + deadline, and at least this long after its record.
inline constexpr Seconds kOpeningTime{60};
// After the grace of the runs that are replaced, this long is waited for them.
inline constexpr Seconds kReplaceTime{60};
// Trouble is told in the status when it has lasted this long.
inline constexpr Seconds kTroubleShown{5};

// The first thing to do about a KronJob. Total and pure. Who calls it makes that one call, puts the answer into what is
// seen, and asks again with `on_time_since` as it was, until it says Rest: there is no other way to write anything, and
// a restart at any point is a call of this function.
Reconciled reconcile(const Seen& seen, Turn turn);

// The same of a KronJob that is gone: of the Jobs that are left of its identity, those at their gate are removed when
// they were its own or are nobody's. Those of another uid belong to a KronJob that we have not seen yet.
Reconciled reconcile_gone(std::span<const JobView> jobs, std::string_view uid);

}  // namespace kron::kronjobs
