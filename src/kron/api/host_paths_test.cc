#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/api/operations.h"
#include "kron/json/document.h"

// What the host says of itself: status, health, load, reload, events.
namespace kron::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::utc;

class HostPathsTest : public ApiRig {
 protected:
  Node status(const char* query = "") {
    return parse_json(ask("GET", std::string("/api/v1/status") + query).body).value();
  }
  void say(const std::function<void(DaemonStatus&)>& change) {
    do_on_loop([&] { change(status_); });
  }
};

TEST_F(HostPathsTest, TheStatusHasEveryMember) {
  say([](DaemonStatus& status) {
    status.started_at = utc("2026-02-01T00:00:00Z");
    status.clock_offset = std::chrono::milliseconds(1500);
    status.next_due = utc("2026-03-01T12:00:00Z");
    status.running = 2;
    status.config = {"/etc/krond.d", "/srv/more"};
    status.not_scheduled = {{"a", "its record is damaged"}};
    status.slots = {{{"", 8, 2, 0}, ""}, {{"db", 4, 4, 3, utc("2026-02-28T23:00:00Z")}, "report"}};
  });
  const std::string body = ask("GET", "/api/v1/status").body;
  for (const char* member :
       {R"("version":"1.0")", R"("startedAt":"2026-02-01T00:00:00Z")", R"("now":"2026-03-01T00:00:00Z")",
        R"("clockOffsetSeconds":1.5)", R"("ready":true)", R"("stopping":false)", R"("jobs":3)", R"("running":2)",
        R"("nextDue":"2026-03-01T12:00:00Z")", R"("stateDirectory":"/state")",
        R"("config":["/etc/krond.d","/srv/more"])", R"("socket":"/sock")",
        R"("notScheduled":[{"identity":"a","reason":"its record is damaged"}])", R"("tasks":{"pending":0,"running":0})",
        R"("eventStreams":0)",
        R"("slots":[{"slots":8,"used":2,"waiting":0},{"pool":"db","slots":4,"used":4,"waiting":3,)"
        R"("waitingSince":"2026-02-28T23:00:00Z","longest":"report"}])"}) {
    EXPECT_THAT(body, HasSubstr(member));
  }
  EXPECT_THAT(body, Not(HasSubstr("cluster")));
}

TEST_F(HostPathsTest, NothingDueIsNull) {
  say([](DaemonStatus& status) { status.next_due.reset(); });
  EXPECT_TRUE(status().find("nextDue")->is_null());
}

TEST_F(HostPathsTest, OnlyWhoAsksForTheChangesOfFilesHasThemLookedFor) {
  std::atomic<int> looks = 0;
  say([&](DaemonStatus& status) {
    status.job_files.read_at = utc("2026-03-01T00:00:00Z");
    status.job_files.changes = [&looks] {
      ++looks;
      return std::vector<FileChange>{{"a.kron", FileChange::How::removed}};
    };
  });
  EXPECT_TRUE(status().find("jobFiles")->find("changed")->is_null());
  EXPECT_EQ(looks, 0);
  const std::string body = ask("GET", "/api/v1/status?changes=true").body;
  EXPECT_THAT(body, AllOf(HasSubstr(R"("file":"a.kron")"), HasSubstr(R"("change":"removed")")));
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(ask("GET", "/api/v1/status?changes=maybe").status, 400);
}

TEST_F(HostPathsTest, WhyItIsNotReadyIsTheWorstThatIsKnown) {
  const auto ready = [&] { return ask("GET", "/readyz"); };
  EXPECT_EQ(ready().status, 200);
  say([](DaemonStatus& status) { status.is_ready = false; });
  EXPECT_EQ(ready().body, "the jobs are not loaded yet\n");
  say([](DaemonStatus& status) { status.cluster = ClusterStatus{.why_not_ready = "Redis does not answer"}; });
  EXPECT_EQ(ready().body, "Redis does not answer\n");
  say([](DaemonStatus& status) { status.is_stopping = true; });
  EXPECT_EQ(ready().body, "about to end\n");
  say([](DaemonStatus& status) { status.broken = Error{Code::io, "the disk is gone"}; });
  EXPECT_EQ(ready().body, "the disk is gone\n");
  EXPECT_EQ(ready().status, 503);
  EXPECT_EQ(ask("GET", "/healthz").status, 200) << "it is alive all the same";
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("kron_ready 0"));
}

TEST_F(HostPathsTest, AReloadTellsWhatItKeptAndWhatIsWrong) {
  jobs::Problem error;
  error.severity = jobs::Severity::error;
  error.file = "/etc/krond.d/bad.kron";
  error.at = {3, 7};
  error.field = "schedule";
  error.message = "no such hour";
  error.cure = "use 0 to 23";
  jobs::Problem warning;
  warning.severity = jobs::Severity::warning;
  warning.file = "x";
  warning.message = "twice";
  reload_ = ReloadReport{.jobs = 5, .kept_files = {error.file}, .problems = {error, warning}};
  const auto answer = ask("POST", "/api/v1/reload");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(
      answer.body,
      R"({"jobs":5,"keptFiles":["/etc/krond.d/bad.kron"],"problems":[{"file":"/etc/krond.d/bad.kron","line":3,)"
      R"("column":7,"severity":"error","field":"schedule","message":"no such hour; use 0 to 23"},)"
      R"({"file":"x","line":0,"column":0,"severity":"warning","message":"twice"}],"added":[],"addedCount":0,"changed":[],"changedCount":0,)"
      R"("removed":[],"removedCount":0,"dryRun":false})");
}

