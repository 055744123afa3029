#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/forecast/explanation.h"
#include "kron/forecast/upcoming.h"
#include "kron/jobs/kron_line.h"
#include "kron/jobs/load.h"
#include "kron/jobs/model.h"
#include "kron/jobs/yaml.h"
#include "kron/json/decide_request.h"
#include "kron/testing/draws.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::maybe;
using testing::one_of;

ZoneDatabase& zones() {
  static ZoneDatabase database;
  return database;
}

Node map_of(std::initializer_list<std::pair<std::string, Node>> members) {
  Node::Map map;
  for (const auto& [key, value] : members) map.push_back({key, {}, value});
  return Node(std::move(map));
}

Node word(std::string text) { return Node(std::move(text)); }

void put(Node& map, const std::string& key, Node value) {
  Node::Map members = *map.as<Node::Map>();
  members.push_back({key, {}, std::move(value)});
  map = Node(std::move(members));
}

// What every spelling can say, and what all but a crontab can.
struct Sample {
  std::string schedule;
  std::string zone;
  int delay_minutes = 0;
  Node timing = Node(Node::Map());  // in the names of the model, which `kron decide` knows too
};

Sample some_sample() {
  Sample sample;
  sample.schedule = one_of("0 0 * * *", "*/20 1-5 * * MON-FRI", "30 2 * * *", "*/30 * * * *", "15 4 1,15 * 5",
                           "0 12 L * *", "0 0 * * 5#2", "5 4 15W * *", "0 */6 */2 * 1");
  sample.zone = one_of("UTC", "Europe/Paris", "America/St_Johns", "Australia/Lord_Howe");
  sample.delay_minutes = *rc::gen::inRange(0, 400);
  return sample;
}

void add_the_rest(Node& timing) {
  put(timing, "window",
      map_of({{"mode", word(one_of("after", "before", "around"))},
              {"duration", word(std::to_string(*rc::gen::inRange(0, 9000)) + "s")}}));
  if (maybe()) {
    put(timing, "distribution",
        map_of({{"name", word(one_of("skewLate", "skewEarly"))},
                {"params", map_of({{"shape", Node(*rc::gen::inRange(1, 900) / 64.0)}})}}));
  }
  if (maybe()) {
    put(timing, "seed",
        map_of({{"strategy", word(one_of("stable", "daily", "weekly"))}, {"salt", word(one_of("", "a", "b c"))}}));
  }
  if (maybe()) put(timing, "only", map_of({{"hours", word(one_of("0-12", "22-4"))}}));
  if (maybe()) {
    put(timing, "avoid",
        map_of({{"dow", word(one_of("SAT,SUN", "MON"))}, {"between", word(one_of("02:15-02:45", "23:30-00:30"))}}));
  }
}

// The decision that `kron decide` makes when it is asked in the words the job was written in.
std::string asked(const Sample& sample, const std::string& identity, Instant nominal) {
  Node request = sample.timing;
  put(request, "identity", word(identity));
  put(request, "periodStart", word(rfc3339(nominal)));
  put(request, "timezone", word(sample.zone));
  const Result<DecideRequest> parsed = parse_decide_request(JsonWriter().node(request).take(), zones());
  if (!parsed) RC_FAIL(parsed.error().message);
  return decision_json(parsed->job, decide(parsed->job, parsed->nominal));
}

void expect_the_same(const Sample& sample, const std::string& text, jobs::Spelling spelling) {
  const jobs::LoadedJobs loaded = jobs::load_text("f", text, spelling, zones());
  if (loaded.definitions.size() != 1) {
    RC_FAIL(text + (loaded.problems.empty() ? "" : jobs::text_of(loaded.problems.front())));
  }
  const Job& job = loaded.definitions.front().job;
  const Schedule schedule = parse_schedule(sample.schedule).value();
  const TimeZone zone = zones().find(sample.zone).value();
  // Within a day of the clock change of many zones as often as not.
  const Instant from = instant_of((maybe() ? 1'774'656'000 : 1'792'800'000) + *rc::gen::inRange(0, 200'000));
  Result<Upcoming> upcoming = Upcoming::of(job, from);
  RC_ASSERT(upcoming.has_value());
  for (int i = 0; i < 4; ++i) {
    const std::optional<Decision> period = upcoming->next();
    RC_ASSERT(period.has_value());
    RC_ASSERT(schedule.is_nominal(period->nominal, zone));
    const std::string expected = asked(sample, job.identity, period->nominal);
    RC_ASSERT(decision_json(job, *period) == expected);
    const Explanation story = explain(job, period->nominal, from);
    RC_ASSERT(decision_json(story.job, story.decision) == expected);
    RC_ASSERT(json_of(story).starts_with(expected.substr(0, expected.size() - 1) + ","));
    RC_ASSERT(static_cast<int>(story.attempts.size()) == story.decision.attempts);
  }
}

std::string list_of_one(const Node& job) { return jobs::yaml_text(map_of({{"jobs", Node(Node::List{job})}})); }

TEST(Prediction, FilesInEverySpellingGiveWhatDecideGives) {
  testing::for_all(150, [] {
    Sample sample = some_sample();
    add_the_rest(sample.timing);
    Node job = sample.timing;
    put(job, "name", word("db/backup"));
    put(job, "schedule", word(sample.schedule));
    put(job, "timezone", word(sample.zone));
    put(job, "command", word("/bin/true"));
    const std::string yaml = list_of_one(job);
    expect_the_same(sample, yaml, jobs::Spelling::yaml);
    const auto loaded = jobs::load_text("f", yaml, jobs::Spelling::yaml, zones());
    expect_the_same(sample, jobs::kron_line(loaded.definitions.front()).value(), jobs::Spelling::kron);
    // Those that mean the same where 0 is Monday and both day fields must match.
    sample.schedule = one_of("0 0 * * *", "30 2 * * *", "*/30 * * * *", "*/20 1-5 * * mon-fri", "15 4 1,15 * *");
    // A cronstring leaves cron_args nothing else to say; the zone is ours to say.
    Node extension = sample.timing;
    put(extension, "timezone", word(sample.zone));
    const Node cronken =
        map_of({{"cron_args", map_of({{"cronstring", word(sample.schedule)}})},
                {"job_args", map_of({{"cmd", word("true")}, {"lock", Node(true)}, {"ttl", Node(std::int64_t{10})}})},
                {"kron", extension}});
    expect_the_same(sample, JsonWriter().node(map_of({{"db/backup", cronken}})).take(), jobs::Spelling::cronken);
  });
}

TEST(Prediction, CrontabsGiveWhatDecideGives) {
  testing::for_all(100, [] {
    Sample sample = some_sample();
    put(sample.timing, "window", word(std::to_string(sample.delay_minutes) + "m"));
    const std::string text = "CRON_TZ=" + sample.zone + "\nRANDOM_DELAY=" + std::to_string(sample.delay_minutes) +
                             "\n" + sample.schedule + " /bin/true\n";
    expect_the_same(sample, text, jobs::Spelling::crontab);
  });
}

}  // namespace
}  // namespace kron
