#include "kron/report/words.h"

#include <array>
#include <cstdio>
#include <tuple>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/local_time.h"

namespace kron::report {
namespace {

// A second up to thirty days.
constexpr auto kUsualLengths = std::to_array<std::int64_t>(
    {1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000});

std::string value_text(const Explanation::Field& field) {
  const std::string number = std::to_string(field.value);
  if (field.name != "day-of-week") return number;
  return number + " (" + std::string(kWeekdayNames[static_cast<std::size_t>(field.value) % 7]) + ")";
}

std::string period_text(const Job& job, const Decision& period) {
  std::string text = rfc3339(period.nominal);
  if (job.window.duration == Nanoseconds(0)) return text;
  return text + (period.chosen ? ", with the chosen time " + rfc3339(*period.chosen) : ", which has no time");
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %%", share * 100);
  return text.data();
}

std::string down_text(const history::DownTime& down) {
  const std::string times = " from " + rfc3339(down.from) + " to " + rfc3339(down.to);
  switch (down.why) {
    case history::UpTime::End::stopped:
      return "krond was stopped" + times;
    case history::UpTime::End::slept:
      return "the machine slept" + times;
    case history::UpTime::End::clock_set:
      return "the clock was set" + times;
    case history::UpTime::End::none:
      break;
  }
  return "krond was down" + times;
}

std::string pause_text(const Pause& pause) {
  return "paused" + (pause.by.empty() ? "" : " by " + pause.by) + " since " + rfc3339(pause.since) +
         (pause.until ? ", until " + rfc3339(*pause.until) : ", until it is resumed") +
         (pause.note.empty() ? "" : " (" + pause.note + ")");
}

std::string outcome_text(Outcome outcome, Reason reason) {
  const std::string text(kron::name_of(outcome));
  return reason == Reason::none ? text : text + " (" + std::string(kron::name_of(reason)) + ")";
}

std::string meaning_of(Reason reason, const std::string& detail) {
  switch (reason) {
    case Reason::concurrency_forbid:
      return "a run of the job was going on, and concurrency=forbid allows one at a time";
    case Reason::lock_held:
      return "another host held the job's lock";
    case Reason::replaced_before_start:
      return "a later period was due while it waited for the run that it was to replace";
    case Reason::superseded_while_waiting:
      return "a later period was due while it waited for the run before it to end, or for a slot";
    case Reason::no_slot:
      return "as many runs were active as may be, until its deadline was over";
    case Reason::could_not_stop:
      return "the run that it was to replace did not end";
    case Reason::start_failed:
      return "it could not be started" + (detail.empty() ? "" : ": " + detail);
    default:
      return reason == Reason::none ? "why is not known" : std::string(kron::name_of(reason));
  }
}

std::string exit_text(const history::Entry& entry) {
  if (!entry.exit_code) return entry.detail.empty() ? "how it ended is not known" : entry.detail;
  const bool has_failed = history::result_of(entry) == history::RunResult::failed;
  if (!has_failed) return "exit " + std::to_string(*entry.exit_code) + (*entry.exit_code == 0 ? "" : ", which is fine");
  return "failed with exit " + std::to_string(*entry.exit_code) + (entry.detail.empty() ? "" : ": " + entry.detail);
}

std::string mismatch_text(const std::vector<Explanation::Field>& fields, const TimeZone& zone, Instant at) {
  std::string text;
  for (const Explanation::Field& field : fields) {
    text += (text.empty() ? "" : ", ") + field.name + " " + value_text(field) + " is not in " + field.accepts;
  }
  if (zone == TimeZone()) return text;
  return text + "; in " + zone.name() + " it is " + wall_clock_text(zone.to_civil(at));
}

std::string neighbours_text(const Job& job, const std::optional<Decision>& before,
                            const std::optional<Decision>& after) {
  std::string text;
  if (before) text = "the period before is " + period_text(job, *before);
  if (after) text += (before ? "; the one after is " : "the first is ") + period_text(job, *after);
  return text;
}

Seconds at_least(Seconds length) {
  for (const std::int64_t usual : kUsualLengths) {
    if (Seconds(usual) >= length) return Seconds(usual);
  }
  return std::chrono::ceil<std::chrono::days>(length);
}

Constraints without(const Constraints& constraints, ConstraintSet Constraints::*side, const ConstraintSet& kind) {
  Constraints left = constraints;
  const auto clear = [&](auto member) {
    if ((left.*side).*member == kind.*member) (left.*side).*member = {};
  };
  std::apply([&](auto... members) { (clear(members), ...); }, kConstraintMembers);
  return left;
}

}  // namespace kron::report
