#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/base/token_text.h"
#include "kron/json/document.h"

namespace kron::api::token_paths_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TokenPaths : public ApiRig {
 protected:
  Node create(const std::string& body) {
    const auto answer = ask("POST", "/api/v1/tokens", body);
    EXPECT_EQ(answer.status, 201) << answer.body;
    return parse_json(answer.body).value();
  }
  static std::string text(const Node& node, std::string_view key) { return *node.find(key)->as<std::string>(); }
};

TEST_F(TokenPaths, ATokenIsSeenOnce) {
  const Node made = create(R"({"name":"ci","role":"operate","expiresIn":"90d"})");
  EXPECT_TRUE(token_id_in(text(made, "token")));
  EXPECT_EQ(text(made, "expiresAt"), "2026-05-30T00:00:00Z");
  const auto list = ask("GET", "/api/v1/tokens");
  EXPECT_THAT(list.body, AllOf(HasSubstr(R"("name":"ci","role":"operate","createdAt":"2026-03-01T00:00:00Z")"),
                               HasSubstr(R"("lastUsedAt":null)"), Not(HasSubstr(text(made, "token").substr(14)))));
  const auto said = heard_.lines_of("token_created");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].field("name"), "ci");
  EXPECT_EQ(said[0].field("role"), "operate");
  for (const auto& [key, value] : said[0].fields) EXPECT_THAT(value, Not(HasSubstr(text(made, "token").substr(14))));
}

TEST_F(TokenPaths, AYearIsUsualAndForEverMustBeSaid) {
  EXPECT_EQ(text(create(R"({"name":"a","role":"read"})"), "expiresAt"), "2027-03-01T00:00:00Z");
  EXPECT_TRUE(create(R"({"name":"b","role":"read","expiresIn":"never"})").find("expiresAt")->is_null());
}

TEST_F(TokenPaths, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"role":"read"})", "name"},
      {R"({"name":"a"})", "role"},
      {R"({"name":"a","role":"own"})", "role"},
      {R"({"name":"a","role":"read","expiresIn":"soon"})", "expiresIn"},
      {R"({"name":"a","role":"read","expiresIn":"0s"})", "expiresIn"},
      {R"({"name":"a","role":"read","expiresIn":"10000w"})", "expiresIn"},
      {R"({"name":"a","role":"read","jobs":"x/"})", "jobs"},
  };
  for (const auto& [body, field] : cases) {
    const auto answer = ask("POST", "/api/v1/tokens", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.body, HasSubstr(std::string(R"("field":")") + field)) << body;
  }
  create(R"({"name":"a","role":"read"})");
  EXPECT_EQ(ask("POST", "/api/v1/tokens", R"({"name":"a","role":"read"})").status, 409);
  EXPECT_EQ(ask("DELETE", "/api/v1/tokens/nobodyxx").status, 404);
}

TEST_F(TokenPaths, ATokenIsRevokedAtOnce) {
  const Node made = create(R"({"name":"ci","role":"read"})");
  EXPECT_EQ(ask_web("GET", "/api/v1/jobs", {}, bearer(text(made, "token"))).status, 200);
  EXPECT_EQ(ask("DELETE", "/api/v1/tokens/" + text(made, "id")).status, 200);
  EXPECT_EQ(ask_web("GET", "/api/v1/jobs", {}, bearer(text(made, "token"))).status, 401);
  EXPECT_EQ(heard_.lines_of("token_revoked").size(), 1U);
}

TEST_F(TokenPaths, OnlyRootAndKrondsUserOnItsOwnSocketMakeThem) {
  const auto admin = new_token("admin", Right::admin);
  for (const auto& [method, path] : {std::pair{"GET", "/api/v1/tokens"},
                                     {"POST", "/api/v1/tokens"},
                                     {"DELETE", "/api/v1/tokens/abcdefgh"},
                                     {"DELETE", "/api/v1/sessions"}}) {
    const std::string body = std::string_view(method) == "POST" ? R"({"name":"x","role":"read"})" : "";
    const auto answer = ask_web(method, path, body, bearer(admin.token));
    EXPECT_EQ(answer.status, 403) << method << path;
    EXPECT_THAT(answer.body, HasSubstr("krond's own socket"));
    EXPECT_EQ(ask(method, path, body, {{"Kron-At-Most", "admin"}}).status, 403) << "through a front as root";
    is_operator_ = true;
    EXPECT_EQ(ask(method, path, body).status, 403) << method << path;
    is_operator_ = false;
  }
  EXPECT_EQ(access_.list().size(), 1U);
  EXPECT_GE(heard_.lines_of("access_refused").size(), 1U);
}

TEST_F(TokenPaths, AllSessionsAreEnded) {
  const auto made = new_token("ci", Right::read);
  const auto session = access_.open_session(made.token).value();
  EXPECT_EQ(ask_web("GET", "/api/v1/jobs", {}, bearer(session.text)).status, 200);
  EXPECT_EQ(ask("DELETE", "/api/v1/sessions").status, 204);
  EXPECT_EQ(ask_web("GET", "/api/v1/jobs", {}, bearer(session.text)).status, 401);
  EXPECT_EQ(ask_web("GET", "/api/v1/jobs", {}, bearer(made.token)).status, 200);
  EXPECT_EQ(heard_.lines_of("sessions_revoked").size(), 1U);
}

}  // namespace
}  // namespace kron::api::token_paths_test
