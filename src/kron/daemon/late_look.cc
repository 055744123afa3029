#include "kron/daemon/late_look.h"

#include <algorithm>

#include "kron/base/duration.h"

namespace kron::daemon {

LateLook look_for_late(const Scheduler::View& job, Instant now) {
  LateLook look;
  const std::optional<AlarmTerms>& terms = job.definition.options->notify;
  if (!terms || !terms->late) return look;
  const Seconds late = *terms->late;
  for (const ActiveExecution& run : job.known.active) {
    if (!run.period || run.trigger == Trigger::manual) continue;
    AlarmSign sign{.kind = AlarmKind::late, .period = *run.period, .at = now, .run_id = run.run_id};
    if (run.chosen && run.started_at - *run.chosen >= late) {
      sign.reason = "started " + duration_text(run.started_at - *run.chosen) + " after its time";
    } else if (now - run.started_at >= late) {
      sign.reason = "has run for " + duration_text(late) + ", and goes on";
    } else {
      const Instant check = run.started_at + late;
      look.check = std::min(look.check.value_or(check), check);
      continue;
    }
    look.signs.push_back(std::move(sign));
  }
  return look;
}

}  // namespace kron::daemon
