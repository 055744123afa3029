#include "kron/api/api.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <set>
#include <thread>
#include <unistd.h>

#include "kron/api/fake/api_rig.h"
#include "kron/api/paths.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/mailbox.h"
#include "kron/env/real_file_system.h"
#include "kron/env/work_thread.h"
#include "kron/http/client.h"
#include "kron/http/server.h"
#include "kron/json/document.h"
#include "kron/queue/file_queue.h"
#include "kron/scheduler/fake/host.h"

namespace kron::api {
namespace {

using ::testing::HasSubstr;
using testing::Host;
using ::testing::Not;
using testing::utc;

class ApiTest : public ApiRig {
 protected:
  ApiTest()
      : ApiRig({.has_run = [](const history::Entry& run) { return run.host == "h2"; },
                .output = [this](const std::string& run_id,
                                 std::size_t first) { return output_elsewhere(run_id, first); }}) {}
  ~ApiTest() override { stop(); }

  // Of a run of another host, one line at a time; that of `d` goes on as long as the test wants.
  Result<OtherHosts::Output> output_elsewhere(const std::string& run_id, std::size_t first) const {
    if (run_id == std::string(32, 'b')) return fail(Code::not_found, "kept no longer");
    if (run_id != std::string(32, 'd')) {
      return OtherHosts::Output{.text = first == 0 ? "from Redis\n" : "", .next = 1, .is_over = true};
    }
    if (redis_is_away_.exchange(false)) return fail(Code::unreachable, "ask again");
    const bool is_over = elsewhere_is_over_;
    const std::size_t lines = elsewhere_lines_;
    OtherHosts::Output output{.next = first, .is_over = is_over};
    if (first < lines) output.text = "line " + std::to_string(output.next++) + "\n";
    output.has_more = output.next < lines;
    return output;
  }

  std::atomic<std::size_t> elsewhere_lines_ = 0;
  std::atomic<bool> elsewhere_is_over_ = false;
  mutable std::atomic<bool> redis_is_away_ = false;
};

std::string lower_method(std::string_view method) {
  std::string text(method);
  for (char& c : text) c = static_cast<char>(c | 0x20);
  return text;
}

TEST_F(ApiTest, TheDocumentListsEveryRouteWithItsParametersAndNoOther) {
  const Node document = parse_json(openapi_document()).value();
  std::map<std::string, std::set<std::string>> described;
  for (const Node::Member& path : *document.find("paths")->as<Node::Map>()) {
    for (const Node::Member& method : *path.value.as<Node::Map>()) {
      std::set<std::string>& names = described[method.key + " " + path.key];
      const Node* parameters = method.value.find("parameters");
      if (parameters == nullptr) continue;
      for (const Node& parameter : *parameters->as<Node::List>()) {
        if (*parameter.find("in")->as<std::string>() == "query")
          names.insert(*parameter.find("name")->as<std::string>());
      }
    }
  }
  std::map<std::string, std::set<std::string>> real;
  for (const Route& route : api_->routes()) {
    real[lower_method(route.method) + " " + std::string(route.pattern)] = {route.parameters.begin(),
                                                                           route.parameters.end()};
  }
  EXPECT_EQ(described, real);
}

TEST_F(ApiTest, ListsJobsPageByPageAndByFilter) {
  const Node first = parse_json(ask("GET", "/api/v1/jobs?limit=2").body).value();
  EXPECT_EQ(first.find("jobs")->as<Node::List>()->size(), 2U);
  const std::string next = *first.find("next")->as<std::string>();
  const Node second = parse_json(ask("GET", "/api/v1/jobs?limit=2&after=" + next).body).value();
  EXPECT_EQ(second.find("jobs")->as<Node::List>()->size(), 1U);
  EXPECT_EQ(second.find("next"), nullptr);
  EXPECT_THAT(ask("GET", "/api/v1/jobs?prefix=a/").body, HasSubstr(R"("identity":"a/b")"));
  EXPECT_EQ(ask("GET", "/api/v1/jobs?match=zzz").body, R"({"jobs":[]})");
  EXPECT_EQ(ask("GET", "/api/v1/jobs?state=paused").body, R"({"jobs":[]})");
}

TEST_F(ApiTest, ANameIsOneSegmentHoweverManySlashesItHas) {
  EXPECT_THAT(ask("GET", "/api/v1/jobs/a%2Fb").body, HasSubstr(R"("command":"echo a/b")"));
  EXPECT_EQ(ask("GET", "/api/v1/jobs/a/b").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/nobody").status, 404);
}

TEST_F(ApiTest, PausesAndResumes) {
  EXPECT_THAT(ask("POST", "/api/v1/jobs/c/pause", R"({"until":"2026-03-02T00:00:00Z"})").body,
              HasSubstr(R"("until":"2026-03-02T00:00:00Z")"));
  EXPECT_THAT(ask("GET", "/api/v1/jobs?state=paused").body, HasSubstr(R"("identity":"c")"));
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/pause", R"({"until":"2025-03-02T00:00:00Z"})").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/pause", R"({"until":"2200-01-01T00:00:00Z"})").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/pause", R"({"for":"1h"})").status, 400);
  EXPECT_THAT(ask("POST", "/api/v1/jobs/c/resume").body, HasSubstr(R"("paused":null)"));
}

TEST_F(ApiTest, OneIdempotencyKeyTriggersOnce) {
  const auto first = ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", "k"}});
  EXPECT_THAT(first.body, HasSubstr(R"("outcome":"started")"));
  const auto again = ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", "k"}});
  EXPECT_THAT(again.body, HasSubstr(R"("outcome":"already_known")"));
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/trigger").status, 409) << "its policy forbids a second one";
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", std::string(201, 'k')}}).status, 400);
}

TEST_F(ApiTest, AnIdempotencyKeyThatIsEmptyIsRefusedAndStartsNothing) {
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", ""}}).status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", "  "}}).status, 400);
  do_on_loop([this] { EXPECT_EQ(host_.scheduler->active_runs(), 0U); });
}

