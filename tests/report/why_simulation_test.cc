#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/report/why.h"
#include "kron/scheduler/fake/simulation.h"
#include "kron/testing/scale.h"
#include "kron/testing/temporary_directory.h"

// Every period of a simulated year: what became of it is what `why` says.
namespace kron::testing {
namespace {

using namespace std::chrono_literals;
using history::Entry;
using report::Verdict;
using report::WhyAnswer;

// What a history would have kept of a daemon's life, and when a daemon lived.
class Chronicle {
 public:
  void tell(const Event& event) {
    if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      keep({.job = ended->identity,
            .outcome = ended->outcome,
            .reason = ended->reason,
            .clause = ended->clause,
            .period = ended->period.nominal,
            .chosen = ended->period.chosen,
            .ended_at = ended->at});
    } else if (const auto* started = std::get_if<RunStarted>(&event)) {
      keep(history::entry_of(started->identity, started->run));
    } else if (const auto* over = std::get_if<RunEnded>(&event)) {
      Entry entry = history::entry_of(over->identity, over->run);
      entry.ended_at = over->at;
      entry.exit_code = over->exit.code;
      keep(std::move(entry));
    } else if (const auto* passed = std::get_if<PeriodsPassedOver>(&event)) {
      keep({.job = passed->identity, .ended_at = passed->at, .passed_over = passed->periods});
    }
  }

  void live(Instant now, bool is_up) {
    if (is_up) {
      up_.push_back({now, now});
    } else if (!up_.empty()) {
      up_.back().to = now;
    }
  }

  [[nodiscard]] std::vector<Entry> of(const std::string& job) const {
    std::vector<Entry> entries;
    if (const auto found = jobs_.find(job); found != jobs_.end()) {
      for (const auto& [key, entry] : found->second) entries.push_back(entry);
    }
    return entries;
  }

  [[nodiscard]] const std::vector<history::UpTime>& up() const { return up_; }

 private:
  void keep(Entry entry) {
    auto& known = jobs_[entry.job];
    const std::string key = history::key_of(entry);
    const auto [at, is_new] = known.try_emplace(key, entry);
    if (is_new) {
      at->second.number = ++numbers_;
    } else {
      const std::int64_t number = at->second.number;
      at->second = history::merged(at->second, entry);
      at->second.number = number;
    }
  }

  std::map<std::string, std::map<std::string, Entry>> jobs_;
  std::vector<history::UpTime> up_;
  std::int64_t numbers_ = 0;
};

struct Tally {
  std::map<std::string, std::size_t> verdicts;
  std::size_t causes = 0;
  std::size_t instead = 0;
  std::size_t asked = 0;
  std::size_t out_of_reach = 0;  // answers that were not compared
};

Verdict expected_of(const Entry& entry, const std::vector<ActiveExecution>& active) {
  switch (history::kind_of(entry)) {
    case history::Kind::executed:
      return std::ranges::any_of(active, [&](const auto& run) { return run.run_id == entry.run_id; })
                 ? Verdict::running
                 : Verdict::executed;
    case history::Kind::skipped:
      return Verdict::skipped;
    case history::Kind::missed:
      return Verdict::missed;
    default:
      return entry.reason == Reason::excluded ? Verdict::excluded : Verdict::no_time;
  }
}

// A period of which nothing was ever said: the verdict must follow from the record and the clock.
void expect_unsaid(const WhyAnswer& answer, const report::WhyFacts& facts, const Decision& period) {
  const JobState& state = facts.state;
  const Instant since = state.schedule ? state.schedule->since.value_or(kFirstInstant) : kFirstInstant;
  const bool is_early = (state.first_seen && period.due() < *state.first_seen) || period.due() < since;
  const bool is_ahead = period.due() > facts.now;
  switch (answer.verdict) {
    case Verdict::not_loaded:
      EXPECT_TRUE(is_early);
      break;
    case Verdict::ahead:
    case Verdict::excluded:
    case Verdict::no_time:
      EXPECT_TRUE(is_ahead);
      break;
    case Verdict::due:
    case Verdict::passed_over:
    case Verdict::forgotten:
      EXPECT_FALSE(is_ahead);
      break;
    case Verdict::paused:
      EXPECT_TRUE(is_suspended(facts.job, state, facts.now));
      break;
    case Verdict::record_ahead:
      EXPECT_TRUE(state.last_handled && *state.last_handled >= period.nominal);
      break;
    default:
      ADD_FAILURE() << answer.sentence;
  }
}

void expect_told(const WhyAnswer& answer, const Entry& entry, const report::WhyFacts& facts, Tally& tally) {
  EXPECT_EQ(name_of(answer.verdict), name_of(expected_of(entry, facts.active)));
  if (answer.down && entry.chosen) {
    ++tally.causes;
    EXPECT_LT(answer.down->from, *entry.chosen);
    EXPECT_GT(answer.down->to, *entry.chosen);
  }
  constexpr std::string_view kWith = "with deadline=";
  if (answer.verdict != Verdict::missed || !answer.instead.starts_with(kWith)) return;
  ++tally.instead;
  const std::string length = answer.instead.substr(kWith.size(), answer.instead.find(' ', kWith.size()) - kWith.size());
  EXPECT_GE(*answer.period->chosen + parse_whole_seconds(length).value(), *entry.ended_at);
}

// The entries of a job in an index, as the history keeps them.
class KeptEntries {
 public:
  explicit KeptEntries(const std::vector<Entry>& entries)
      : index_(history::Index::open(directory_.file("index.sqlite")).value()) {
    EXPECT_TRUE(index_->begin());
    for (const Entry& entry : entries) EXPECT_TRUE(index_->put(entry, {}));
    EXPECT_TRUE(index_->commit());
  }

