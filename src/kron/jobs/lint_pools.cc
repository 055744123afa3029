#include "kron/jobs/lint_pools.h"

#include <chrono>
#include <cmath>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"

namespace kron::jobs {
namespace {

constexpr Seconds kPoolHour = std::chrono::hours(1);
constexpr int kPoolHoursAhead = 24;

std::string number_of(std::uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

void PoolLoads::add(const JobDefinition& definition) {
  const SlotPool& named = *definition.options->pool;
  OfPool& pool = pools_[named.name];
  pool.slots = named.slots;
  if (submits_task(definition)) return pool.tasks.add(definition);
  pool.all.add(definition);
  if (definition.job.policy.deadline == Seconds(0)) pool.impatient.add(definition);
  if (definition.job.schedule.kind == Schedule::Kind::reboot) return;
  if (definition.options->timeout > Seconds(0)) {
    pool.timed.push_back(&definition);
  } else {
    pool.untimed.add(definition);
  }
}

// The first hour that asks for more than there is, by nominal times: a window of minutes changes little of it.
void PoolLoads::say_of_load(const std::string& name, const OfPool& pool, Instant now, std::vector<Problem>& problems) {
  const Instant first = instant_of(epoch_seconds(now) / kPoolHour.count() * kPoolHour.count());
  const double most = static_cast<double>(pool.slots) * static_cast<double>(kPoolHour.count());
  for (int hour = 0; hour < kPoolHoursAhead; ++hour) {
    const Instant begin = first + hour * kPoolHour;
    double asked = 0;
    std::uint64_t starts = 0;
    for (const JobDefinition* definition : pool.timed) {
      const Job& job = definition->job;
      if (job.policy.suspend) continue;
      const std::uint64_t count = job.schedule.count_between(begin, begin + kPoolHour - Seconds(1), job.zone);
      starts += count;
      asked += static_cast<double>(count) * static_cast<double>(definition->options->timeout.count());
    }
    if (asked <= most) continue;
    const auto wanted = static_cast<std::int64_t>(std::ceil(asked / static_cast<double>(kPoolHour.count())));
    std::string message = "the pool " + quoted(name, 200) + " has " + number_of(pool.slots, "slot") +
                          ", and in the hour from " + rfc3339(begin) + " " + number_of(starts, "run") +
                          " may take as much time as " + std::to_string(wanted) + " slots have, by their timeouts";
    if (pool.untimed.size() != 0)
      message += "; " + number_of(pool.untimed.size(), "job") + " without a timeout not counted";
    problems.push_back(pool.all.problem(Severity::warning, "pool", message,
                                        "give it more slots, or shorter timeouts, or start some at another hour"));
    return;
  }
}

void PoolLoads::say(std::vector<Problem>& problems, Instant now, bool with_notes) const {
  for (const auto& [name, pool] : pools_) {
    say_of_load(name, pool, now, problems);
    if (pool.impatient.size() != 0) {
      problems.push_back(pool.impatient.problem(
          Severity::warning, "policy.deadline",
          "with a deadline of 0s it is missed at once when all slots of the pool " + quoted(name, 200) + " are taken",
          "let it wait for a slot with a deadline, such as 10m"));
    }
    if (pool.tasks.size() != 0) {
      problems.push_back(pool.tasks.problem(Severity::warning, "pool",
                                            "a task needs no slot: its worker, not this host, runs it",
                                            "remove it, and limit the worker with --concurrency"));
    }
    if (with_notes && pool.timed.empty() && pool.untimed.size() != 0) {
      problems.push_back(pool.untimed.problem(Severity::note, "pool",
                                              "how long its runs take is not known, so whether " +
                                                  number_of(pool.slots, "slot") + " of the pool " + quoted(name, 200) +
                                                  " suffice is not, either",
                                              "give them a timeout"));
    }
  }
}

}  // namespace kron::jobs