TEST_F(ApiTest, ABodyWithAByteOrderMarkIsRefused) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::pair<const char*, const char*> requests[] = {
      {"/api/v1/tasks", R"({"taskId":"t","payload":{"type":"MAIL"}})"},
      {"/api/v1/tasks", R"({"taskId":"t","payload":{"type":"MAIL","data":{"to":1}}})"},
      {"/api/v1/leases", R"({"worker":"w"})"},
      {"/api/v1/leases/x.1/renew", R"({"token":1})"},
      {"/api/v1/leases/x.1/commit", R"({"token":1})"},
      {"/api/v1/jobs/c/pause", "{}"}};
  for (const auto& [path, body] : requests) {
    const auto answer = ask("POST", path, mark + body);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_THAT(answer.body, HasSubstr("byte order mark")) << path;
  }
  EXPECT_EQ(ask("GET", "/api/v1/tasks/t").status, 404) << "nothing of it was taken";
}

TEST_F(ApiTest, WhoSpeaksForAnotherMayWantFewerRights) {
  const auto with = [this](std::string most) {
    return ask("POST", "/api/v1/jobs/nobody/trigger", {}, {{"Kron-At-Most", std::move(most)}}).status;
  };
  EXPECT_EQ(with("admin"), 404) << "as far as it goes: there is no such job";
  EXPECT_EQ(with("operate"), 404);
  EXPECT_EQ(with("read"), 403);
  EXPECT_EQ(with("everything"), 403);
  EXPECT_EQ(ask("GET", "/api/v1/jobs", {}, {{"Kron-At-Most", "read"}}).status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/tasks/prune", {}, {{"Kron-At-Most", "operate"}}).status, 403);
  is_reader_ = true;
  for (const char* most : {"operate", "admin"}) EXPECT_EQ(with(most), 403) << "never more than he has";
}

TEST_F(ApiTest, ARightIsAskedForBeforeABodyIsRead) {
  const http::Request commit{.method = "POST",
                             .target = "",
                             .segments = {"api", "v1", "leases", "x.1", "commit"},
                             .principal = principal(reader())};
  const auto of_reader = api_->body_limit(commit);
  ASSERT_TRUE(std::holds_alternative<http::Response>(of_reader));
  EXPECT_EQ(std::get<http::Response>(of_reader).status, 403);
  http::Request by_root = commit;
  by_root.principal = principal({.uid = 0});
  EXPECT_GT(std::get<std::size_t>(api_->body_limit(by_root)), std::size_t{64} << 20U);
  http::Request by_nobody = commit;
  by_nobody.principal = {};
  EXPECT_TRUE(std::holds_alternative<http::Response>(api_->body_limit(by_nobody)));
}

TEST_F(ApiTest, OnlyWhoAdministersSeesTheValuesOfTheEnvironmentAndStandardInput) {
  jobs::JobDefinition secret = noon_job("secret");
  jobs::RunOptions options = *secret.options;
  options.env = {{"DB_PASSWORD", "hunter2"}, {"LANG", "C"}};
  options.input = "hunter2";
  options.ping = "https://hc.example/hunter2";
  secret.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  do_on_loop([&] { ASSERT_TRUE(host_.reload({secret})); });
  EXPECT_THAT(ask("GET", "/api/v1/jobs/secret").body, HasSubstr(R"("env":{"DB_PASSWORD":"hunter2","LANG":"C"})"));
  EXPECT_THAT(ask("GET", "/api/v1/jobs/secret").body, HasSubstr(R"("stdin":"hunter2")"));
  EXPECT_THAT(ask("GET", "/api/v1/jobs/secret").body, HasSubstr(R"("ping":"https://hc.example/hunter2")"));
  const auto check_that_it_is_hidden = [this](const http::Fields& headers) {
    const std::string job = ask("GET", "/api/v1/jobs/secret", {}, headers).body;
    EXPECT_THAT(job, HasSubstr(R"("env":{"DB_PASSWORD":null,"LANG":null})"));
    EXPECT_THAT(job, HasSubstr(R"("stdin":null)"));
    EXPECT_THAT(job, HasSubstr(R"("ping":null)"));
    for (const char* path : {"/api/v1/jobs", "/api/v1/jobs/secret", "/api/v1/jobs/secret/decisions"}) {
      EXPECT_THAT(ask("GET", path, {}, headers).body, Not(HasSubstr("hunter2"))) << path;
    }
  };
  check_that_it_is_hidden({{"Kron-At-Most", "operate"}});
  is_operator_ = true;
  check_that_it_is_hidden({});
  is_operator_ = false;
  is_reader_ = true;
  check_that_it_is_hidden({});
}

TEST_F(ApiTest, ALongListTakesManyTurnsOfTheLoop) {
  std::vector<jobs::JobDefinition> many;
  for (std::size_t i = 0; i < 4 * kLooksAtOnce; ++i) many.push_back(noon_job("job-" + std::to_string(i)));
  do_on_loop([&] { ASSERT_TRUE(host_.reload(many)); });
  int before = loop_->items();
  EXPECT_EQ(ask("GET", "/api/v1/jobs?match=zzz").body, R"({"jobs":[]})");
  EXPECT_GE(loop_->items() - before, 4);
  before = loop_->items();
  EXPECT_EQ(ask("GET", "/api/v1/load").status, 200);
  EXPECT_GE(loop_->items() - before, 4);
}

// A run that the scheduler has begun, and that the history knows.
history::Entry running(const std::string& run_id) {
  return {.job = "c",
          .outcome = Outcome::executed,
          .trigger = Trigger::manual,
          .run_id = run_id,
          .started_at = utc("2026-03-01T00:00:00Z")};
}

TEST_F(ApiTest, OneWhoWaitsForARunIsAnsweredWhenItEnds) {
  const Node triggered = parse_json(ask("POST", "/api/v1/jobs/c/trigger").body).value();
  const std::string run_id = *triggered.find("runId")->as<std::string>();
  history_->add(running(run_id));
  EXPECT_THAT(ask("GET", "/api/v1/runs/" + run_id).body, HasSubstr(R"("state":"running")"));
  EXPECT_THAT(ask("GET", "/api/v1/runs/" + run_id + "?wait=20ms").body, HasSubstr(R"("state":"running")"))
      << "its time is over";
  auto waiting = std::async(std::launch::async, [&] { return ask("GET", "/api/v1/runs/" + run_id + "?wait=20s"); });
  history::Entry ended = running(run_id);
  ended.ended_at = utc("2026-03-01T00:00:05Z");
  ended.exit_code = 3;
  history_->add(ended);
  outputs_->run_ended(run_id);
  EXPECT_THAT(waiting.get().body, HasSubstr(R"("exitCode":3)"));
  EXPECT_EQ(ask("GET", "/api/v1/runs/" + run_id + "?wait=61s").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/runs/nobody?wait=20s").status, 404);
}

TEST_F(ApiTest, OneWhoWaitsForARunThatWasDroppedIsAnsweredAtOnce) {
  history::Entry dropped = running("0123456789abcdef");
  dropped.outcome = Outcome::skipped;
  dropped.reason = Reason::concurrency_forbid;
  dropped.started_at.reset();
  history_->add(dropped);
  EXPECT_THAT(ask("GET", "/api/v1/runs/0123456789abcdef?wait=20s").body, HasSubstr(R"("outcome":"skipped")"));
}

TEST_F(ApiTest, AnOutputThatCannotBeReadToItsEndDoesNotLookWhole) {
  history::Entry ended = running("0123456789abcdef");
  ended.ended_at = ended.started_at;
  ended.output_bytes = 20 << 20;
  history_->add(ended);
  const std::filesystem::path output = std::filesystem::path(run_files_.path()) / ended.run_id / "output";
  std::filesystem::create_directories(output.parent_path());
  std::ofstream(output) << std::string(ended.output_bytes, 'x');
  http::Client client(socket());
  std::size_t size = 0;
  const Status read = client.stream("/api/v1/runs/" + ended.run_id + "/output", {}, [&](std::string_view bytes) {
    if (size == 0) std::filesystem::resize_file(output, 0);
    size += bytes.size();
    return true;
  });
  EXPECT_FALSE(read);
  EXPECT_LT(size, ended.output_bytes);
}

TEST_F(ApiTest, DecidesWithoutTheLoop) {
  const Node answer = parse_json(ask("GET", "/api/v1/jobs/c/decisions?from=2026-05-01T00:00:00Z&count=2").body).value();
  const auto& decisions = *answer.find("decisions")->as<Node::List>();
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_EQ(*decisions[1].find("periodId")->as<std::string>(), "2026-05-02T12:00:00Z");
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/decisions?count=0").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/decisions?from=yesterday").status, 400);
}

TEST_F(ApiTest, TheOutputOfAnotherHostsRunComesFromTheCluster) {
  const std::string here(32, 'a');
  const std::string gone(32, 'b');
  history_->add(
      {.job = "c", .outcome = Outcome::executed, .run_id = here, .host = "h2", .started_at = now(host_.clock)});
  history_->add(
      {.job = "c", .outcome = Outcome::executed, .run_id = gone, .host = "h2", .started_at = now(host_.clock)});
  EXPECT_EQ(ask("GET", "/api/v1/runs/" + here + "/output").body, "from Redis\n");
  EXPECT_EQ(ask("GET", "/api/v1/runs/" + gone + "/output").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/runs/" + gone + "/output?follow=true").status, 404);
  EXPECT_THAT(ask("GET", "/api/v1/runs/" + here).body, HasSubstr(R"("host":"h2")"));
}

TEST_F(ApiTest, TheOutputOfAnotherHostsRunIsFollowedUntilItEnds) {
  const std::string run_id(32, 'd');
  history_->add(
      {.job = "c", .outcome = Outcome::executed, .run_id = run_id, .host = "h2", .started_at = now(host_.clock)});
  elsewhere_lines_ = 2;
  std::mutex mutex;
  std::condition_variable came;
  std::string text;
  auto followed = std::async(std::launch::async, [&] {
    http::Client client(socket());
    return client.stream("/api/v1/runs/" + run_id + "/output?follow=true", {}, [&](std::string_view bytes) {
      const std::lock_guard lock(mutex);
      text += bytes;
      came.notify_all();
      return true;
    });
  });
  const auto wait_for = [&](const std::string& wanted) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(came.wait_for(lock, std::chrono::seconds(60), [&] { return text == wanted; })) << text;
  };
  wait_for("line 0\nline 1\n");
  redis_is_away_ = true;
  elsewhere_lines_ = 3;
  wait_for("line 0\nline 1\nline 2\n");
  EXPECT_EQ(followed.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  elsewhere_lines_ = 4;
  elsewhere_is_over_ = true;
  EXPECT_TRUE(followed.get());
  EXPECT_EQ(text, "line 0\nline 1\nline 2\nline 3\n");
}

TEST_F(ApiTest, OneWhoWaitsForARunOfAnotherHostIsAnsweredWhenItEnds) {
  const std::string run_id(32, 'c');
  history_->add(
      {.job = "c", .outcome = Outcome::executed, .run_id = run_id, .host = "h2", .started_at = now(host_.clock)});
  auto answer = std::async(std::launch::async, [&] { return ask("GET", "/api/v1/runs/" + run_id + "?wait=60s"); });
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  history_->add({.job = "c", .run_id = run_id, .host = "h2", .ended_at = now(host_.clock), .exit_code = 3});
  history_->flush();
  outputs_->run_ended(run_id);
  EXPECT_THAT(answer.get().body, HasSubstr(R"("exitCode":3)"));
}

TEST_F(ApiTest, AClusterThatIsAwayIsNotReadyAndSaysWhy) {
  status_.cluster =
      ClusterStatus{.redis = "redis://db:6379", .instance = "h1", .why_not_ready = "Redis does not answer"};
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  EXPECT_THAT(ask("GET", "/readyz").body, HasSubstr("Redis does not answer"));
  const std::string status = ask("GET", "/api/v1/status").body;
  EXPECT_THAT(status, HasSubstr(R"("ready":false)"));
  EXPECT_THAT(status, HasSubstr(R"("instance":"h1")"));
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("kron_cluster_link_up 0\n"));
}

TEST_F(ApiTest, TellsTheTruthAboutItsHealth) {
  EXPECT_EQ(ask("GET", "/healthz").body, "ok\n");
  EXPECT_EQ(ask("GET", "/readyz").body, "ready\n");
  do_on_loop([this] { status_.broken = Error{Code::io, "the disk failed"}; });
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  EXPECT_EQ(ask("GET", "/readyz").body, "the disk failed\n");
  EXPECT_THAT(ask("GET", "/api/v1/status").body, HasSubstr(R"("ready":false)"));
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("kron_jobs 3"));
}

TEST_F(ApiTest, RefusesWhatNoRouteKnows) {
  EXPECT_EQ(ask("GET", "/api/v2/jobs").status, 404);
  EXPECT_EQ(ask("DELETE", "/api/v1/jobs").status, 405);
  EXPECT_EQ(ask("GET", "/api/v1/jobs?limits=1").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/jobs", "body").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/reload", std::string(kUsualBody + 1, ' ')).status, 413);
  EXPECT_EQ(ask("GET", "/api/v1/runs/..%2F..%2Fetc/output").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/runs/nobody/output").status, 404);
  EXPECT_EQ(ask("POST", "/api/v1/runs/nobody/kill").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/load?step=0s").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/events?after=x").status, 400);
}

