// Whatever a job is written in, it is made by make_job: what that refuses, all of them refuse, in its words.
#include <gtest/gtest.h>

#include "kron/core/make_job.h"
#include "kron/jobs/load.h"
#include "kron/jobs/model.h"
#include "kron/json/decide_request.h"

namespace kron::jobs::front_ends_test {
namespace {

ZoneDatabase& zones() {
  static ZoneDatabase all;
  return all;
}

struct Written {
  const char* text;
  Spelling spelling;
};

// What each spelling says of its last job, which must not be there.
std::string refusal_of(const Written& written) {
  const LoadedJobs jobs = load_text("jobs", written.text, written.spelling, zones());
  for (const JobDefinition& definition : jobs.definitions) EXPECT_EQ(definition.job.identity, "good") << written.text;
  std::string all;
  for (const Problem& problem : jobs.problems) {
    if (problem.severity == Severity::error) all += text_of(problem) + "\n";
  }
  return all;
}

TEST(FrontEnds, NoneMakesAJobOfWhichTooManyPeriodsWouldBeOpen) {
  const Written cases[] = {
      {"* * * * * * @win(after,30d) name=bad command=x\n", Spelling::kron},
      // The second line repeats what the first says around its schedule, and is not read in full.
      {"0 0 * * * @win(after,30d) name=good command=x\n* * * * * * @win(after,30d) name=bad command=x\n",
       Spelling::kron},
      {"jobs:\n- {name: bad, schedule: '* * * * * *', window: 30d, command: x}\n", Spelling::yaml},
      {"defaults: {window: 30d}\njobs:\n- {name: bad, schedule: '@every 1s', command: x}\n", Spelling::yaml},
      {"RANDOM_DELAY=44640\n* * * * * true\n", Spelling::crontab},
      {R"({"bad":{"cron_args":{"second":"*","jitter":86400},"job_args":{"cmd":"x","lock":true,"ttl":9}}})",
       Spelling::cronken},
  };
  for (const Written& written : cases) {
    EXPECT_NE(refusal_of(written).find("would be open at once, more than 4096"), std::string::npos)
        << written.text << refusal_of(written);
  }
}

TEST(FrontEnds, NoneTakesADurationOfMoreThanAHundredYears) {
  const Written cases[] = {
      {"@yearly @win(after,36501d) name=bad command=x\n", Spelling::kron},
      {"@yearly @policy(deadline=36501d) name=bad command=x\n", Spelling::kron},
      {"@yearly name=bad command=x grace=36501d\n", Spelling::kron},
      {"@yearly name=bad command=x timeout=36501d\n", Spelling::kron},
      {"jobs:\n- {name: bad, schedule: '@yearly', window: {duration: 36501d}, command: x}\n", Spelling::yaml},
      {"jobs:\n- {name: bad, schedule: '@yearly', policy: {deadline: 36501d}, command: x}\n", Spelling::yaml},
      {R"({"bad":{"cron_args":{"year":"*"},"job_args":{"cmd":"x","lock":true,"ttl":9},"kron":{"grace":"36501d"}}})",
       Spelling::cronken},
  };
  for (const Written& written : cases) {
    EXPECT_NE(refusal_of(written).find("(100 years)"), std::string::npos) << written.text << refusal_of(written);
  }
}

TEST(FrontEnds, RequestsAreHeldToTheSame) {
  const auto open = parse_decide_request(
      R"({"identity":"a","schedule":"* * * * * *","window":"30d","periodStart":"2026-03-01T00:00:00Z"})", zones());
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().field, "window");
  EXPECT_NE(open.error().message.find("more than 4096"), std::string::npos);
  const auto late = read_requested_definition(
      parse_json(R"({"name":"a","schedule":"@yearly","policy":{"deadline":"36501d"}})").value(), zones());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().field, "policy.deadline");
}

}  // namespace
}  // namespace kron::jobs::front_ends_test
