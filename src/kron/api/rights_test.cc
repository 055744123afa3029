#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/json/document.h"

// Every path with every method, for everybody; and bodies that are none.
namespace kron::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The path of a pattern, with a name that nobody has.
std::string path_of(std::string_view pattern) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '{') {
      path += "nobody";
      at = pattern.find('}', at) + 1;
    } else {
      path += pattern[at++];
    }
  }
  return path;
}

// Whether krond lives, and the way to a session, are for anybody.
bool is_open(const Route& route) { return route.needs == Right::none; }

// What is tried is saved nowhere.
bool changes_nothing(const Route& route) { return route.method == "GET" || route.pattern == "/api/v1/try"; }

class RightsTest : public ApiRig {
 protected:
  // An event stream has no end; its head is enough.
  int status_of(const Route& route) {
    const bool has_no_end = route.pattern == "/api/v1/events";
    return ask(has_no_end ? "HEAD" : route.method, path_of(route.pattern)).status;
  }
  std::vector<const Route*> posts() const {
    std::vector<const Route*> found;
    for (const Route& route : api_->routes()) {
      if (route.method == "POST") found.push_back(&route);
    }
    return found;
  }
};

TEST_F(RightsTest, WhoHasNoRightIsRefusedEverywhere) {
  is_nobody_ = true;
  for (const Route& route : api_->routes()) {
    if (is_open(route)) continue;
    EXPECT_EQ(status_of(route), 403) << route.method << " " << route.pattern;
  }
}

TEST_F(RightsTest, AReaderMayLookAndNothingElse) {
  is_reader_ = true;
  for (const Route& route : api_->routes()) {
    const int status = status_of(route);
    if (is_open(route)) continue;
    if (changes_nothing(route) && route.needs != Right::own) {
      EXPECT_NE(status, 403) << route.pattern;
      EXPECT_LT(status, 500) << route.pattern;
    } else {
      EXPECT_EQ(status, 403) << route.method << " " << route.pattern;
    }
  }
  do_on_loop([this] { EXPECT_EQ(host_.scheduler->active_runs(), 0U); });
}

TEST_F(RightsTest, NothingThatChangesAnythingIsForReadersAndWhatForgetsIsForWhoAdministers) {
  for (const Route& route : api_->routes()) {
    const bool forgets = route.pattern.ends_with("/prune") || route.pattern.ends_with("/reset");
    const bool lets_in = route.pattern.starts_with("/api/v1/tokens") || route.pattern == "/api/v1/sessions";
    const bool is_open = route.pattern.ends_with("z") || route.pattern == "/api/v1/session";
    EXPECT_EQ(route.needs, lets_in                                   ? Right::own
                           : is_open                                 ? Right::none
                           : route.pattern == "/api/v1/upcoming.ics" ? Right::ics
                           : changes_nothing(route)                  ? Right::read
                           : forgets                                 ? Right::admin
                                                                     : Right::operate)
        << route.pattern;
  }
}

TEST_F(RightsTest, AnOperatorMayDoAllButMakeRecordsForget) {
  is_operator_ = true;
  for (const Route& route : api_->routes()) {
    const int status = status_of(route);
    EXPECT_EQ(status == 403, route.needs >= Right::admin) << route.method << " " << route.pattern;
  }
  EXPECT_THAT(ask("POST", "/api/v1/state/prune").body, HasSubstr("this user may operate; root and krond's own user"));
}

TEST_F(RightsTest, WhoAdministersIsNeverToldThatHeMayNot) {
  for (const Route& route : api_->routes()) {
    const int status = status_of(route);
    EXPECT_NE(status, 403) << route.method << " " << route.pattern;
    EXPECT_NE(status, 405) << route.method << " " << route.pattern;
    EXPECT_LT(status, 500) << route.method << " " << route.pattern;
  }
}

TEST_F(RightsTest, PagesOfOtherSitesAreRefusedEverywhere) {
  const http::Fields kForeign[] = {{{"Origin", "https://evil.example"}},
                                   {{"Origin", "null"}},
                                   {{"Sec-Fetch-Site", "cross-site"}},
                                   {{"Sec-Fetch-Site", "same-site"}}};
  for (const http::Fields& headers : kForeign) {
    for (const Route& route : api_->routes()) {
      const auto answer = ask(route.method, path_of(route.pattern), {}, headers);
      EXPECT_EQ(answer.status, 403) << route.method << " " << route.pattern;
      EXPECT_THAT(answer.body, HasSubstr("comes from another")) << route.pattern;
    }
    EXPECT_EQ(ask("POST", "/api/v1/jobs/c/trigger", {}, headers).status, 403);
    EXPECT_EQ(ask("POST", "/api/v1/tasks", "{}", headers).status, 403) << "before its body is looked at";
  }
  do_on_loop([this] { EXPECT_EQ(host_.scheduler->active_runs(), 0U) << "nothing was done"; });
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/trigger", {}, {{"Sec-Fetch-Site", "none"}}).status, 200);
}

TEST_F(RightsTest, AMethodThatAPathDoesNotKnowIsToldThoseItKnows) {
  for (const Route& route : api_->routes()) {
    const auto answer = ask("PATCH", path_of(route.pattern));
    EXPECT_EQ(answer.status, 405) << route.pattern;
    EXPECT_THAT(std::string(answer.header("allow").value_or("")), HasSubstr(route.method)) << route.pattern;
  }
}