TEST_F(ApiTest, CarriesATaskFromItsSubmissionToItsCommit) {
  EXPECT_THAT(ask("POST", "/api/v1/tasks", R"({"taskId":"t","payload":{"type":"MAIL","data":{"to":1}}})").body,
              HasSubstr(R"({"taskId":"t","outcome":"accepted"})"));
  const Node leased = parse_json(ask("POST", "/api/v1/leases", R"({"worker":"w"})").body).value();
  const Node& lease = leased.find("leases")->as<Node::List>()->front();
  const std::string path = "/api/v1/leases/" + *lease.find("execId")->as<std::string>();
  const std::string token = std::to_string(*lease.find("token")->as<std::int64_t>());
  EXPECT_EQ(ask("POST", path + "/start", "{\"token\":" + token + "}").body, R"({"result":"accepted"})");
  EXPECT_EQ(ask("POST", path + "/renew", "{\"token\":" + token + "}").status, 200);
  const std::string commit =
      "{\"token\":" + token + R"(,"result":"ok","followUps":[{"taskId":"u","payload":{"type":"X"}}]})";
  EXPECT_THAT(ask("POST", path + "/commit", commit).body, HasSubstr(R"("result":"committed")"));
  const auto again = ask("POST", path + "/commit", commit);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.body, R"({"result":"duplicate"})");
  EXPECT_THAT(ask("GET", "/api/v1/tasks/t").body, HasSubstr(R"("outcome":"SUCCEEDED")"));
  EXPECT_THAT(ask("GET", "/api/v1/tasks?state=PENDING").body, HasSubstr(R"("taskId":"u")"));
  EXPECT_EQ(ask("POST", "/api/v1/tasks/t/cancel").status, 409);
  EXPECT_EQ(ask("POST", "/api/v1/tasks/u/cancel").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/tasks/u/retry").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/tasks/nobody/retry").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/tasks/..%2Fx").status, 404) << "an id that no task can have";
}

