#include "kron/report/attention.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/core/allowed_share.h"
#include "kron/core/failure_pause.h"
#include "kron/history/recent.h"
#include "kron/json/writer.h"
#include "kron/report/words.h"

namespace kron::report {
namespace {

constexpr std::array<std::string_view, 14> kMatters{
    "not ready",    "history failed", "file refused",     "reload failed", "token expires",
    "not notified", "no slot",        "not scheduled",    "failing",       "missed",
    "skipping",     "too long",       "may have no time", "long paused"};

constexpr Seconds kLongPause = std::chrono::hours(7 * 24);
constexpr Seconds kTokenWarning = std::chrono::hours(14 * 24);
constexpr std::size_t kRepeatedSkips = 2;  // one alone is what the policy is for
constexpr double kLikelyNoTime = 0.001;
constexpr std::size_t kMostItems = 100;

// How many of the newest entries, among those that `counts` lets count, are `bad`; and the oldest of these.
struct Streak {
  std::size_t count = 0;
  const history::Entry* newest = nullptr;
  const history::Entry* oldest = nullptr;
};
template <class Counts, class Bad>
Streak streak_of(const std::vector<history::Entry>& recent, Counts counts, Bad bad) {
  Streak streak;
  for (const history::Entry& entry : recent) {
    if (!counts(entry)) continue;
    if (!bad(entry)) break;
    ++streak.count;
    if (streak.newest == nullptr) streak.newest = &entry;
    streak.oldest = &entry;
  }
  return streak;
}

bool has_failed(const history::Entry& entry) {
  const auto result = history::result_of(entry);
  return result == history::RunResult::failed || result == history::RunResult::unknown;
}

std::string in_a_row(std::size_t count) { return count == 1 ? "" : " " + std::to_string(count) + " times in a row"; }

class Look {
 public:
  Look(const AttentionFacts::OfJob& job, Instant now, std::vector<NeedsSomebody>& items)
      : job_(job), now_(now), items_(items) {}

  void run() {
    failing();
    missed();
    skipping();
    too_long();
    no_time();
    long_paused();
  }

 private:
  void add(Matter matter, std::string what, std::optional<Instant> since, std::size_t count, std::string reason,
           std::string cure) {
    items_.push_back({matter, job_.job.identity, std::move(what), since, count, std::move(reason), std::move(cure)});
  }

  void failing() {
    const Streak streak = streak_of(
        job_.recent,
        [](const history::Entry& entry) {
          const auto result = history::result_of(entry);
          return result && *result != history::RunResult::running;
        },
        has_failed);
    if (streak.count == 0) return;
    const bool is_paused = job_.suspended && job_.suspended->by == kPausedByFailures;
    add(Matter::failing, "failed" + in_a_row(streak.count) + (is_paused ? ", and is paused" : ""),
        history::time_of(*streak.oldest), streak.count, exit_text(*streak.newest),
        "`kron logs " + job_.job.identity + "` shows its output" +
            (is_paused ? "; `kron resume " + job_.job.identity + "` when it is mended" : ""));
  }

  // Whether periods pass without a run: a run, or a skip, ends such a row.
  Streak row_of(history::Kind kind) const {
    return streak_of(
        job_.recent, [](const history::Entry& entry) { return !entry.passed_over && entry.period.has_value(); },
        [&](const history::Entry& entry) { return history::kind_of(entry) == kind; });
  }

  void missed() {
    const Streak streak = row_of(history::Kind::missed);
    if (streak.count == 0) return;
    add(Matter::missed, "missed" + in_a_row(streak.count), history::time_of(*streak.oldest), streak.count,
        (streak.newest->reason == Reason::no_slot ? meaning_of(Reason::no_slot, {}) + "; " : std::string()) +
            "its deadline is " + duration_text(job_.job.policy.deadline),
        "`kron why " + job_.job.identity + "` tells what kept it, and which deadline would have let it start");
  }

  void skipping() {
    const Streak streak = row_of(history::Kind::skipped);
    if (streak.count < kRepeatedSkips || streak.newest->reason == Reason::paused) return;
    add(Matter::skipping, "skipped" + in_a_row(streak.count), history::time_of(*streak.oldest), streak.count,
        meaning_of(streak.newest->reason, streak.newest->detail),
        streak.newest->reason == Reason::concurrency_forbid
            ? "give it a timeout, or concurrency=replace; or let it run less often"
            : "`kron why " + job_.job.identity + "` tells more");
  }

