#pragma once

#include "kron/core/decision.h"
#include "kron/jobs/definition.h"

// How the rest of the room walks over the periods of many jobs.
namespace kron {

struct TimeSpan {
  Instant from, until;  // without `until`

  [[nodiscard]] bool has(Instant t) const { return from <= t && t < until; }
};

// The nominal times whose windows touch a span of time.
inline TimeSpan nominal_span(const WindowSpec& spec, const TimeSpan& span) {
  const Window reach = window_of(spec, Instant{});
  return {span.from - reach.end.time_since_epoch(), span.until - reach.start.time_since_epoch()};
}

// Until `see` says false.
template <class See>
void for_each_nominal(const Job& job, const TimeSpan& span, See see) {
  auto t = job.schedule.next_after(span.from - Seconds(1), job.zone);
  for (; t && *t < span.until; t = job.schedule.next_after(*t, job.zone)) {
    if (!see(*t)) return;
  }
}

// Most jobs of a crontab have neither window nor constraints; their hashes need not be computed.
inline bool runs_at_nominal_time(const Job& job) {
  return job.window.duration == Nanoseconds(0) && job.constraints.empty();
}

inline bool is_suspended_by_definition(const jobs::JobDefinition& definition) {
  const auto& terms = definition.options->terms;
  return definition.job.policy.suspend || (terms && terms->paused);
}

inline bool is_at_boot(const jobs::JobDefinition& definition) {
  return !is_suspended_by_definition(definition) && definition.job.schedule.kind == Schedule::Kind::reboot;
}

inline bool can_start(const jobs::JobDefinition& definition) {
  return !is_suspended_by_definition(definition) && !is_at_boot(definition);
}

}  // namespace kron