TEST_F(HostPathsTest, AReloadThatFailsHasTheStatusOfItsError) {
  const std::pair<Code, int> cases[] = {
      {Code::unreadable, 400}, {Code::io, 500}, {Code::unreachable, 503}, {Code::conflict, 409}};
  for (const auto& [code, status] : cases) {
    do_on_loop([this, code = code] { reload_ = fail(code, "because"); });
    const auto answer = ask("POST", "/api/v1/reload");
    EXPECT_EQ(answer.status, status);
    EXPECT_THAT(answer.body, HasSubstr("because"));
  }
}

TEST_F(HostPathsTest, TheLoadHasItsLimits) {
  const std::pair<const char*, int> cases[] = {
      {"", 200},
      {"?from=2026-03-01T00:00:00Z&for=1d&step=1h", 200},
      {"?for=0s", 400},
      {"?step=0s", 400},
      {"?step=1s&for=3650d", 400},
      {"?from=noon", 400},
      {"?for=x", 400},
      {"?step=x", 400},
  };
  for (const auto& [query, status] : cases) {
    EXPECT_EQ(ask("GET", std::string("/api/v1/load") + query).status, status) << query;
  }
}

TEST_F(HostPathsTest, TheLoadTellsWhatHappenedInTheStepsThatHaveBegun) {
  const auto actual = [this](const char* query) {
    const std::string body = ask("GET", std::string("/api/v1/load?step=1h&for=4h&from=") + query).body;
    return body.substr(body.find(R"("actual":)"));
  };
  const Instant at = utc("2026-02-28T22:30:00Z");
  history_->add({.job = "c", .outcome = Outcome::executed, .run_id = "0123456789abcdef", .started_at = at});
  EXPECT_EQ(actual("2026-02-28T22:00:00Z"), R"("actual":[1,0,0]})") << "the third begins now";
  EXPECT_EQ(actual("2026-02-28T10:00:00Z"), R"("actual":[0,0,0,0]})");
  EXPECT_EQ(actual("2026-03-01T00:00:01Z"), R"("actual":[]})");
}

TEST_F(HostPathsTest, EventsBeginBehindTheNumberThatIsNamed) {
  EXPECT_EQ(ask("HEAD", "/api/v1/events").status, 200);
  for (const char* bad : {"x", "", "-1", "1.5", "99999999999999999999999"}) {
    EXPECT_EQ(ask("HEAD", std::string("/api/v1/events?after=") + bad).status, 400) << bad;
    EXPECT_EQ(ask("HEAD", "/api/v1/events", "", {{"Last-Event-ID", bad}}).status, 400) << bad;
  }
  const auto head = ask("HEAD", "/api/v1/events", "", {{"Last-Event-ID", "17"}});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("kron-role"), "admin") << "what a front gathers readers by";
  EXPECT_TRUE(head.header("last-event-id"));
}

TEST_F(HostPathsTest, TheStatusOfAClusterHasEveryMember) {
  say([](DaemonStatus& status) {
    status.cluster = ClusterStatus{
        .redis = "redis://db:6379",
        .name_space = "{k}",
        .host = "h",
        .instance = "h-1",
        .compat = "kron",
        .timezone = "UTC",
        .link_up = true,
        .is_draining = true,
        .clock_offset = 0.25,
        .warnings = {{.is_error = true, .message = "no persistence"}, {.is_error = false, .message = "old"}},
        .hosts = {{.instance = "h-2", .host = "h2", .ip = "10.0.0.2", .version = "1", .compat = "kron", .runs = 4}},
        .reconnects = 3,
        .lost_writes = 1,
        .answers = {{"ok", 5}}};
  });
  const std::string body = ask("GET", "/api/v1/status").body;
  for (const char* member :
       {R"("cluster":{"redis":"redis://db:6379","namespace":"{k}","host":"h","instance":"h-1","compat":"kron")",
        R"("timezone":"UTC")", R"("linkUp":true)", R"("draining":true)", R"("clockOffsetSeconds":0.25)",
        R"("reconnects":3,"lostWrites":1)",
        R"("warnings":[{"severity":"error","message":"no persistence"},{"severity":"warning","message":"old"}])",
        R"("hosts":[{"instance":"h-2","host":"h2","ip":"10.0.0.2","version":"1","compat":"kron")"}) {
    EXPECT_THAT(body, HasSubstr(member));
  }
  EXPECT_THAT(body, HasSubstr(R"("running":4)"));
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_THAT(metrics, AllOf(HasSubstr("kron_cluster_link_up 1\n"), HasSubstr("h-2")));
}

TEST_F(HostPathsTest, OperationsThatAreMissingAreTheSchedulers) {
  do_on_loop([this] {
    bool is_told = false;
    Operations own;
    own.kill = [&](const std::string&, const Attribution&, const Operations::Done& done) {
      is_told = true;
      done({});
    };
    const Operations all = completed(std::move(own), *host_.scheduler);
    Status answer = fail(Code::internal, "none yet");
    const auto take = [&](const Status& status) { answer = status; };
    all.kill("x", {}, take);
    EXPECT_TRUE(is_told && answer);
    all.terminate("x", {}, take);
    EXPECT_EQ(answer.error().code, Code::not_found);
    all.pause("nobody", {}, {}, take);
    EXPECT_EQ(answer.error().code, Code::not_found);
    all.resume("c", false, {}, take);
    EXPECT_TRUE(answer);
    Result<Scheduler::Triggered> started = fail(Code::internal, "none yet");
    all.trigger("c", "", {}, [&](const auto& triggered) { started = triggered; });
    EXPECT_TRUE(started);
  });
}

}  // namespace
}  // namespace kron::api