  void too_long() {
    const auto usual = job_.usual ? job_.usual : usual_length(job_.recent);
    if (!usual) return;
    for (const ActiveExecution& run : job_.active) {
      const Seconds length = now_ - run.started_at;
      if (length <= 2 * std::max(*usual, Seconds(1))) continue;
      add(Matter::too_long, "runs for " + duration_text(length), run.started_at, 1,
          "usually it takes " + duration_text(*usual),
          "`kron logs -f " + run.run_id + "` shows what it does, `kron kill --term " + run.run_id + "` ends it");
    }
  }

  void no_time() {
    if (!job_.next || !may_have_no_time(job_.job, *job_.next)) return;
    const double chance = allowed_share(job_.job, *job_.next).chance_unschedulable;
    add(Matter::may_have_none, "may get no time", std::nullopt, 1,
        "with a chance of " + percent(chance) + " no draw for " + rfc3339(*job_.next) + " meets " +
            summary_of(job_.job.constraints),
        "a window that has more in common with the constraints");
  }

  void long_paused() {
    if (!job_.suspended || now_ - job_.suspended->since <= kLongPause) return;
    if (job_.suspended->until && *job_.suspended->until <= now_) return;
    const Suspension& pause = *job_.suspended;
    add(Matter::long_paused, "paused", pause.since, 1,
        (pause.by.empty() ? "" : "by " + pause.by + ", ") +
            (pause.until ? "until " + rfc3339(*pause.until) : "until it is resumed") +
            (pause.note.empty() ? "" : " (" + pause.note + ")"),
        "`kron resume " + job_.job.identity + "`");
  }

