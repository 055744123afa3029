#include "kron/daemon/late_look.h"

#include <algorithm>

#include "kron/base/duration.h"

namespace kron::daemon {

LateLook look_for_late(const Scheduler::View& job, Instant now) {
  LateLook look;
  const std::optional<AlarmTerms>& terms = job.definition.options->notify;
  if (!terms || !terms->late) return look;
  const Seconds late = *terms->late;
  const auto come_again = [&](Instant at) { look.check = std::min(look.check.value_or(at), at); };
  for (const ActiveExecution& run : job.known.active) {
    if (!run.period || run.trigger == Trigger::manual) continue;
    AlarmSign sign{.kind = AlarmKind::late, .period = *run.period, .at = now, .run_id = run.run_id};
    if (run.chosen && run.started_at - *run.chosen >= late) {
      sign.reason = "started " + duration_text(run.started_at - *run.chosen) + " after its time";
    } else if (now - run.started_at >= late) {
      sign.reason = "has run for " + duration_text(late) + ", and goes on";
    } else {
      come_again(run.started_at + late);
      continue;
    }
    look.signs.push_back(std::move(sign));
  }
  if (const auto& waits = job.held_up; waits && waits->chosen) {
    if (now - *waits->chosen < late) {
      come_again(*waits->chosen + late);
    } else {
      const std::string reason = "has not started " + duration_text(late) + " after its time";
      look.signs.push_back({.kind = AlarmKind::late, .period = waits->nominal, .at = now, .reason = reason});
    }
  }
  // It may have to wait when its time comes; nobody tells of that.
  if (job.next && job.next->chosen) come_again(*job.next->chosen + late);
  return look;
}

}  // namespace kron::daemon