TEST_F(RightsTest, HeadIsGetWithoutItsBody) {
  for (const char* path : {"/api/v1/status", "/api/v1/jobs", "/api/v1/jobs/c", "/healthz", "/readyz", "/metrics",
                           "/api/v1/openapi.json", "/api/v1/runs", "/api/v1/tasks", "/api/v1/state"}) {
    const auto answer = ask("HEAD", path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.body, "") << path;
  }
}

TEST_F(RightsTest, AParameterThatAPathDoesNotKnowIsRefusedEverywhere) {
  for (const Route& route : api_->routes()) {
    const auto answer = ask(route.method, path_of(route.pattern) + "?nobody=1");
    EXPECT_EQ(answer.status, 400) << route.pattern;
    EXPECT_THAT(answer.body, HasSubstr("there is no parameter")) << route.pattern;
  }
}

TEST_F(RightsTest, AGetHasNoBody) {
  for (const Route& route : api_->routes()) {
    if (route.method != "GET") continue;
    EXPECT_EQ(ask("GET", path_of(route.pattern), "{}").status, 400) << route.pattern;
  }
}

TEST_F(RightsTest, ABodyMayBeAsLargeAsItsRouteSaysAndNotAByteMore) {
  for (const Route* route : posts()) {
    if (route->most_body > (std::size_t{1} << 22U)) continue;  // those of staged output take too long
    const std::string path = path_of(route->pattern);
    EXPECT_NE(ask("POST", path, std::string(route->most_body, ' ')).status, 413) << path;
    const auto answer = ask("POST", path, std::string(route->most_body + 1, ' '));
    EXPECT_EQ(answer.status, 413) << path;
  }
}

TEST_F(RightsTest, ABodyThatIsReadIsAnObjectThatIsKnown) {
  const char* const kBodies[] = {"[]",  "3",    "null",    "\"x\"",         "{", "{\"a\":1,\"a\":2}",
                                 "{}x", "true", "{'a':1}", "{\"nobody\":1}"};
  for (const char* path : {"/api/v1/jobs/c/pause", "/api/v1/jobs/c/resume", "/api/v1/jobs/c/trigger", "/api/v1/reload",
                           "/api/v1/runs/x/terminate", "/api/v1/runs/x/kill", "/api/v1/tasks/t/cancel",
                           "/api/v1/state/c/reset", "/api/v1/state/prune", "/api/v1/tasks", "/api/v1/tasks/t/retry",
                           "/api/v1/tasks/prune", "/api/v1/leases", "/api/v1/leases/x.1/start",
                           "/api/v1/leases/x.1/renew", "/api/v1/leases/x.1/commit", "/api/v1/leases/x.1/fail"}) {
    for (const char* body : kBodies) {
      const auto answer = ask("POST", path, body);
      EXPECT_EQ(answer.status, 400) << path << " " << body;
      EXPECT_EQ(answer.content_type, "application/problem+json") << path << " " << body;
    }
  }
  EXPECT_EQ(ask("GET", "/api/v1/jobs?state=paused").body, R"({"jobs":[]})") << "nothing was done";
}

TEST_F(RightsTest, ADocumentThatIsTooDeepIsRefused) {
  const std::string deep = "{\"until\":" + std::string(10'000, '[') + std::string(10'000, ']') + "}";
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/pause", deep).status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/tasks", deep).status, 400);
}

TEST_F(RightsTest, AProblemNamesTheMemberThatIsMeant) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"/api/v1/jobs/c/pause", R"({"until":3})", "until"},
      {"/api/v1/jobs/c/pause", R"({"until":"soon"})", "until"},
      {"/api/v1/jobs/c/pause", R"({"skipMissed":"yes"})", "skipMissed"},
      {"/api/v1/jobs/c/resume", R"({"until":"2026-03-02T00:00:00Z"})", "until"},
      {"/api/v1/state/prune", R"({"dryRun":1})", "dryRun"},
      {"/api/v1/tasks/t/retry", R"({"attempts":1001})", "attempts"},
      {"/api/v1/tasks/prune", R"({"olderThan":"x"})", "olderThan"},
      {"/api/v1/leases", R"({"worker":"w","n":1001})", "n"},
      {"/api/v1/leases", R"({"worker":"w","wait":"61s"})", "wait"},
      {"/api/v1/leases/x.1/start", R"({"token":-1})", "token"},
      {"/api/v1/leases/x.1/fail", R"({"token":1,"counts":3})", "counts"},
  };
  for (const auto& [path, body, field] : cases) {
    const Node problem = parse_json(ask("POST", path, body).body).value();
    EXPECT_EQ(*problem.find("status")->as<std::int64_t>(), 400) << path << body;
    ASSERT_NE(problem.find("field"), nullptr) << path << body;
    EXPECT_EQ(*problem.find("field")->as<std::string>(), field) << path;
  }
}

TEST_F(RightsTest, EveryAnswerIsCountedByItsRouteAndStatus) {
  ask("GET", "/api/v1/jobs/nobody");
  ask("GET", "/api/v1/nowhere");
  is_reader_ = true;
  ask("POST", "/api/v1/jobs/c/trigger");
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr(R"(route="GET /api/v1/jobs/{name}",status="404")"));
  EXPECT_THAT(metrics, HasSubstr(R"(route="none",status="404")"));
  EXPECT_THAT(metrics, HasSubstr(R"(route="POST /api/v1/jobs/{name}/trigger",status="403")"));
  EXPECT_THAT(metrics, Not(HasSubstr("nowhere"))) << "what strangers type is no label";
}

}  // namespace
}  // namespace kron::api
