#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_krond.h"
#include "kron/core/sample_jobs.h"
#include "kron/report/why.h"
#include "why_text.h"

namespace kron::cli::operate_why_test {
namespace {

using namespace std::chrono_literals;
using report::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::make_job;
using ::testing::Not;
using ::testing::StartsWith;
using testing::utc;

const Instant kThree = utc("2026-03-02T03:00:00Z");
const Instant kNoon = utc("2026-03-02T12:00:00Z");

report::WhyFacts nightly(const testing::JobSpec& spec = {.schedule = "0 3 * * *"}) {
  report::WhyFacts facts{.job = make_job(spec), .now = kNoon};
  facts.job.identity = "backup";
  facts.state.first_seen = utc("2026-01-01T00:00:00Z");
  facts.state.last_handled = kThree;
  return facts;
}

report::WhyFacts told(history::Entry entry) {
  report::WhyFacts facts = nightly();
  entry.number = 7;
  entry.job = "backup";
  entry.period = kThree;
  if (entry.outcome != Outcome::unschedulable) entry.chosen = kThree;
  facts.entries = {entry};
  return facts;
}

history::Entry run(std::optional<int> exit, const std::string& detail = {}) {
  return {.job = {},
          .outcome = Outcome::executed,
          .detail = detail,
          .run_id = "r1",
          .started_at = kThree,
          .ended_at = kThree + 5s,
          .exit_code = exit};
}

history::Entry judged(Outcome outcome, Reason reason) {
  return {.job = {}, .outcome = outcome, .reason = reason, .ended_at = kThree + 4h};
}

template <class Change>
report::WhyFacts changed(report::WhyFacts facts, Change change) {
  change(facts);
  return facts;
}

struct Row {
  Verdict verdict;
  report::WhyFacts facts;
  report::WhyQuestion question = {};
};

// Every verdict, and every reason of those that have some.
std::vector<Row> rows() {
  using report::WhyFacts;
  std::vector<Row> rows{
      {Verdict::executed, told(run(0))},
      {Verdict::executed, told(run(3))},
      {Verdict::executed, told(run(std::nullopt, "timed out after 2s"))},
      {Verdict::executed, told(run(std::nullopt))},
      {Verdict::missed, told(judged(Outcome::missed, Reason::deadline))},
      {Verdict::excluded, told(judged(Outcome::unschedulable, Reason::excluded))},
      {Verdict::no_time, told(judged(Outcome::unschedulable, Reason::no_candidate))},
      {Verdict::forgotten, nightly()},
  };
  for (const Reason reason :
       {Reason::none, Reason::concurrency_forbid, Reason::lock_held, Reason::paused, Reason::replaced_before_start,
        Reason::could_not_stop, Reason::start_failed, Reason::unknown}) {
    rows.push_back({Verdict::skipped, told(judged(Outcome::skipped, reason))});
  }
  const auto before = [](WhyFacts& facts) { facts.state.last_handled = kThree - 24h; };
  rows.push_back({Verdict::due, changed(nightly(), before)});
  rows.push_back({Verdict::running, changed(nightly(), [](WhyFacts& facts) {
                    facts.active = {{.period = kThree, .chosen = kThree, .started_at = kThree, .run_id = "r1"}};
                  })});
  rows.push_back(
      {Verdict::passed_over, changed(nightly(), [](WhyFacts& facts) {
         facts.entries = {
             {.number = 7, .job = "backup", .ended_at = kNoon, .passed_over = PassedOver{1, kThree, kThree}}};
       })});
  rows.push_back({Verdict::paused, changed(nightly(), [&](WhyFacts& facts) {
                    before(facts);
                    facts.state.suspended = Suspension{.since = kThree - 1h, .until = {}};
                  })});
  rows.push_back({Verdict::suspended, changed(nightly(), [&](WhyFacts& facts) {
                    before(facts);
                    facts.job.policy.suspend = true;
                  })});
  rows.push_back(
      {Verdict::not_scheduled, changed(nightly(), [](WhyFacts& facts) { facts.not_scheduled = "damaged"; })});
  rows.push_back({Verdict::not_loaded, nightly(), {.period = utc("2025-12-31T03:00:00Z")}});
  rows.push_back({Verdict::no_period, nightly(), {.at = kThree + 7min}});
  rows.push_back({Verdict::ahead, nightly(), {.period = kThree + 24h}});
  rows.push_back({Verdict::at_boot, nightly({.schedule = "@reboot"})});
  rows.push_back({Verdict::clock_gap,
                  changed(nightly({.schedule = "30 2 * * *", .zone = "Europe/Paris"}),
                          [](WhyFacts& facts) { facts.job.schedule.dst.gap = DstRule::Gap::skip; }),
                  {.at = utc("2026-03-29T01:30:00Z")}});
  rows.push_back({Verdict::record_ahead,
                  changed(nightly(), [](WhyFacts& facts) { facts.state.last_handled = kThree + 24h * 30; }),
                  {.period = kThree + 24h}});
  return rows;
}

TEST(KronWhy, PrintsEachVerdictFirstThenTheReasonThenWhatWouldHaveHelped) {
  std::set<Verdict> seen;
  for (const Row& row : rows()) {
    const report::WhyAnswer answer = report::why(row.facts, row.question);
    SCOPED_TRACE(answer.sentence);
    EXPECT_EQ(name_of(answer.verdict), name_of(row.verdict));
    seen.insert(answer.verdict);
    FakeKrond krond;
    const std::string json = report::json_of(answer, row.facts.job, kThree, kNoon);
    krond.on("GET /jobs/backup/why", json);
    const Ran ran = krond.kron({"why", "backup"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::string expected = answer.sentence + "\n";
    if (!answer.reason.empty()) expected += "because       " + answer.reason + "\n";
    if (!answer.instead.empty()) expected += "instead       " + answer.instead + "\n";
    EXPECT_THAT(ran.out, StartsWith(expected));
    EXPECT_EQ(krond.kron({"why", "backup", "--format", "json"}).out, json + "\n");
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(Verdict::not_scheduled) + 1) << "every verdict is in the table";
}

TEST(KronWhy, AsksAboutATimeOrAPeriod) {
  FakeKrond krond;
  const std::string answer = report::json_of(report::why(nightly(), {}), nightly().job, kThree, kNoon);
  krond.on("GET /jobs/a%2Fb/why?at=2026-03-02T03%3A00%3A00Z", answer);
  krond.on("GET /jobs/backup/why?period=2026-03-02T03%3A00%3A00Z", answer);
  EXPECT_EQ(krond.kron({"why", "a/b", "--at", "2026-03-02T03:00:00Z"}).status, 0);
  EXPECT_EQ(krond.kron({"why", "backup", "--period", "2026-03-02T03:00:00Z"}).status, 0);
  EXPECT_EQ(krond.asked().size(), 2U);
  EXPECT_NE(krond.kron({"why", "backup", "--at", "2026-03-02T03:00:00Z", "--period", "2026-03-02T03:00:00Z"}).status,
            0);
  const Ran wrong = krond.kron({"why", "backup", "--at", "whenever"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("--at"));
  EXPECT_EQ(krond.asked().size(), 2U) << "nobody is asked what cannot be answered";
}

TEST(KronWhy, SaysWhatIsWrongAndWhatToDo) {
  FakeKrond krond;
  krond.refuse("GET /jobs/nobody/why", {Code::not_found, "there is no job named 'nobody'"});
  const Ran missing = krond.kron({"why", "nobody"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("there is no job named 'nobody'"));
  EXPECT_EQ(missing.out, "");
  krond.stop();
  const Ran alone = krond.kron({"why", "backup"});
  EXPECT_EQ(alone.status, 3);
  EXPECT_THAT(alone.err, HasSubstr("krond"));
}

TEST(KronWhy, ANoteOfSomebodyDoesNothingToATerminal) {
  FakeKrond krond;
  report::WhyFacts facts = nightly();
  facts.state.last_handled = kThree - 24h;
  facts.state.suspended = Suspension{.since = kThree - 1h, .until = {}};
  facts.pauses = {{kThree - 1h, {}, "ann", "\x1b[2J"}};
  krond.on("GET /jobs/backup/why", report::json_of(report::why(facts, {}), facts.job, kThree, kNoon));
  EXPECT_THAT(krond.kron({"why", "backup"}).out, AllOf(HasSubstr("by ann"), Not(HasSubstr("\x1b"))));
}

TEST(WhyText, PutsTheTimesOfTheScreenIntoSentences) {
  const ScreenTimes paris(testing::zone("Europe/Paris"), kNoon);
  EXPECT_EQ(with_screen_times("missed: krond was down from 2026-03-01T23:00:00Z to 2026-03-02T07:00:00Z", paris),
            "missed: krond was down from 2026-03-02 00:00:00 to 2026-03-02 08:00:00");
  EXPECT_EQ(with_screen_times("2026-03-02T03:00:00Z", ScreenTimes()), "2026-03-02T03:00:00Z");
  EXPECT_EQ(with_screen_times("", paris), "");
  EXPECT_EQ(with_screen_times("2026-13-02T03:00:00Z and 2026-03-02", paris), "2026-13-02T03:00:00Z and 2026-03-02");
}

}  // namespace
}  // namespace kron::cli::operate_why_test