TEST_F(ApiTest, ACommitBringsTheNextLeasesWhenItAsksForThem) {
  ask("POST", "/api/v1/tasks",
      R"({"tasks":[{"taskId":"a","payload":{"type":"T"}},{"taskId":"b","payload":{"type":"T"}}]})");
  const auto lease_in = [](const http::Response& response) {
    const Node answer = parse_json(response.body).value();
    const Node::List& list = *answer.find("leases")->as<Node::List>();
    return list.empty() ? std::pair<std::string, std::string>()
                        : std::pair(*list[0].find("execId")->as<std::string>(),
                                    std::to_string(*list[0].find("token")->as<std::int64_t>()));
  };
  const auto commit = [&](const auto& lease, const std::string& then) {
    return ask("POST", "/api/v1/leases/" + lease.first + "/commit", "{\"token\":" + lease.second + then + "}");
  };
  const std::string then = R"(,"lease":{"worker":"w","start":true})";
  const auto first = lease_in(ask("POST", "/api/v1/leases", R"({"worker":"w","start":true})"));
  EXPECT_EQ(commit(first, R"(,"lease":{"worker":""})").status, 400) << "then nothing is committed either";
  const auto committed = commit(first, then);
  EXPECT_EQ(committed.status, 200);
  EXPECT_THAT(committed.body, HasSubstr(R"({"result":"committed","leases":[{"execId":"b.)"));
  const auto second = lease_in(committed);
  ask("POST", "/api/v1/tasks", R"({"taskId":"c","payload":{"type":"T"}})");
  const auto again = commit(first, then);
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.body, HasSubstr(R"({"result":"duplicate","leases":[{"execId":"c.)"));
  EXPECT_EQ(commit(second, then).body, R"({"result":"committed","leases":[]})") << "it does not wait";
  EXPECT_EQ(commit(lease_in(again), "").body, R"({"result":"committed"})");

  // Who is told that the commit cannot be has no leases to give back.
  ask("POST", "/api/v1/tasks", R"({"taskId":"d","payload":{"type":"T"}})");
  EXPECT_EQ(commit(std::pair<std::string, std::string>("nobody.1", "1"), then).status, 404);
  EXPECT_THAT(ask("GET", "/api/v1/tasks?state=PENDING").body, HasSubstr(R"("taskId":"d")"));
}

}  // namespace
}  // namespace kron::api
