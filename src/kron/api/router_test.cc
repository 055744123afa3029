#include "kron/api/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kron::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Router sample() {
  return Router({{.method = "GET", .pattern = "/tasks", .answer = {}, .parameters = {"limit", "state"}},
                 {.method = "POST", .pattern = "/tasks", .answer = {}},
                 {.method = "GET", .pattern = "/tasks/{id}", .answer = {}},
                 {.method = "POST", .pattern = "/tasks/prune", .answer = {}},
                 {.method = "POST", .pattern = "/tasks/{id}/{verb}", .answer = {}}});
}

std::string pattern_of(const Router& router, std::string_view method, const std::vector<std::string>& segments) {
  const auto found = router.find(method, segments);
  if (const auto* response = std::get_if<http::Response>(&found)) return std::to_string(response->status);
  return std::string(std::get<Router::Found>(found).route->pattern);
}

TEST(Router, FindsTheRouteByMethodAndPath) {
  const Router router = sample();
  EXPECT_EQ(pattern_of(router, "GET", {"tasks"}), "/tasks");
  EXPECT_EQ(pattern_of(router, "HEAD", {"tasks", "a/b"}), "/tasks/{id}");
  EXPECT_EQ(pattern_of(router, "POST", {"tasks", "prune"}), "/tasks/prune") << "spelled out before named";
  EXPECT_EQ(pattern_of(router, "GET", {"tasks", "prune"}), "/tasks/{id}");
  const auto found = router.find("POST", {"tasks", "a", "b"});
  EXPECT_THAT(std::get<Router::Found>(found).names, ElementsAre("a", "b"));
}

TEST(Router, SaysThatThereIsNothingOrWhichMethodsThereAre) {
  const Router router = sample();
  for (const auto& path :
       std::vector<std::vector<std::string>>{{}, {"task"}, {"tasks", ""}, {"tasks", "a", "b", "c"}}) {
    EXPECT_EQ(pattern_of(router, "GET", path), "404");
  }
  const auto found = router.find("DELETE", {"tasks"});
  const auto& response = std::get<http::Response>(found);
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers.back().second, "GET, HEAD, POST");
}

TEST(Router, RefusesParametersThatARouteDoesNotKnow) {
  const Router router = sample();
  const Route& route = router.routes().front();
  EXPECT_FALSE(wrong_parameter({.query = {{"limit", "1"}, {"state", "x"}}}, route));
  EXPECT_THAT(wrong_parameter({.query = {{"limitt", "1"}}}, route)->message, HasSubstr("did you mean limit?"));
  EXPECT_THAT(wrong_parameter({.query = {{"limit", "1"}, {"limit", "2"}}}, route)->message, HasSubstr("twice"));
}

}  // namespace
}  // namespace kron::api
