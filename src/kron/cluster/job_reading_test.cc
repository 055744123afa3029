#include "kron/cluster/job_reading.h"

#include <gtest/gtest.h>

#include "kron/cluster/definition_edit.h"

namespace kron::cluster {
namespace {

ZoneDatabase& reading_zones() {
  static ZoneDatabase database;
  return database;
}

JobRules reading_rules() {
  return {.zones = reading_zones(), .zone = *reading_zones().find("Asia/Tokyo"), .name_space = "{t}"};
}

std::string hourly(std::string_view lock = "true", std::string_view more = "") {
  return R"({"cron_args":{"minute":"0"},"job_args":{"cmd":"echo | wc","lock":)" + std::string(lock) + R"(,"ttl":0})" +
         std::string(more) + "}";
}

TEST(JobReading, GivesTheDefinitionAndTheTermsOfTheScripts) {
  const ReadJob job = read_cluster_job("a b", hourly(), reading_rules(), instant_of(77));
  ASSERT_TRUE(job.definition) << job.errors;
  EXPECT_EQ(job.definition->job.identity, "a b");
  EXPECT_EQ(job.definition->job.zone.name(), "Asia/Tokyo");
  EXPECT_EQ(job.definition->options->shell, "/bin/sh");
  EXPECT_FALSE(job.definition->job.policy.suspend);
  EXPECT_EQ(job.terms, (JobTerms{true, "a b", Seconds(60), Seconds(1), instant_of(77)}));
  EXPECT_EQ(job.is_paused, std::optional<bool>(false));
  EXPECT_TRUE(job.errors.empty());
  const ReadJob named = read_cluster_job("a", hourly(R"("shared")"), reading_rules(), instant_of(1));
  EXPECT_EQ(named.terms.lock_name, "shared");
  const ReadJob free =
      read_cluster_job("a", hourly(R"("")", R"(,"kron":{"policy":{"deadline":"5m"}})"), reading_rules(), {});
  EXPECT_FALSE(free.terms.locked);
  EXPECT_EQ(free.terms.deadline, Seconds(300));
}

TEST(JobReading, NumbersOfAnySizeMayStandBesideADefinition) {
  const ReadJob job = read_cluster_job("a", hourly("true", R"(,"big":12345678901234567890)"), reading_rules(), {});
  EXPECT_TRUE(job.definition) << job.errors;
}

TEST(JobReading, RunsCommandsByTheShellOfTheRules) {
  JobRules rules = reading_rules();
  rules.shell = "/bin/bash";
  EXPECT_EQ(read_cluster_job("a", hourly(), rules, {}).definition->options->shell, "/bin/bash");
}

TEST(JobReading, TakesNumbersWithAFractionOfNothing) {
  EXPECT_FALSE(read_cluster_job("a", hourly("0.0"), reading_rules(), {}).terms.locked);
  EXPECT_TRUE(read_cluster_job("a", hourly("1.0"), reading_rules(), {}).terms.locked);
  EXPECT_FALSE(read_cluster_job("a", hourly("0.5"), reading_rules(), {}).definition);
  const ReadJob job = read_cluster_job("a", hourly("1", R"(,"job_state":{"paused":1.0})"), reading_rules(), {});
  EXPECT_EQ(job.is_paused, std::optional<bool>(true));
}

TEST(JobReading, APausedJobIsSuspendedAndNothingElseDiffers) {
  const ReadJob job = read_cluster_job("a", hourly("true", R"(,"job_state":{"paused":"on"})"), reading_rules(), {});
  ASSERT_TRUE(job.definition);
  EXPECT_EQ(job.is_paused, std::optional<bool>(true));
  EXPECT_TRUE(job.definition->job.policy.suspend);
  EXPECT_EQ(*job.definition->options, *read_cluster_job("a", hourly(), reading_rules(), {}).definition->options);
}

TEST(JobReading, SaysWhatIsWrongWithEachDefinition) {
  struct Case {
    std::string name;
    std::string text;
    std::string says;
    std::optional<bool> is_paused;
  };
  const Case cases[] = {
      {"a", "", "no JSON", std::nullopt},
      {"a", "nonsense", "no JSON", std::nullopt},
      {"a", "[]", "must be a map", std::nullopt},
      {"a", "{}", "cron_args: missing", false},
      {"a", R"({"cron_args":{"second":"99"},"job_args":{"cmd":"x","lock":true,"ttl":1}})", "cron_args.second", false},
      {"a", R"({"cron_args":{"cronstring":"@reboot"},"job_args":{"cmd":"x","lock":true,"ttl":1}})", "@reboot", false},
      {"a", R"({"job_state":{"paused":true}})", "missing", true},
      {"a", R"({"job_state":{"paused":[]}})", "missing", std::nullopt},
      {"a", hourly("true", R"(,"job_state":7)"), "job_state: expected a map", std::nullopt},
      {"", hourly(), "needs a name", false},
      {"all", hourly(), "means something else", false},
      {"__reaper__", hourly(), "means something else", false},
      {"a\nb", hourly(), "control characters", false},
      {std::string(513, 'x'), hourly(), "513 bytes", false},
      {"\xff", hourly(), "name", false},
      {"a", hourly("true", R"(,"kron":{"policy":{"concurrency":"replace"}})"), "replace", false},
      {"a", hourly("true", R"(,"kron":{"task":"t"})"), "task", false},
  };
  for (const Case& c : cases) {
    const ReadJob job = read_cluster_job(c.name, c.text, reading_rules(), {});
    EXPECT_FALSE(job.definition) << c.text;
    EXPECT_NE(job.errors.find(c.says), std::string::npos) << c.text << ": " << job.errors;
    EXPECT_EQ(job.is_paused, c.is_paused) << c.text;
  }
}

TEST(JobReading, AJobMaySubmitATaskInsteadOfRunningACommand) {
  const auto with_args = [](const std::string& args, const std::string& kron) {
    return R"({"cron_args":{"hour":"*"},"job_args":{)" + args + R"("lock":true,"ttl":5},"kron":)" + kron + "}";
  };
  for (const char* args : {"", R"("cmd":"",)", R"("cmd":" ",)"}) {
    const ReadJob job =
        read_cluster_job("a", with_args(args, R"({"task":"MAIL","stdin":"{\"n\":1}"})"), reading_rules(), {});
    ASSERT_TRUE(job.definition) << args << ": " << job.errors;
    EXPECT_EQ(std::get<jobs::SubmitTask>(job.definition->action).type, "MAIL");
    EXPECT_EQ(job.definition->options->input, R"({"n":1})");
    EXPECT_TRUE(job.terms.locked);
  }
  const auto why = [&](const std::string& args, const std::string& kron) {
    const ReadJob job = read_cluster_job("a", with_args(args, kron), reading_rules(), {});
    EXPECT_FALSE(job.definition);
    return job.errors;
  };
  EXPECT_NE(why("", "{}").find("cmd: missing"), std::string::npos);
  EXPECT_NE(why(R"("cmd":"true",)", R"({"task":"MAIL"})").find("not both"), std::string::npos);
  EXPECT_NE(why("", R"({"task":"no type"})").find("kron.task: invalid"), std::string::npos) << "when it is read";
}

TEST(JobReading, AHostWhoseTasksAreFilesRefusesJobsThatSubmitThem) {
  JobRules rules = reading_rules();
  rules.tasks_in_redis = false;
  const ReadJob job = read_cluster_job(
      "a", R"({"cron_args":{"hour":"*"},"job_args":{"lock":true,"ttl":5},"kron":{"task":"MAIL"}})", rules, {});
  EXPECT_FALSE(job.definition);
  EXPECT_NE(job.errors.find("--tasks file"), std::string::npos) << job.errors;
  EXPECT_TRUE(read_cluster_job("a", hourly(), rules, {}).definition);
}

TEST(JobReading, AHostWhoseTasksAreFilesRefusesJobsThatTellSomebody) {
  constexpr char kTold[] =
      R"({"cron_args":{"hour":"*"},"job_args":{"cmd":"true","lock":true,"ttl":5},"kron":{"notify":{"to":["ops"]}}})";
  JobRules rules = reading_rules();
  ASSERT_TRUE(read_cluster_job("a", kTold, rules, {}).definition);
  rules.tasks_in_redis = false;
  const ReadJob job = read_cluster_job("a", kTold, rules, {});
  EXPECT_FALSE(job.definition);
  EXPECT_NE(job.errors.find("kron.notify"), std::string::npos) << job.errors;
  EXPECT_NE(job.errors.find("--tasks file"), std::string::npos) << job.errors;
}

TEST(JobReading, RefusesUnsignedJobsWhereSignaturesAreRequired) {
  JobRules rules = reading_rules();
  rules.signatures = {.key = SigningKey("0123456789abcdef"), .is_required = true};
  EXPECT_NE(read_cluster_job("a", hourly(), rules, {}).errors.find("not signed"), std::string::npos);
  const std::string signature = rules.signatures.key->sign("{t}", "a", *parse_json(hourly()));
  const std::string text = *with_signature(hourly(), signature);
  EXPECT_TRUE(read_cluster_job("a", text, rules, {}).definition);
  EXPECT_TRUE(read_cluster_job("a", *with_paused(text, jobs::ClusterPause{instant_of(60), "anna", "disk"}), rules, {})
                  .definition);
  EXPECT_FALSE(read_cluster_job("b", text, rules, {}).definition);
}

TEST(JobReading, OneBadDefinitionDisablesOnlyItselfAndIsNoted) {
  JobTexts texts;
  texts.definitions = {{"bad", R"({"x":1.50})"}, {"good", hourly()}, {"junk", "{"}};
  const JobReading reading = read_jobs(texts, reading_rules());
  ASSERT_EQ(reading.definitions.size(), 1U);
  EXPECT_EQ(reading.definitions[0].job.identity, "good");
  EXPECT_TRUE(reading.terms.contains("good"));
  ASSERT_EQ(reading.refused.size(), 2U);
  EXPECT_EQ(reading.refused[0].name, "bad");
  ASSERT_EQ(reading.edits.size(), 1U);
  EXPECT_EQ(reading.edits[0].before, R"({"x":1.50})");
  EXPECT_EQ(*validation_errors_of(reading.edits[0].after), reading.refused[0].text);
  EXPECT_EQ(reading.edits[0].set, DefinitionEdit::Set::leave);
  // Once noted it is left alone, also when it says something else.
  texts.definitions["bad"] = R"({"x":1.50,"job_state":{"validation_errors":"said otherwise"}})";
  EXPECT_TRUE(read_jobs(texts, reading_rules()).edits.empty());
}

TEST(JobReading, TheDefinitionWinsOverThePausedSet) {
  const std::string is_paused = hourly("true", R"(,"job_state":{"paused":true})");
  JobTexts texts;
  texts.definitions = {{"a", is_paused}, {"b", hourly()}, {"c", is_paused}, {"d", hourly()}, {"junk", "{"}};
  texts.paused = {"a", "b", "gone", "junk"};
  const JobReading reading = read_jobs(texts, reading_rules());
  EXPECT_EQ(reading.edits, (std::vector<DefinitionEdit>{{"b", hourly(), hourly(), DefinitionEdit::Set::remove},
                                                        {"c", is_paused, is_paused, DefinitionEdit::Set::add}}));
}

TEST(JobReading, ValidatingNotesErrorsAndTakesThemAway) {
  const std::string bad = R"({"job_state":{"validation_errors":"old"}})";
  const std::optional<DefinitionEdit> noted = validation_edit("a", bad, reading_rules());
  ASSERT_TRUE(noted);
  EXPECT_NE((*validation_errors_of(noted->after))->find("cron_args: missing"), std::string::npos);
  EXPECT_FALSE(validation_edit("a", noted->after, reading_rules()));
  const std::string cured = hourly("true", R"(,"job_state":{"validation_errors":"old"})");
  EXPECT_EQ(validation_edit("a", cured, reading_rules())->after, hourly("true", R"(,"job_state":{})"));
  EXPECT_FALSE(validation_edit("a", hourly(), reading_rules()));
  EXPECT_FALSE(validation_edit("a", "{", reading_rules()));
}

}  // namespace
}  // namespace kron::cluster
