#include "kron/core/open_limit.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "kron/base/duration.h"

namespace kron {
namespace {

constexpr Seconds kOneHour{3600};
constexpr Seconds kOneDay{86400};
constexpr std::uint16_t kEveryMonth = 0x1FFE;

std::uint64_t bits(std::uint64_t mask) { return static_cast<std::uint64_t>(std::popcount(mask)); }

// The length of the window in whole seconds, as it is used.
Seconds length_of(const Job& job) {
  const Window window = window_of(job.window, instant_of(0));
  return window.end - window.start;
}

// Never too low: a day has no more than its fields say, twice that where an hour is repeated.
std::uint64_t upper_bound(const Schedule& schedule, Seconds length) {
  const std::uint64_t a_day = bits(schedule.seconds) * bits(schedule.minutes) * (bits(schedule.hours) + 1);
  const auto days = static_cast<std::uint64_t>(length / kOneDay) + 2;
  return std::min(a_day * days, static_cast<std::uint64_t>(length.count()) + 1);
}

bool is_every_day_alike(const Schedule& schedule) {
  return schedule.star_day && schedule.star_weekday && schedule.months == kEveryMonth &&
         std::popcount(schedule.days) == 31 && schedule.weekdays == kEveryWeekday;
}

// A leap year, in which every month and every weekday comes; or the schedule's first, when it begins later.
Instant first_day_of(const Job& job) {
  constexpr Instant kLeapYear{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}};
  std::optional<Instant> first = job.schedule.next_after(kLeapYear - Seconds(1), job.zone);
  if (!first) first = job.schedule.next_after(kFirstInstant - Seconds(1), job.zone);
  return first ? std::chrono::floor<std::chrono::days>(*first) : kLastInstant;
}

}  // namespace

std::uint64_t most_open_periods(const Job& job) {
  const Seconds length = length_of(job);
  const Schedule& schedule = job.schedule;
  if (schedule.kind == Schedule::Kind::reboot || length.count() == 0) return 1;
  if (schedule.kind == Schedule::Kind::every) return static_cast<std::uint64_t>(length / schedule.every) + 1;
  // Windows are densest from the first time of some day on or, when they are shorter than a day, of some hour.
  const Seconds step = length < kOneDay ? kOneHour : kOneDay;
  const Instant first = first_day_of(job);
  const Instant end = std::min(first + (is_every_day_alike(schedule) ? kOneDay : 366 * kOneDay), kLastInstant - length);
  std::uint64_t most = 0;
  std::optional<Instant> last;
  for (Instant t = first; t < end; t += step) {
    const std::optional<Instant> p = schedule.next_after(t - Seconds(1), job.zone);
    if (!p || p == last) continue;
    last = p;
    most = std::max(most, schedule.count_between(*p, *p + length, job.zone));
  }
  return most;
}

Status check_open_periods(const Job& job, std::uint64_t most) {
  const Seconds length = length_of(job);
  if (job.schedule.kind == Schedule::Kind::fields && upper_bound(job.schedule, length) <= most) return {};
  const std::uint64_t open = most_open_periods(job);
  if (open <= most) return {};
  return fail(Code::invalid,
              "the window of " + duration_text(job.window.duration) +
                  " is so much longer than the time between "
                  "periods that " +
                  std::to_string(open) + " of them would be open at once, more than " + std::to_string(most) +
                  "; make the window shorter or the schedule rarer",
              "window");
}

}  // namespace kron
