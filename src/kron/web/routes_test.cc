#include "kron/web/routes.h"

#include <gmock/gmock.h>

#include "kron/http/target.h"

namespace kron::web {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string pattern_of(const std::string& method, const std::string& target) {
  const WebRoute* route = web_route_of(method, http::parse_target(target).value().segments);
  return route == nullptr ? "" : std::string(route->pattern);
}

TEST(WebRoutes, AreAFixedList) {
  EXPECT_EQ(pattern_of("GET", "/api/v1/jobs"), "/api/v1/jobs");
  EXPECT_EQ(pattern_of("GET", "/api/v1/jobs/team%2Fx"), "/api/v1/jobs/{name}");
  EXPECT_EQ(pattern_of("POST", "/api/v1/jobs/pause"), "/api/v1/jobs/pause");
  EXPECT_EQ(pattern_of("GET", "/api/v1/tasks/summary"), "/api/v1/tasks/summary");
  for (const auto& [method, target] :
       std::vector<std::pair<std::string, std::string>>{{"POST", "/api/v1/leases"},
                                                        {"POST", "/api/v1/leases/x/commit"},
                                                        {"POST", "/api/v1/tasks"},
                                                        {"POST", "/api/v1/jobs"},
                                                        {"DELETE", "/api/v1/jobs/x"},
                                                        {"PUT", "/api/v1/jobs/x/trigger"},
                                                        {"GET", "/api/v1/jobs/x/trigger"},
                                                        {"GET", "/api/v1/jobs/"},
                                                        {"GET", "/api/v1/jobs//decisions"},
                                                        {"GET", "/api/v1/access"},
                                                        {"POST", "/api/v1/tokens"},
                                                        {"GET", "/metrics"},
                                                        {"GET", "/"},
                                                        {"GET", "/api/v2/jobs"},
                                                        {"GET", "/api/v1/jobs/a/b"}}) {
    EXPECT_EQ(pattern_of(method, target), "") << method << " " << target;
  }
}

TEST(WebRoutes, WhatReadsNeedsNoMoreAndWhatChangesDoes) {
  for (const WebRoute& route : web_routes()) {
    const bool is_try = route.pattern == "/api/v1/try";
    const bool is_free = route.method == "GET" || is_try;
    EXPECT_TRUE(is_free || route.needs >= Role::operate) << route.pattern;
    EXPECT_TRUE(route.method == "GET" || route.method == "POST") << route.pattern;
  }
}

TEST(WebRoutes, KrondGetsWhatWasUnderstoodAndAFewHeaders) {
  auto target = http::parse_target("/api/v1/jobs/te%61m%2Fx%20y/decisions?from=a%26b&count=+3").value();
  const auto outgoing = outgoing_of({.method = "GET",
                                     .target = "whatever",
                                     .segments = target.segments,
                                     .query = target.query,
                                     .headers = {{"host", "127.0.0.1"},
                                                 {"authorization", "Bearer secret"},
                                                 {"cookie", "a=b"},
                                                 {"origin", "http://127.0.0.1"},
                                                 {"x-anything", "z"},
                                                 {"transfer-encoding", "chunked"},
                                                 {"range", "bytes=0-9"},
                                                 {"idempotency-key", "k"},
                                                 {"kron-at-most", "admin"}}},
                                    Role::operate);
  EXPECT_EQ(outgoing.target, "/api/v1/jobs/team%2Fx%20y/decisions?from=a%26b&count=%203");
  EXPECT_THAT(outgoing.headers,
              ElementsAre(Pair("range", "bytes=0-9"), Pair("idempotency-key", "k"), Pair("Kron-At-Most", "operate")));
}

TEST(WebRoutes, WhatHasATagMayBeKeptAndIsAskedForAgain) {
  const auto cache_of = [](std::vector<std::string> segments) {
    return outgoing_of({.method = "GET", .segments = std::move(segments), .query = {{"limit", "10"}}}, Role::admin)
        .added.front()
        .second;
  };
  EXPECT_EQ(cache_of({"api", "v1", "jobs"}), "private, no-cache");
  EXPECT_EQ(cache_of({"api", "v1", "load"}), "private, no-cache");
  EXPECT_EQ(cache_of({"api", "v1", "jobs", "a"}), "private, no-store") << "it may hold secrets";
  EXPECT_EQ(cache_of({"api", "v1", "status"}), "private, no-store");
}

TEST(WebRoutes, OutputIsSavedAndNothingIsCached) {
  const auto outgoing = outgoing_of({.method = "GET", .segments = {"api", "v1", "runs", "x", "output"}}, Role::admin);
  EXPECT_THAT(outgoing.headers, ElementsAre(Pair("Kron-At-Most", "admin"))) << "root makes tokens, his page does not";
  EXPECT_THAT(outgoing.added,
              ElementsAre(Pair("Cache-Control", "private, no-store"), Pair("Content-Disposition", "attachment")));
}

TEST(ServiceRoutes, AreThoseOfThePageAndOfClientsAndNeverThoseOfTokens) {
  const auto is_forwarded = [](const std::string& method, const std::string& target) {
    return service_route_of(method, http::parse_target(target).value().segments) != nullptr;
  };
  for (const WebRoute& route : web_routes()) {
    EXPECT_TRUE(is_forwarded(std::string(route.method), std::string(route.pattern))) << route.pattern;
  }
  EXPECT_TRUE(is_forwarded("POST", "/api/v1/leases/x.1/commit"));
  EXPECT_TRUE(is_forwarded("GET", "/metrics"));
  for (const char* method : {"GET", "POST", "DELETE", "HEAD", "PUT"}) {
    for (const char* target : {"/api/v1/tokens", "/api/v1/tokens/abcdefgh", "/api/v1/sessions"}) {
      EXPECT_FALSE(is_forwarded(method, target)) << method << target;
    }
  }
}

TEST(ServiceRoutes, KrondGetsWhatWasShownAndOfTheCookiesOurOwn) {
  const auto outgoing = outgoing_with_credentials({.method = "POST",
                                                   .segments = {"api", "v1", "jobs", "x", "pause"},
                                                   .headers = {{"authorization", "Bearer t"},
                                                               {"cookie", "a=b; __Host-kron-01234567=v1.x; c=d"},
                                                               {"x-kron-csrf", "y"},
                                                               {"kron-at-most", "admin"},
                                                               {"origin", "https://a"}}});
  EXPECT_THAT(outgoing.headers, ElementsAre(Pair("authorization", "Bearer t"),
                                            Pair("cookie", "__Host-kron-01234567=v1.x"), Pair("x-kron-csrf", "y")));
  EXPECT_THAT(outgoing_with_credentials({.method = "GET", .headers = {{"cookie", "a=b"}}}).headers,
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace kron::web
