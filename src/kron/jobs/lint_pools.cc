#include "kron/jobs/lint_pools.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/decision.h"

namespace kron::jobs {
namespace {

constexpr Seconds kPoolHour = std::chrono::hours(1);
constexpr std::size_t kPoolHoursAhead = 24;

std::string number_of(std::uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

using StartsByHour = std::array<std::uint64_t, kPoolHoursAhead>;

// Where nothing is drawn, or too much was drawn before.
StartsByHour nominal_starts(const Job& job, Instant first) {
  StartsByHour starts{};
  for (std::size_t hour = 0; hour < kPoolHoursAhead; ++hour) {
    const Instant begin = first + kPoolHour * hour;
    starts[hour] = job.schedule.count_between(begin, begin + kPoolHour - Seconds(1), job.zone);
  }
  return starts;
}

StartsByHour starts_of(const Job& job, Instant first, std::size_t& may_draw) {
  const Seconds reach = std::chrono::ceil<Seconds>(job.window.duration);
  const Instant from = std::max(first - reach, kFirstInstant);
  const Instant until = first + kPoolHour * kPoolHoursAhead + reach;
  const bool is_drawn = reach > Seconds(0) || !job.constraints.empty();
  if (!is_drawn || job.schedule.count_between(from, until, job.zone) > may_draw) return nominal_starts(job, first);
  StartsByHour starts{};
  for (auto nominal = job.schedule.next_after(from - Seconds(1), job.zone); nominal && *nominal <= until;
       nominal = job.schedule.next_after(*nominal, job.zone)) {
    if (may_draw > 0) --may_draw;
    const std::optional<Instant> chosen = decide(job, *nominal).chosen;
    if (!chosen || *chosen < first) continue;
    const auto hour = static_cast<std::size_t>((*chosen - first) / kPoolHour);
    if (hour < starts.size()) ++starts[hour];
  }
  return starts;
}

}  // namespace

void PoolLoads::add_run(Slots& slots, const JobDefinition& definition, const UsualLengths* usual) {
  slots.all.add(definition);
  if (definition.job.policy.deadline == Seconds(0)) slots.impatient.add(definition);
  if (definition.job.schedule.kind == Schedule::Kind::reboot) return;
  const auto known = usual != nullptr ? usual->find(definition.job.identity) : UsualLengths::const_iterator();
  if (usual != nullptr && known != usual->end()) {
    slots.timed.push_back({&definition, known->second});
    slots.has_usual = true;
  } else if (definition.options->timeout > Seconds(0)) {
    slots.timed.push_back({&definition, definition.options->timeout});
    slots.has_timeouts = true;
  } else {
    slots.untimed.add(definition);
  }
}

void PoolLoads::add(const JobDefinition& definition) {
  if (host_.slots != 0 && !submits_task(definition)) add_run(host_, definition, usual_);
  if (!definition.options->pool) return;
  const SlotPool& named = *definition.options->pool;
  Slots& pool = pools_[named.name];
  pool.name = named.name;
  pool.slots = named.slots;
  if (submits_task(definition)) return pool.tasks.add(definition);
  add_run(pool, definition, usual_);
}

// The first hour that asks for more than there is.
void PoolLoads::say_of_load(const Slots& slots, Instant now, std::vector<Problem>& problems) {
  const Instant first = instant_of(epoch_seconds(now) / kPoolHour.count() * kPoolHour.count());
  const double most = static_cast<double>(slots.slots) * static_cast<double>(kPoolHour.count());
  std::array<double, kPoolHoursAhead> asked{};
  StartsByHour starts{};
  std::size_t may_draw = kMostDrawn;
  for (const auto& [definition, length] : slots.timed) {
    if (definition->job.policy.suspend) continue;
    const StartsByHour of_job = starts_of(definition->job, first, may_draw);
    for (std::size_t hour = 0; hour < kPoolHoursAhead; ++hour) {
      starts[hour] += of_job[hour];
      asked[hour] += static_cast<double>(of_job[hour]) * static_cast<double>(length.count());
    }
  }
  const auto over = std::ranges::find_if(asked, [&](double seconds) { return seconds > most; });
  if (over == asked.end()) return;
  const auto hour = static_cast<std::size_t>(over - asked.begin());
  const auto wanted = static_cast<std::int64_t>(std::ceil(*over / static_cast<double>(kPoolHour.count())));
  const bool is_host = slots.name.empty();
  std::string message = (is_host ? "krond --max-running lets " + number_of(slots.slots, "run") + " be active at once"
                                 : "the pool " + quoted(slots.name, 200) + " has " + number_of(slots.slots, "slot")) +
                        ", and in the hour from " + rfc3339(first + kPoolHour * hour) + " " +
                        number_of(starts[hour], "run") +
                        (slots.has_timeouts  ? " may take"
                         : starts[hour] == 1 ? " takes"
                                             : " take") +
                        " as much time as " + std::to_string(wanted) + " slots have, by their " +
                        (slots.has_usual ? "usual lengths" : "") +
                        (slots.has_usual && slots.has_timeouts ? " and " : "") + (slots.has_timeouts ? "timeouts" : "");
  if (slots.untimed.size() != 0)
    message += "; " + number_of(slots.untimed.size(), "job") + " without a timeout not counted";
  problems.push_back(slots.all.problem(Severity::warning, is_host ? "" : "pool", message,
                                       is_host ? "let more run, or take shorter timeouts, or start some at another hour"
                                               : "give it more slots, or shorter timeouts, or start some at another "
                                                 "hour"));
}

void PoolLoads::say_of(const Slots& slots, std::vector<Problem>& problems, Instant now, bool with_notes) {
  const std::string name =
      slots.name.empty() ? "the host (krond --max-running)" : "the pool " + quoted(slots.name, 200);
  const std::string_view field = slots.name.empty() ? "" : "pool";
  say_of_load(slots, now, problems);
  if (slots.impatient.size() != 0) {
    problems.push_back(
        slots.impatient.problem(Severity::warning, "policy.deadline",
                                "with a deadline of 0s it is missed at once when all slots of " + name + " are taken",
                                "let it wait for a slot with a deadline, such as 10m"));
  }
  if (slots.tasks.size() != 0) {
    problems.push_back(slots.tasks.problem(Severity::warning, field,
                                           "a task needs no slot: its worker, not this host, runs it",
                                           "remove it, and limit the worker with --concurrency"));
  }
  if (with_notes && slots.timed.empty() && slots.untimed.size() != 0) {
    problems.push_back(slots.untimed.problem(Severity::note, field,
                                             "how long its runs take is not known, so whether " +
                                                 number_of(slots.slots, "slot") + " of " + name +
                                                 " suffice is not, either",
                                             "give them a timeout"));
  }
}

void PoolLoads::say(std::vector<Problem>& problems, Instant now, bool with_notes) const {
  if (host_.slots != 0) say_of(host_, problems, now, with_notes);
  for (const auto& [name, pool] : pools_) say_of(pool, problems, now, with_notes);
}

}  // namespace kron::jobs