  // What is answered out of those entries alone that the endpoint asks the history for.
  WhyAnswer answer(report::WhyFacts facts, const report::WhyQuestion& question) {
    facts.entries = history::entries_around(*index_, report::entries_needed(facts.job, question, facts.now)).value();
    return report::why(facts, question);
  }

 private:
  TemporaryDirectory directory_{memory_directory()};
  std::unique_ptr<history::Index> index_;
};

void expect_same(const WhyAnswer& answer, const WhyAnswer& all) {
  EXPECT_EQ(name_of(answer.verdict), name_of(all.verdict));
  EXPECT_EQ(answer.sentence, all.sentence);
  EXPECT_EQ(answer.reason, all.reason);
  EXPECT_EQ(answer.instead, all.instead);
}

// Of the runs that began before a time, the newest few are looked at (history/around.h): one that went on behind more
// than those, such as one that a clock years ahead saw end, is not found.
bool is_out_of_reach(const report::WhyFacts& facts, Instant t) {
  const std::vector<Entry>& entries = facts.entries;
  const auto is_run = [&](const Entry& entry) {
    return history::kind_of(entry) == history::Kind::executed && entry.started_at && *entry.started_at <= t;
  };
  return std::ranges::any_of(entries, [&](const Entry& run) {
    if (!is_run(run) || (run.ended_at && *run.ended_at < t)) return false;
    if (!run.ended_at && std::ranges::count(facts.active, run.run_id, &ActiveExecution::run_id) == 0) return false;
    const auto newer = std::ranges::count_if(
        entries, [&](const Entry& other) { return is_run(other) && *other.started_at > *run.started_at; });
    return newer >= static_cast<std::ptrdiff_t>(history::kMostRunsAround);
  });
}

// Whether the answer out of a part of the entries may be another than the one out of all.
bool may_differ(const WhyAnswer& all, const report::WhyFacts& facts, std::optional<Instant> at) {
  if (at && is_out_of_reach(facts, *at)) return true;
  if (!all.entry || history::kind_of(*all.entry) == history::Kind::executed) return false;
  return is_out_of_reach(facts, all.entry->ended_at.value_or(history::time_of(*all.entry)));
}

void examine(const Chronicle& chronicle, const Outside& outside, const Scheduler& scheduler, Tally& tally) {
  const Instant t = now(outside.clock);
  for (const jobs::JobDefinition& definition : outside.jobs) {
    const Job& job = definition.job;
    const auto view = scheduler.view(job.identity);
    if (!view) continue;
    const report::WhyFacts facts{.job = job,
                                 .state = view->known.periods,
                                 .active = view->known.active,
                                 .entries = chronicle.of(job.identity),
                                 .up = chronicle.up(),
                                 .now = t};
    std::map<Instant, const Entry*> said;
    for (const Entry& entry : facts.entries) {
      if (!entry.period) continue;
      const Entry*& known = said[*entry.period];
      if (known == nullptr || history::kind_of(entry) == history::Kind::executed) known = &entry;
    }
    if (job.schedule.kind == Schedule::Kind::reboot) continue;
    KeptEntries kept(facts.entries);
    const Instant first = said.empty() ? t - 24h * 60 : std::min(said.begin()->first, t - 24h * 60);
    for (auto p = job.schedule.next_after(first - 1s, job.zone); p && *p < t + 48h;
         p = job.schedule.next_after(*p, job.zone)) {
      SCOPED_TRACE(job.identity + " " + rfc3339(*p) + " at " + rfc3339(t));
      const WhyAnswer answer = report::why(facts, {.period = *p});
      ++tally.verdicts[std::string(name_of(answer.verdict))];
      EXPECT_TRUE(answer.sentence.starts_with(name_of(answer.verdict)));
      const auto found = said.find(*p);
      if (found == said.end()) {
        expect_unsaid(answer, facts, decide(job, *p));
      } else {
        expect_told(answer, *found->second, facts, tally);
      }
      const auto compare = [&](const report::WhyQuestion& question, const WhyAnswer& all) {
        if (may_differ(all, facts, question.at)) {
          ++tally.out_of_reach;
        } else {
          expect_same(kept.answer(facts, question), all);
        }
      };
      compare({.period = *p}, answer);
      if (tally.asked++ % 16 == 0) {
        for (const Instant at : {*p, *p + 61s, decide(job, *p).due() + 1s}) {
          compare({.at = at}, report::why(facts, {.at = at}));
        }
      }
      if (::testing::Test::HasFailure()) return;
    }
    // What an earlier schedule had, too.
    for (const auto& [period, entry] : said) {
      SCOPED_TRACE(job.identity + " " + rfc3339(period) + " of any schedule");
      EXPECT_EQ(name_of(report::why(facts, {.period = period}).verdict), name_of(expected_of(*entry, facts.active)));
    }
  }
}

Tally simulated(SimulationPlan plan) {
  Chronicle chronicle;
  Tally tally;
  plan.on_event = [&](const Event& event) { chronicle.tell(event); };
  plan.on_life = [&](Instant now, bool is_up) { chronicle.live(now, is_up); };
  plan.at_end = [&](const Outside& outside, const Scheduler& scheduler) {
    examine(chronicle, outside, scheduler, tally);
  };
  EXPECT_EQ(simulate(plan).violation, "");
  return tally;
}

void show(const Tally& tally) {
  for (const auto& [verdict, count] : tally.verdicts) std::cout << verdict << " " << count << "  ";
  std::cout << "causes " << tally.causes << "  instead " << tally.instead << "\n";
}

TEST(WhySimulation, SaysOfEachPeriodOfAYearWhatBecameOfIt) {
  const char* given = std::getenv("KRON_SIMULATION_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 25;
  Tally all;
  for (int i = 0; i < scaled(1) && !HasFailure(); ++i) {
    const SimulationPlan plan{
        .seed = seed + static_cast<std::uint64_t>(i), .jobs = 8, .length = 24h * 365, .between_events = 30h};
    const Tally tally = simulated(plan);
    for (const auto& [verdict, count] : tally.verdicts) all.verdicts[verdict] += count;
    all.causes += tally.causes;
    all.instead += tally.instead;
    all.asked += tally.asked;
    all.out_of_reach += tally.out_of_reach;
    EXPECT_FALSE(HasFailure()) << "replay: KRON_SIMULATION_SEED=" << plan.seed << " kron_report_simulation_test";
  }
  show(all);
  EXPECT_GT(all.verdicts["executed"], 500U);
  EXPECT_GT(all.verdicts["missed"], 20U);
  EXPECT_GT(all.verdicts["passed over"], 5U);
  EXPECT_GT(all.causes, 10U);
  EXPECT_GT(all.instead, 10U);
  EXPECT_LT(all.out_of_reach * 2, all.asked);
  std::size_t periods = 0;
  for (const auto& [verdict, count] : all.verdicts) periods += count;
  EXPECT_LT(all.verdicts["forgotten"] * 10, periods) << "only what a power cut took may be forgotten";
}

TEST(WhySimulation, OfAQuietYearNothingIsForgotten) {
  Tally tally = simulated({.seed = 3, .jobs = 8, .length = 24h * 365, .between_events = 24h * 10, .quiet = true});
  show(tally);
  EXPECT_EQ(tally.verdicts["forgotten"] + tally.verdicts["missed"] + tally.verdicts["passed over"], 0U);
  EXPECT_GT(tally.verdicts["executed"], 500U);
}

}  // namespace
}  // namespace kron::testing
