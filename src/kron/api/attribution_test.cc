#include "kron/api/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<Attribution> attribution_with(std::string body) {
  return attribution_of({.body = std::move(body), .principal = {.name = "uid 0"}});
}

TEST(AttributionTest, ANoteIsOneLineOfLimitedLength) {
  EXPECT_EQ(attribution_with(R"({"note":"moving disks – ärger"})").value().note, "moving disks – ärger");
  EXPECT_EQ(attribution_with("").value().note, "");
  EXPECT_EQ(attribution_with(R"({"note":null})").value().note, "");
  EXPECT_EQ(attribution_with(R"({"note":")" + std::string(kMostNoteBytes, 'x') + R"("})").value().note.size(),
            kMostNoteBytes);
  for (const std::string& note :
       {std::string(kMostNoteBytes + 1, 'x'), std::string(R"(a\nb)"), std::string(R"(\u001b[2J)"),
        std::string(R"(\u0000)"), std::string(R"(\u007f)"), std::string(R"(\u0085)"), std::string(R"(\u2028)"),
        std::string(R"(\u202e)"), std::string(R"(\u2066)")}) {
    const auto refused = attribution_with(R"({"note":")" + note + R"("})");
    ASSERT_FALSE(refused) << note;
    EXPECT_EQ(refused.error().field, "note") << note;
  }
  EXPECT_EQ(attribution_with(R"({"note":3})").error().field, "note");
  EXPECT_EQ(attribution_with(R"({"reason":"x"})").error().field, "reason") << "nothing else is known";
}

TEST(AttributionTest, WhoAsksHasTheNameThatThisMachineKnowsOrHisNumber) {
  EXPECT_EQ(attribution_with("").value().by, "root");
  EXPECT_EQ(asker_name(http::Principal{.name = "uid 4294967294"}), "uid 4294967294");
  EXPECT_EQ(asker_name(http::Principal{.name = "uid"}), "uid");
  EXPECT_EQ(asker_name(http::Principal{.name = "uid 0x"}), "uid 0x");
  EXPECT_EQ(asker_name(http::Principal{.name = "token abc"}), "token abc");
}

class ActsTest : public ApiRig {
 protected:
  ActsTest() { is_operator_ = true; }  // uid 4711, whom no machine knows

  // by and note of the one line of that event, from wherever it was logged.
  std::string told(std::string_view event) {
    std::vector<testing::CapturingLog::Line> lines = heard_.lines_of(event);
    do_on_loop([&] {
      for (const auto& line : host_.log.lines_of(event)) lines.push_back(line);
    });
    if (lines.size() != 1) return std::to_string(lines.size()) + " lines";
    return lines[0].field("by") + ": " + lines[0].field("note");
  }
  // What is missing otherwise is asked of somebody with all rights.
  http::Response as_admin(std::string_view path, std::string body) {
    is_operator_ = false;
    auto answer = ask("POST", path, std::move(body));
    is_operator_ = true;
    return answer;
  }
};

TEST_F(ActsTest, EveryActTellsWhoAskedAndWhatHeSaid) {
  const std::string note = R"({"note":"why not"})";
  host_.runner.behave([](const RunSpec&) { return testing::Behaviour{.runs_for = Seconds(3600), .exit_code = 0}; });
  const auto started = ask("POST", "/api/v1/jobs/c/trigger", note);
  ASSERT_EQ(started.status, 200) << started.body;
  EXPECT_EQ(told("run_requested"), "uid 4711: why not");
  const std::string run = *parse_json(started.body).value().find("runId")->as<std::string>();
  EXPECT_EQ(ask("POST", "/api/v1/runs/" + run + "/terminate", note).status, 200);
  EXPECT_EQ(told("run_signalled"), "uid 4711: why not");
  EXPECT_EQ(ask("POST", "/api/v1/reload", note).status, 200);
  EXPECT_EQ(told("reload_requested"), "uid 4711: why not");
  EXPECT_EQ(as_admin("/api/v1/state/d/reset", note).status, 200);
  EXPECT_EQ(told("reset_requested"),
            asker_name(http::Principal{.name = "uid " + std::to_string(::geteuid())}) + ": why not");
  ASSERT_EQ(ask("POST", "/api/v1/tasks", R"({"taskId":"t","payload":{"type":"MAIL"}})").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/tasks/t/cancel", note).status, 200);
  EXPECT_EQ(told("task_cancelled"), "uid 4711: why not");
  EXPECT_EQ(ask("POST", "/api/v1/tasks/t/retry", note).status, 200);
  EXPECT_EQ(told("task_retried"), "uid 4711: why not");
  EXPECT_EQ(ask("POST", "/api/v1/jobs/d/pause", note).status, 200);
  EXPECT_EQ(told("job_paused"), "uid 4711: why not");
  EXPECT_EQ(ask("POST", "/api/v1/jobs/d/resume", note).status, 200);
  EXPECT_EQ(told("job_resumed"), "uid 4711: why not");
}

TEST_F(ActsTest, APauseSaysWhoAskedForItUntilItEnds) {
  const auto paused = ask("POST", "/api/v1/jobs/c/pause", R"({"note":"disk is full"})");
  const std::string shown = R"("by":"uid 4711","note":"disk is full"})";
  EXPECT_THAT(paused.body, HasSubstr(shown));
  EXPECT_THAT(ask("GET", "/api/v1/jobs/c").body, HasSubstr(shown));
  EXPECT_THAT(ask("GET", "/api/v1/jobs").body, HasSubstr(shown));
  EXPECT_THAT(ask("POST", "/api/v1/jobs/c/pause", "{}").body, Not(HasSubstr("note"))) << "the last word counts";
  EXPECT_THAT(ask("POST", "/api/v1/jobs/c/resume").body, HasSubstr(R"("paused":null)"));
}

TEST_F(ActsTest, ANoteThatIsTooLongIsRefusedAndNothingIsDone) {
  const std::string body = R"({"note":")" + std::string(kMostNoteBytes + 1, 'x') + R"("})";
  for (const char* path : {"/api/v1/jobs/c/trigger", "/api/v1/jobs/c/pause", "/api/v1/jobs/c/resume", "/api/v1/reload",
                           "/api/v1/runs/00000000000000000000000000000000/kill", "/api/v1/tasks/t/cancel",
                           "/api/v1/runs/00000000000000000000000000000000/terminate", "/api/v1/tasks/t/retry"}) {
    const auto answer = ask("POST", path, body);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_THAT(answer.body, HasSubstr(R"("field":"note")")) << path;
  }
  do_on_loop([this] { EXPECT_EQ(host_.scheduler->active_runs(), 0U); });
  EXPECT_EQ(told("job_paused"), "0 lines");
}

}  // namespace
}  // namespace kron::api