  const AttentionFacts::OfJob& job_;
  Instant now_;
  std::vector<NeedsSomebody>& items_;
};

// One item for each destination, whatever the number of messages; before them what keeps all of them.
void add_undelivered(const AttentionFacts& facts, std::vector<NeedsSomebody>& items) {
  if (!facts.not_delivered.empty()) {
    items.push_back({.matter = Matter::not_notified,
                     .what = "nothing delivers notifications",
                     .reason = facts.not_delivered,
                     .cure = "mend that, and start krond again; what is in the queue is sent then, for a day"});
  }
  if (facts.not_queued > 0) {
    items.push_back({.matter = Matter::not_notified,
                     .what = counted(facts.not_queued, "message") + (facts.not_queued == 1 ? " waits" : " wait") +
                             " for the queue of tasks",
                     .count = facts.not_queued,
                     .reason = facts.queue_refuses,
                     .cure = "`kron doctor` looks at the queue; krond tries again by itself"});
  }
  std::map<std::string, std::vector<const AttentionFacts::Undelivered*>> by_name;
  for (const AttentionFacts::Undelivered& one : facts.undelivered) by_name[one.destination].push_back(&one);
  for (const auto& [name, messages] : by_name) {
    const auto given_up = std::ranges::count_if(messages, [](const auto* one) { return one->is_given_up; });
    const auto oldest = std::ranges::min(messages, {}, [](const auto* one) { return one->since; });
    items.push_back({.matter = Matter::not_notified,
                     .name = name,
                     .what = counted(messages.size(), "message") + " not delivered" +
                             (given_up == 0 ? "" : ", " + std::to_string(given_up) + " given up"),
                     .since = oldest->since,
                     .count = messages.size(),
                     .reason = messages.back()->reason,
                     .cure = "`kron notify test " + name +
                             "` tells what is wrong; then `kron task retry` sends what "
                             "was given up, or `kron task prune` forgets it"});
  }
}

// One item for each pool, whatever the number of those who wait.
void add_slots_short(const AttentionFacts& facts, std::vector<NeedsSomebody>& items) {
  for (const AttentionFacts::SlotsShort& slots : facts.slots_short) {
    if (slots.waiting == 0 || facts.now - slots.since <= kLongSlotWait) continue;
    const bool is_host = slots.pool.empty();
    items.push_back(
        {.matter = Matter::no_slot,
         .name = slots.pool,
         .what = counted(slots.waiting, "job") + (slots.waiting == 1 ? " waits" : " wait") + " for a slot",
         .since = slots.since,
         .count = slots.waiting,
         .reason = slots.longest + " waits longest; " +
                   (is_host ? "krond --max-running lets " + std::to_string(slots.slots) + " run at once"
                            : "the pool has " + counted(slots.slots, "slot")),
         .cure =
             is_host
                 ? "`kron runs --result running` shows what runs; raise --max-running, or spread the jobs by windows"
                 : "`kron runs --result running` shows what runs; give the pool more slots, or spread its jobs by "
                   "windows"});
  }
}

void add_of_krond(const AttentionFacts& facts, std::vector<NeedsSomebody>& items) {
  const auto add = [&](Matter matter, const std::string& reason, std::string what, std::string cure) {
    if (reason.empty()) return;
    items.push_back({.matter = matter, .what = std::move(what), .reason = reason, .cure = std::move(cure)});
  };
  add(Matter::not_ready, facts.not_ready, "krond starts nothing", "`kron doctor` looks for the cause");
  add(Matter::history_failed, facts.history_failed, "the run history cannot be asked",
      "`kron doctor` looks at the disk");
  add(Matter::reload_failed, facts.reload_failed, "the last reload changed nothing", "`kron reload` when it is mended");
  for (const AttentionFacts::Named& file : facts.refused_files) {
    items.push_back({.matter = Matter::file_refused,
                     .name = file.name,
                     .what = counted(file.count, "error"),
                     .count = file.count,
                     .reason = file.reason,
                     .cure = "correct it, then `kron reload`"});
  }
  for (const AttentionFacts::Token& token : facts.tokens) {
    if (token.expires_at - facts.now > kTokenWarning) continue;
    const bool is_over = token.expires_at <= facts.now;
    items.push_back(
        {.matter = Matter::token_expires,
         .name = token.name,
         .what = is_over ? "has expired" : "expires at " + rfc3339(token.expires_at),
         .since = is_over ? std::optional(token.expires_at) : std::nullopt,
         .reason = "whoever uses this token is let in until then",
         .cure = "`kron token create` makes another, `kron token revoke " + token.id + "` forgets this one"});
  }
  add_undelivered(facts, items);
  add_slots_short(facts, items);
  for (const AttentionFacts::Named& job : facts.not_scheduled) {
    items.push_back({.matter = Matter::not_scheduled,
                     .name = job.name,
                     .what = "never runs",
                     .reason = job.reason,
                     .cure = "`kron state show " + job.name + "`"});
  }
}

}  // namespace

std::string_view name_of(Matter matter) { return kMatters[static_cast<std::size_t>(matter)]; }

std::optional<Seconds> usual_length(const std::vector<history::Entry>& recent) {
  std::vector<history::Length> lengths;
  for (const history::Entry& entry : recent) {
    if (lengths.size() == history::kRecent) break;
    if (const auto length = history::length_of_success(entry)) lengths.push_back(*length);
  }
  const auto usual = history::usual_length(std::move(lengths));
  return usual ? std::optional(std::chrono::round<Seconds>(*usual)) : std::nullopt;
}

bool may_need_somebody(const Job& job, const std::optional<Suspension>& suspended,
                       const std::vector<ActiveExecution>& active, Instant now) {
  const bool is_long_paused = suspended && now - suspended->since > kLongPause;
  return !active.empty() || is_long_paused || !job.constraints.empty();
}

bool may_have_no_time(const Job& job, Instant nominal) {
  if (job.constraints.empty()) return false;
  return allowed_share(job, nominal).chance_unschedulable >= kLikelyNoTime && !excluded_by(job, nominal);
}

std::vector<NeedsSomebody> attention(const AttentionFacts& facts) {
  std::vector<NeedsSomebody> items;
  add_of_krond(facts, items);
  for (const AttentionFacts::OfJob& job : facts.jobs) Look(job, facts.now, items).run();
  std::ranges::stable_sort(items, {}, &NeedsSomebody::matter);
  return items;
}

std::string attention_json(const std::vector<NeedsSomebody>& items, std::size_t jobs, Instant now,
                           std::size_t not_looked_at) {
  std::set<std::string_view> in_need;
  for (const NeedsSomebody& item : items) {
    if (item.matter >= Matter::not_scheduled) in_need.insert(item.name);
  }
  JsonWriter json;
  json.begin_map().member("now", rfc3339(now)).key("jobs").integer(static_cast<std::int64_t>(jobs));
  json.key("jobsInNeed").integer(static_cast<std::int64_t>(in_need.size() + not_looked_at)).key("items").begin_list();
  for (const NeedsSomebody& item : std::span(items).first(std::min(items.size(), kMostItems))) {
    json.begin_map().member("matter", name_of(item.matter)).member("name", item.name).member("what", item.what);
    json.key("since");
    if (item.since) {
      json.text(rfc3339(*item.since));
    } else {
      json.null();
    }
    json.key("count").integer(static_cast<std::int64_t>(item.count)).member("reason", item.reason);
    json.member("cure", item.cure).end_map();
  }
  const std::size_t more = items.size() - std::min(items.size(), kMostItems) + not_looked_at;
  json.end_list().key("more").integer(static_cast<std::int64_t>(more));
  return json.end_map().take();
}

}  // namespace kron::report
