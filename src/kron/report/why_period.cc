#include <algorithm>
#include <array>

#include "kron/core/schedule_days.h"
#include "kron/report/why.h"

namespace kron::report {
namespace {

// What became of a period is expected from its window's start until this long after its deadline.
constexpr Seconds kSlack = std::chrono::hours(1);

Instant first_that_may_reach(const Job& job, Instant at) {
  const Seconds length = std::chrono::ceil<Seconds>(job.window.duration);
  return at - kFirstInstant > length ? at - length : kFirstInstant;
}

// The periods whose windows hold `at`, in order.
template <class See>
void each_holding(const Job& job, Instant at, See see) {
  for (auto nominal = job.schedule.next_after(first_that_may_reach(job, at) - Seconds(2), job.zone); nominal;
       nominal = job.schedule.next_after(*nominal, job.zone)) {
    const Window window = window_of(job.window, *nominal);
    if (window.start > at) return;
    if (at <= window.end) see(*nominal);
  }
}

std::optional<Instant> period_holding(const Job& job, Instant at) {
  std::optional<Instant> last;
  std::optional<Instant> chosen;
  each_holding(job, at, [&](Instant nominal) {
    last = nominal;
    if (decide(job, nominal).chosen == at) chosen = nominal;
  });
  return chosen ? chosen : last;
}

// The period with the latest time that has come.
std::optional<Instant> last_due(const Job& job, Instant now) {
  std::optional<Decision> latest;
  const Instant from = first_that_may_reach(job, now);
  for (auto nominal = job.schedule.next_after(first_that_may_reach(job, from) - Seconds(2), job.zone); nominal;
       nominal = job.schedule.next_after(*nominal, job.zone)) {
    if (window_of(job.window, *nominal).start > now) break;
    const Decision decision = decide(job, *nominal);
    if (decision.due() <= now && (!latest || decision.due() >= latest->due())) latest = decision;
  }
  if (latest) return latest->nominal;
  const auto before = job.schedule.at_or_before(from, job.zone);
  return before ? before : job.schedule.next_after(now, job.zone);
}

bool has_bit(std::uint64_t set, int bit) { return (set >> bit & 1U) != 0; }

bool has_year(const YearSet& years, int year) {
  const int bit = year - kFirstYear;
  return bit >= 0 && year <= kLastYear && has_bit(years[static_cast<std::size_t>(bit) / 64], bit % 64);
}

// Whether the date, or the weekday, is what keeps a day out: the rule with the other half of it always fulfilled.
bool allows_date(Schedule schedule, const CivilTime& time) {
  schedule.weekdays = schedule.weekday_filter = kEveryWeekday;
  schedule.last_weekdays = 0;
  schedule.nth_weekdays = 0;
  schedule.week_filter = kEveryWeek;
  schedule.combine = Schedule::Combine::all;
  return has_bit(matching_days(schedule, time.year, time.month), time.day);
}

bool allows_weekday(Schedule schedule, const CivilTime& time) {
  constexpr std::uint32_t kEveryDay = 0xFFFFFFFE;
  schedule.days = kEveryDay;
  schedule.days_from_end = schedule.near_weekday = 0;
  schedule.last_weekday = false;
  schedule.combine = Schedule::Combine::all;
  return has_bit(matching_days(schedule, time.year, time.month), time.day);
}

bool accepts(const Schedule& schedule, const CivilTime& time, std::string_view field) {
  if (field == "second") return has_bit(schedule.seconds, time.second);
  if (field == "minute") return has_bit(schedule.minutes, time.minute);
  if (field == "hour") return has_bit(schedule.hours, time.hour);
  if (field == "month") return has_bit(schedule.months, time.month);
  if (field == "year") return has_year(schedule.years, time.year);
  if (has_bit(matching_days(schedule, time.year, time.month), time.day)) return true;
  return field == "day-of-month" ? allows_date(schedule, time) : allows_weekday(schedule, time);
}

}  // namespace

std::vector<Explanation::Field> mismatches_of(const Schedule& schedule, const TimeZone& zone, Instant at) {
  if (schedule.kind != Schedule::Kind::fields) return {};
  const CivilTime time = zone.to_civil(at);
  std::vector<Explanation::Field> fields = schedule_fields(schedule, time);
  const bool shows_seconds = !fields.empty() && fields.front().name == "second";
  if (!shows_seconds) fields.insert(fields.begin(), {"second", time.second, "0"});
  std::erase_if(fields, [&](const Explanation::Field& field) { return accepts(schedule, time, field.name); });
  return fields;
}

std::optional<Instant> period_meant(const Job& job, const WhyQuestion& question, Instant now) {
  if (job.schedule.kind == Schedule::Kind::reboot) return std::nullopt;
  if (question.period) {
    return job.schedule.is_nominal(*question.period, job.zone) ? question.period : std::nullopt;
  }
  if (!question.at) return last_due(job, now);
  if (job.schedule.is_nominal(*question.at, job.zone)) return question.at;
  if (const auto holding = period_holding(job, *question.at)) return holding;
  // Whose schedule knows no seconds speaks of minutes.
  if (job.schedule.kind != Schedule::Kind::fields || job.schedule.seconds != 1) return std::nullopt;
  const Instant minute = std::chrono::floor<std::chrono::minutes>(*question.at);
  return job.schedule.is_nominal(minute, job.zone) ? std::optional(minute) : std::nullopt;
}

history::Around entries_needed(const Job& job, const WhyQuestion& question, Instant now) {
  history::Around around{.job = job.identity, .at = question.at};
  around.last_run = job.schedule.kind == Schedule::Kind::reboot;
  around.period = period_meant(job, question, now);
  if (around.period) {
    const Window window = window_of(job.window, *around.period);
    around.from = window.start;
    around.to = window.end + job.policy.deadline + kSlack;
  } else {
    // An earlier schedule may have had a period then.
    around.period = question.period ? question.period : question.at;
  }
  return around;
}

}  // namespace kron::report
