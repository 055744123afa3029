#include "kron/json/decide_request.h"

#include <gtest/gtest.h>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

Result<DecideRequest> parsed(std::string_view json) {
  static ZoneDatabase zones;
  return parse_decide_request(json, zones);
}

// A request with these further members.
std::string request(const std::string& members) {
  return R"({"identity":"a","periodStart":"2026-03-01T00:00:00Z")" + (members.empty() ? "" : "," + members) + "}";
}

TEST(DecideRequest, TheFullModelAndTheFlatNamesSayTheSame) {
  const auto full = parsed(request(R"("schedule":"0 0 * * *","timezone":"Europe/Paris",
      "window":{"mode":"around","duration":"3h"},"distribution":{"name":"skewLate","params":{"shape":2.5}},
      "seed":{"strategy":"daily","salt":"s"},"only":{"hours":"9-10","dow":["MON",2],"dates":"2026-03-01..2026-03-05"},
      "avoid":{"between":["22:00-06:00"],"months":[12]}, "policy":{"concurrency":"allow","deadline":"5m","suspend":true})"));
  ASSERT_TRUE(full) << full.error().message;
  const auto flat = parsed(request(R"("job":"ignored","timezone":"Europe/Paris","window":"3h","mode":"center",
      "distribution":"skewLate","skewShape":2.5,"seedStrategy":"daily","salt":"s","onlyHours":[9,10],"onlyDow":[1,2],
      "onlyDates":[{"startDay":20260301,"endDay":20260305}],"avoidBetween":[{"startMinute":1320,"endMinute":360}],
      "avoidMonths":[12])"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(decision_json(full->job, decide(full->job, full->nominal)),
            decision_json(flat->job, decide(flat->job, flat->nominal)));
  EXPECT_EQ(full->job.policy, (Policy{Concurrency::allow, true, Seconds(300)}));
  EXPECT_EQ(full->job.schedule, parse_schedule("0 0 * * *").value());
}

TEST(DecideRequest, WhatIsLeftOutOrEmptyTakesItsDefault) {
  const auto bare = parsed(request(""));
  const auto empty = parsed(request(R"("timezone":"","mode":"","distribution":"","seedStrategy":"","salt":"",
      "window":"0s","onlyHours":[],"avoidDates":null,"only":{})"));
  ASSERT_TRUE(bare) << bare.error().message;
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(bare->job, empty->job);
  EXPECT_EQ(bare->job.zone.name(), "UTC");
}

TEST(DecideRequest, TheAnswerHasTheNamesOfTheContractInOrder) {
  const auto r =
      parsed(R"({"identity":"prod/db-backup","periodStart":"2026-03-01T01:00:00+01:00","window":"3h","salt":"backup",)"
             R"("only":{"hours":"0-5"},"distribution":"normal"})");
  ASSERT_TRUE(r) << r.error().message;
  const std::string answer = decision_json(r->job, decide(r->job, r->nominal));
  const std::string start =
      R"({"identity":"prod/db-backup","periodId":"2026-03-01T00:00:00Z","periodKey":"2026-03-01T00:00:00Z",)"
      R"("nominalTime":"2026-03-01T00:00:00Z","timezone":"UTC","windowMode":"after","windowStart":"2026-03-01T00:00:00Z",)"
      R"("windowEnd":"2026-03-01T03:00:00Z","distribution":{"name":"normal","params":{"mu":"mid","sigma":"30m"}},)"
      R"("seedStrategy":"stable","salt":"backup","seedHash":")";
  EXPECT_EQ(answer.substr(0, start.size()), start);
  EXPECT_NE(answer.find(R"(","constraintsApplied":"only hours=0-5","chosenTime":"2026-03-01T0)"), std::string::npos);
  EXPECT_TRUE(answer.ends_with(R"(Z","attempts":1,"unschedulable":false,"reason":""})")) << answer;
}

TEST(DecideRequest, AnUnschedulablePeriodSaysWhy) {
  const auto r = parsed(request(R"("window":"1h","onlyHours":[12])"));
  ASSERT_TRUE(r);
  const std::string answer = decision_json(r->job, decide(r->job, r->nominal));
  EXPECT_TRUE(answer.ends_with(R"("chosenTime":"","attempts":64,"unschedulable":true,)"
                               R"("reason":"excluded","clause":"only hours=12"})"))
      << answer;
}

struct Wrong {
  std::string json;
  const char* field;
  std::size_t column;
  const char* part_of_message;
};

TEST(DecideRequest, WrongRequestsNameTheFieldAndTheColumn) {
  const Wrong cases[] = {
      {"", "", 1, "invalid JSON"},
      {"[]", "", 1, "expected a JSON object, found a list"},
      {"{\"identity\":\"a\",", "", 17, "invalid JSON"},
      {"{\"identity\":\"\xff\"}", "", 14, "UTF-8"},
      {"{}", "identity", 0, "required"},
      {R"({"identity":"","periodStart":"2026-03-01T00:00:00Z"})", "identity", 0, "required"},
      {R"({"identity":5,"periodStart":"2026-03-01T00:00:00Z"})", "identity", 0, "expected a text"},
      {R"({"identity":"a"})", "periodStart", 0, "required"},
      {R"({"identity":"a","periodStart":"2026-02-30T00:00:00Z"})", "periodStart", 9, "exists in the month"},
      {R"({"identity":"a","periodStart":"2026-03-01T00:00:00.5Z"})", "periodStart", 20, "whole second"},
      {R"({"identity":"a","periodStart":"9999-12-31T00:00:00Z","window":"48h"})", "periodStart", 0, "years"},
      {request(R"("windw":"1h")"), "windw", 0, "did you mean window?"},
      {request(R"("timezone":"Europe/Pariss")"), "timezone", 1, "zone"},
      {request(R"("timezone":"../../etc/passwd")"), "timezone", 1, "zone"},
      {request(R"("timezone":5)"), "timezone", 0, "expected a text"},
      {request(R"("window":"1x")"), "window", 2, "unknown unit"},
      {request(R"("window":"-1h")"), "window", 1, "negative"},
      {request(R"("window":"99999999999999999999h")"), "window", 1, "too large"},
      {request(R"("window":5)"), "window", 0, "expected a text"},
      {request(R"("window":{"mode":"afterr"})"), "window.mode", 1, "did you mean after?"},
      {request(R"("window":{"duration":"5"})"), "window.duration", 2, "unit is missing"},
      {request(R"("window":{"length":"5"})"), "window.length", 0, "unknown key"},
      {request(R"("mode":"beside")"), "mode", 1, "unknown window mode"},
      {request(R"("distribution":"gauss")"), "distribution", 1, "unknown distribution"},
      {request(R"("distribution":{"name":"gauss"})"), "distribution.name", 1, "unknown distribution"},
      {request(R"("distribution":{"name":"normal","params":{"sgma":"5m"}})"), "distribution.params.sgma", 1,
       "did you mean sigma?"},
      {request(R"("distribution":{"name":"skewLate","params":{"shape":-1}})"), "distribution.params.shape", 1,
       "above 0"},
      {request(R"("distribution":{"name":"skewLate","params":{"shape":"nan"}})"), "distribution.params.shape", 1,
       "finite"},
      {request(R"("distribution":{"name":"skewLate","params":{"shape":[]}})"), "distribution.params.shape", 0,
       "expected a text or a number"},
      {request(R"("distribution":"skewLate","skewShape":0)"), "skewShape", 1, "above 0"},
      {request(R"("distribution":"skewLate","skewShape":1e999)"), "", 92, "too large"},
      {request(R"("seedStrategy":"weeky")"), "seedStrategy", 1, "did you mean weekly?"},
      {request(R"("seed":{"strategy":"weeky"})"), "seed.strategy", 1, "did you mean weekly?"},
      {request(R"("seed":"weekly")"), "seed", 0, "expected a map"},
      {request(R"("onlyHours":[24])"), "onlyHours", 0, "'24'"},
      {request(R"("onlyHours":[1.5])"), "onlyHours", 0, "'1.5'"},
      {request(R"("onlyHours":[18446744073709551615])"), "", 67, "beyond 64 bits"},
      {request(R"("avoidDow":[{}])"), "avoidDow", 0, "found a map"},
      {request(R"("onlyBetween":[{"startMinute":0,"endMinute":1440}])"), "onlyBetween", 0, "0-1439"},
      {request(R"("onlyBetween":[{"startMinute":0}])"), "onlyBetween", 0, "endMinute"},
      {request(R"("onlyBetween":[5])"), "onlyBetween", 0, "endMinute"},
      {request(R"("onlyBetween":{"startMinute":0,"endMinute":5})"), "onlyBetween", 0, "expected a list"},
      {request(R"("avoidDates":[{"startDay":20260231,"endDay":20260301}])"), "avoidDates", 0, "2026-02-31"},
      {request(R"("avoidDates":[{"startDay":20260302,"endDay":20260301}])"), "avoidDates", 0, "ends before"},
      {request(R"("only":{"hours":"9-25"})"), "only.hours", 3, "'25'"},
      {request(R"("avoid":{"hour":"9"})"), "avoid.hour", 1, "did you mean hours?"},
      {request(R"("only":{"calendar":"x"})"), "only.calendar", 1, "no calendar is defined"},
      {request(R"("calendars":{"x":["2026-13-01"]})"), "calendars.x", 1, "not a date"},
      {request(R"("calendars":{"x,y":["2026-12-01"]})"), "calendars", 0, "comma"},
      {request(R"("calendars":{"x":{"file":"fr.ics"}})"), "calendars.x.file", 0, "list its dates here"},
      {request(R"("calendars":{"x":{}})"), "calendars.x.file", 0, "is missing"},
      {request(R"("schedule":"0 0 31 2 *")"), "schedule", 5, "31"},
      {request(R"("policy":{"deadline":"1.5s"})"), "policy.deadline", 1, "whole number of seconds"},
  };
  for (const Wrong& wrong : cases) {
    const auto result = parsed(wrong.json);
    ASSERT_FALSE(result) << wrong.json;
    const Error& error = result.error();
    EXPECT_EQ(error.code, Code::invalid);
    EXPECT_EQ(error.field, wrong.field) << wrong.json << ": " << error.message;
    EXPECT_EQ(error.column, wrong.column) << wrong.json << ": " << error.message;
    EXPECT_NE(error.message.find(wrong.part_of_message), std::string::npos) << wrong.json << ": " << error.message;
    EXPECT_TRUE(parse_json(error_json(error))) << error_json(error);
  }
}

TEST(DecideRequest, HugeValuesGetAnAnswer) {
  const std::string huge(100'000, 'x');
  EXPECT_TRUE(parsed(R"({"identity":")" + huge + R"(","periodStart":"2026-03-01T00:00:00Z","salt":")" + huge + "\"}"));
  for (const char* key :
       {"timezone", "window", "mode", "distribution", "seedStrategy", "schedule", "dst", huge.c_str()}) {
    const auto result = parsed(request('"' + std::string(key) + "\":\"" + huge + '"'));
    ASSERT_FALSE(result) << key;
    EXPECT_LT(error_json(result.error()).size(), 1000U) << std::string(key).substr(0, 40);
  }
}

Job random_job() {
  Job job;
  job.identity = "j/" + std::to_string(*rc::gen::arbitrary<int>());
  job.salt = *rc::gen::element<std::string>("", "s\"\\\n", "é");
  static ZoneDatabase zones;
  job.zone = zones.find(*rc::gen::element<std::string>("UTC", "Europe/Paris", "Pacific/Apia")).value();
  job.window = {*rc::gen::element(WindowMode::after, WindowMode::before, WindowMode::around),
                Nanoseconds(*rc::gen::inRange<std::int64_t>(0, 200'000'000'000'000))};
  const auto name = *rc::gen::element<std::string>("uniform", "skewEarly", "skewLate", "normal", "exponential");
  job.distribution = make_distribution(name, {}).value();
  job.distribution.shape = *rc::gen::inRange(1, 1000) / 37.0;
  job.distribution.lambda = *rc::gen::inRange(1, 1000) / 37.0;
  if (*rc::gen::arbitrary<bool>())
    job.distribution.sigma = Nanoseconds(*rc::gen::inRange<std::int64_t>(1, 100'000'000'000));
  job.seed_strategy = *rc::gen::element(SeedStrategy::stable, SeedStrategy::daily, SeedStrategy::weekly);
  job.constraints.only.hours = *rc::gen::element(0U, 0x3FU, 0xFFFF00U);
  job.constraints.avoid.weekdays = *rc::gen::element<std::uint8_t>(0, 1, 0x3E);
  const std::map<std::string, std::vector<DateRange>> calendars{{"h", {{20260101, 20260103}}}, {"empty", {}}};
  if (*rc::gen::arbitrary<bool>()) {
    RC_ASSERT(add_clause(job.constraints.avoid, "calendar", "h,empty", calendars).has_value());
    RC_ASSERT(add_clause(job.constraints.avoid, "dates", "2026-02-01..2026-02-05,2026-03-01").has_value());
    RC_ASSERT(add_clause(job.constraints.only, "between", "22:00-06:00,08:00-21:00").has_value());
  }
  return job;
}

TEST(DecideRequest, OfCalendarsItHasTheDatesThatCanTouchTheWindow) {
  Job job;
  job.identity = "a";
  job.window = {WindowMode::after, std::chrono::hours(24)};
  const std::map<std::string, std::vector<DateRange>> calendars{
      {"h",
       {{20260101, 20260101}, {20260225, 20260226}, {20260227, 20260227}, {20260304, 20260309}, {20260305, 20260305}}},
      {"far", {{20270101, 20270101}}}};
  ASSERT_TRUE(add_clause(job.constraints.avoid, "calendar", "h,far", calendars).has_value());
  const std::string text = decide_request_json(job, instant_of(1'772'323'200));  // 2026-03-01
  EXPECT_NE(text.find(R"("calendars":{"far":[],"h":["2026-02-27","2026-03-04..2026-03-09"]})"), std::string::npos)
      << text;
}

TEST(DecideRequest, ALoggedRequestReproducesTheDecision) {
  testing::for_all(500, [] {
    const Job job = random_job();
    const Instant nominal = instant_of(*rc::gen::inRange<std::int64_t>(1'767'225'600, 1'830'000'000));
    const std::string text = decide_request_json(job, nominal);
    const auto again = parsed(text);
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->nominal == nominal);
    RC_ASSERT(decide_request_json(again->job, nominal) == text);
    RC_ASSERT(decision_json(again->job, decide(again->job, nominal)) == decision_json(job, decide(job, nominal)));
  });
}

}  // namespace
}  // namespace kron
