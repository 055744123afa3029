#include "kron/jobs/cluster_rules.h"

#include <algorithm>
#include <array>

#include "kron/base/text.h"
#include "kron/core/open_limit.h"

namespace kron::jobs {
namespace {

constexpr std::size_t kLongestClusterName = 512;
constexpr std::array<std::string_view, 7> kWeekdayWords{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                        "Friday", "Saturday", "Sunday"};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// Bit 0 is Monday; of a Schedule it is Sunday.
unsigned from_monday(std::uint8_t weekdays) { return (weekdays >> 1U | weekdays << 6U) & kEveryWeekday; }

}  // namespace

Status check_cluster_name(std::string_view name) {
  const auto bad = [](std::string why) { return fail(Code::invalid, std::move(why), "name"); };
  if (name.empty()) return bad("a job of a cluster needs a name");
  if (name == "all" || name == "__reaper__") return bad(quoted(name) + " means something else in a cluster");
  if (name.size() > kLongestClusterName) {
    return bad("a name of " + std::to_string(name.size()) + " bytes; a cluster allows " +
               std::to_string(kLongestClusterName));
  }
  if (std::ranges::any_of(name, is_control)) return bad(quoted(name) + " has control characters in it");
  return {};
}

std::vector<Error> refused_in_cluster(const JobDefinition& definition) {
  std::vector<Error> errors;
  const auto& terms = definition.options->terms;
  if (!terms) return errors;
  const Job& job = definition.job;
  const auto add = [&](std::string field, std::string message) {
    errors.push_back({Code::invalid, std::move(message), std::move(field)});
  };
  if (const Status named = check_cluster_name(job.identity); !named) errors.push_back(named.error());
  if (terms->locked && job.policy.concurrency == Concurrency::replace) {
    add("kron.policy.concurrency",
        "replace would have to stop the run of another host, which the lock protects; use forbid, or lock: false");
  }
  if (job.policy.concurrency == Concurrency::queue) {
    add("kron.policy.concurrency",
        "queue waits for the end of a run, and a host of a cluster is not told when another's run ends; use forbid");
  }
  if (job.policy.pause_after != 0) {
    add("kron.policy.pauseAfter",
        "in a cluster the end of a run frees its lock before the job's record can say that it is paused, so another "
        "host could start in between; leave it out, and watch its failures");
  }
  if (job.policy.catch_up_spread) {
    add("kron.policy.catchUpSpread",
        "the hosts of a cluster find a period late at different times, and would each spread it anew; leave it out");
  }
  if (definition.options->pool) {
    add("kron.pool",
        "the slots of a pool are one host's, and the hosts of a cluster do not know of each other's runs; leave it "
        "out, "
        "and limit each host with krond --max-running");
  }
  if (const Status open = check_open_periods(job, kMostOpenInCluster); !open) {
    add("kron.window", open.error().message);
  }
  if (job.schedule.kind == Schedule::Kind::reboot) {
    add("cron_args.cronstring", "a cluster does not boot: @reboot is for the job files of one host");
  }
  return errors;
}

std::vector<ClusterAdvice> advice_for_cluster(const JobDefinition& definition) {
  std::vector<ClusterAdvice> advice;
  const auto& terms = definition.options->terms;
  if (!terms) return advice;
  if (terms->locked && definition.job.policy.concurrency == Concurrency::allow) {
    advice.push_back({"policy.concurrency", "the lock wins over allow: its runs do not overlap in a cluster",
                      "write lock: false, or leave concurrency out"});
  }
  if (terms->locked && terms->ttl.count() == 0) {
    advice.push_back({"job_args.ttl", "a ttl of 0 counts as 60 s: cronken would hold the lock of a dead host for ever",
                      "say how long a lock may outlive its host, such as 60"});
  }
  return advice;
}

std::optional<std::string> weekdays_in_words(const Schedule& schedule) {
  if (schedule.kind != Schedule::Kind::fields) return std::nullopt;
  const bool by_filter = schedule.weekday_filter != kEveryWeekday;
  const unsigned days = from_monday(by_filter ? schedule.weekday_filter : schedule.weekdays);
  if (days == 0 || days == kEveryWeekday) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t day = 0; day < kWeekdayWords.size(); ++day) {
    std::size_t last = day;
    while (last < kWeekdayWords.size() && (days >> last & 1U) != 0) ++last;
    if (last == day) continue;
    if (last - day > 2) {
      parts.push_back(std::string(kWeekdayWords[day]) + " to " + std::string(kWeekdayWords[last - 1]));
      day = last - 1;
    } else {
      parts.emplace_back(kWeekdayWords[day]);
    }
  }
  std::string words;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) words += i + 1 == parts.size() ? " and " : ", ";
    words += parts[i];
  }
  return words;
}

void adapt_to_cluster(JobDefinition& definition, RunOptions& options, bool has_deadline) {
  ClusterTerms& terms = *options.terms;
  Policy& policy = definition.job.policy;
  if (terms.locked && terms.ttl.count() == 0) terms.ttl = kLockTtlOfZero;
  if (terms.locked && policy.concurrency == Concurrency::allow) policy.concurrency = Concurrency::forbid;
  if (!has_deadline) policy.deadline = kClusterDeadline;
  // Paused is said by the policy from here on: a pause must not look like another command.
  policy.suspend = policy.suspend || terms.paused;
  terms.paused = false;
}

}  // namespace kron::jobs
