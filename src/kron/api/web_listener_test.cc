#include "kron/api/web_listener.h"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/base/token_text.h"
#include "kron/json/document.h"

namespace kron::api::web_listener_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WebSocket : public ApiRig {
 protected:
  static http::Fields cookie(const AccessStore::Opened& opened, const std::string& csrf = {}) {
    http::Fields fields{{"Cookie", "other=1; " + opened.cookie + "=" + opened.text}};
    if (!csrf.empty()) fields.emplace_back("X-Kron-CSRF", csrf);
    return fields;
  }
  int status(std::string_view method, std::string_view target, http::Fields headers) {
    return ask_web(method, target, {}, std::move(headers)).status;
  }
  std::size_t runs() {
    std::size_t count = 0;
    do_on_loop([&] { count = host_.scheduler->active_runs(); });
    return count;
  }
};

// Neither the words nor the headers tell why.
TEST_F(WebSocket, WhoeverIsNotLetInGetsOneAnswer) {
  const auto gone = new_token("gone", Right::admin);
  const auto old = new_token("old", Right::admin, Seconds(1));
  ASSERT_TRUE(access_.revoke(gone.record.id));
  host_.clock.advance(Seconds(2));
  std::string checksum = gone.token;
  checksum.back() = checksum.back() == 'a' ? 'b' : 'a';
  const http::Fields shown[] = {{},
                                {{"Authorization", "Bearer"}},
                                {{"Authorization", "Basic cm9vdDpyb290"}},
                                {{"Authorization", "Bearer "}},
                                bearer("nonsense"),
                                bearer(gone.token),
                                bearer(old.token),
                                bearer(checksum),
                                bearer(token_text({1, 2, 3, 4, 5}, {})),
                                bearer("v1.a.b.c.d.e"),
                                {{"Cookie", "a=b"}}};
  const auto first = ask_web("GET", "/api/v1/jobs");
  for (const http::Fields& headers : shown) {
    for (const char* path : {"/api/v1/jobs", "/api/v1/tokens", "/metrics", "/nowhere"}) {
      const auto answer = ask_web("GET", path, {}, headers);
      EXPECT_EQ(answer.status, 401) << path;
      EXPECT_EQ(answer.header("www-authenticate"), "Bearer");
      EXPECT_EQ(answer.body, first.body);
    }
    EXPECT_EQ(ask_web("POST", "/api/v1/jobs/c/trigger", "{}", headers).status, 401);
  }
  EXPECT_EQ(runs(), 0U);
  const auto said = heard_.lines_of("token_refused");
  ASSERT_GE(said.size(), 1U);
  for (const auto& line : said) {
    for (const auto& [key, value] : line.fields) EXPECT_THAT(value, Not(HasSubstr(gone.token.substr(14, 20))));
  }
}

TEST_F(WebSocket, ATokenMayWhatItsRoleMay) {
  const auto read = new_token("looker", Right::read);
  const auto operate = new_token("doer", Right::operate);
  const auto admin = new_token("boss", Right::admin);
  EXPECT_EQ(status("GET", "/api/v1/jobs", bearer(read.token)), 200);
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/trigger", bearer(read.token)), 403);
  EXPECT_THAT(ask_web("POST", "/api/v1/jobs/c/trigger", {}, bearer(read.token)).body,
              HasSubstr("the role of this token is read; this needs operate"));
  EXPECT_EQ(runs(), 0U);
  EXPECT_EQ(heard_.lines_of("access_refused").at(0).field("by"), "token looker");
  EXPECT_EQ(status("POST", "/api/v1/state/prune", bearer(operate.token)), 403);
  EXPECT_EQ(status("POST", "/api/v1/state/prune", bearer(admin.token)), 200);
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/trigger", bearer(operate.token)), 200);
  EXPECT_EQ(runs(), 1U);
  const auto you = ask_web("GET", "/api/v1/status", {}, bearer(operate.token));
  EXPECT_THAT(you.body, HasSubstr(R"("you":{"name":"token doer","role":"operate"})"));
}

TEST_F(WebSocket, ATokenForCalendarsIsForNothingElse) {
  const auto ics = new_token("phone", Right::ics);
  const auto read = new_token("looker", Right::read);
  const auto calendar = ask_web("GET", "/api/v1/upcoming.ics?for=1d", {}, bearer(ics.token));
  EXPECT_EQ(calendar.status, 200);
  EXPECT_EQ(calendar.content_type, "text/calendar; charset=utf-8");
  EXPECT_THAT(calendar.body, HasSubstr("UID:c@2026-03-01T12:00:00Z\r\n"));
  EXPECT_EQ(status("GET", "/api/v1/upcoming.ics", bearer(read.token)), 200);
  for (const Route& route : api_->routes()) {
    if (route.needs == Right::none || route.needs == Right::ics) continue;
    const std::string path(route.pattern.substr(0, route.pattern.find('{')));
    EXPECT_NE(status(route.method, path, bearer(ics.token)), 200) << route.pattern;
  }
  EXPECT_THAT(ask_web("GET", "/api/v1/jobs", {}, bearer(ics.token)).body,
              HasSubstr("the role of this token is ics; this needs read"));
  EXPECT_EQ(status("GET", "/api/v1/session", bearer(ics.token)), 401);
  EXPECT_EQ(ask_web("POST", "/api/v1/session", R"({"token":")" + ics.token + R"("})").status, 401);
  EXPECT_FALSE(access_.open_session(ics.token).has_value());
}

TEST_F(WebSocket, InAPathOnlyATokenForCalendarsLetsIn) {
  const auto in_path = [&](const std::string& token) {
    http::Fields fields = bearer(token);
    fields.emplace_back("Kron-Token-In-Path", "yes");
    return status("GET", "/api/v1/upcoming.ics", fields);
  };
  EXPECT_EQ(in_path(new_token("phone", Right::ics).token), 200);
  EXPECT_EQ(in_path(new_token("boss", Right::admin).token), 401);
  EXPECT_EQ(in_path(new_token("looker", Right::read).token), 401);
  EXPECT_THAT(heard_.lines_of("token_refused").at(0).field("reason"), HasSubstr("in a path"));
}

TEST_F(WebSocket, WhoActsIsNamed) {
  const auto made = new_token("doer", Right::operate);
  ASSERT_EQ(status("POST", "/api/v1/jobs/c/pause", bearer(made.token)), 200);
  EXPECT_THAT(ask("GET", "/api/v1/jobs/c").body, HasSubstr(R"("by":"token doer")"));
}

TEST_F(WebSocket, WhetherKrondLivesIsForAnybodyAndWhyNotIsNot) {
  EXPECT_EQ(status("GET", "/healthz", {}), 200);
  EXPECT_EQ(status("GET", "/readyz", {}), 200);
  do_on_loop([this] { status_.broken = Error{Code::io, "the disk of ada failed"}; });
  const auto open = ask_web("GET", "/readyz");
  EXPECT_EQ(open.status, 503);
  EXPECT_THAT(open.body, Not(HasSubstr("ada")));
  EXPECT_THAT(ask("GET", "/readyz").body, HasSubstr("ada"));
  EXPECT_EQ(status("POST", "/healthz", {}), 401);
}

TEST_F(WebSocket, MetricsNeedATokenUnlessTheyAreOpen) {
  EXPECT_EQ(status("GET", "/metrics", {}), 401);
  EXPECT_EQ(status("GET", "/metrics", bearer(new_token("prometheus", Right::read).token)), 200);
  open_metrics_ = true;
  server_.reset();
  serve();
  EXPECT_EQ(status("GET", "/metrics", {}), 200);
  EXPECT_EQ(status("GET", "/api/v1/jobs", {}), 401);
}

TEST_F(WebSocket, ATokenIsTradedForASession) {
  const auto made = new_token("ada", Right::operate);
  const auto wrong = ask_web("POST", "/api/v1/session", R"({"token":"kron_wrong"})");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(wrong.body, ask_web("GET", "/api/v1/jobs").body);
  for (const char* body : {"", "{}", "[]", R"({"code":"x"})", R"({"token":3})"}) {
    EXPECT_EQ(ask_web("POST", "/api/v1/session", body).status, 400) << body;
  }
  const auto answer = ask_web("POST", "/api/v1/session", R"({"token":")" + made.token + R"("})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("cache-control"), "private, no-store");
  const Node opened = parse_json(answer.body).value();
  EXPECT_EQ(*opened.find("role")->as<std::string>(), "operate");
  const std::string text = *opened.find("session")->as<std::string>();
  EXPECT_EQ(status("GET", "/api/v1/jobs", bearer(text)), 200);
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/pause", bearer(text)), 200) << "no browser sends that by itself";
  EXPECT_EQ(heard_.lines_of("session_opened").size(), 1U);
}

TEST_F(WebSocket, ACookieAloneChangesNothing) {
  const auto made = new_token("ada", Right::operate);
  const auto opened = access_.open_session(made.token).value();
  EXPECT_EQ(status("GET", "/api/v1/jobs", cookie(opened)), 200);
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/pause", cookie(opened)), 403);
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/pause", cookie(opened, "wrong")), 403);
  EXPECT_EQ(status("DELETE", "/api/v1/session", cookie(opened)), 403);
  const auto other = access_.open_session(made.token).value();
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/pause", cookie(opened, other.csrf)), 403) << "that of another session";
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/pause", cookie(opened, opened.csrf)), 200);
}

TEST_F(WebSocket, ACookieThatWasChangedOrIsOfAnotherKrondIsNone) {
  const auto made = new_token("ada", Right::read);
  const auto opened = access_.open_session(made.token).value();
  const std::string name = opened.cookie + "=";
  const auto with = [&](const std::string& value) { return status("GET", "/api/v1/jobs", {{"Cookie", value}}); };
  EXPECT_EQ(with(name + opened.text), 200);
  EXPECT_EQ(with(name + opened.text.substr(0, opened.text.size() - 1)), 401);
  std::string later = opened.text;
  later.replace(later.rfind('.') - 1, 1, "9");
  EXPECT_EQ(with(name + later), 401);
  EXPECT_EQ(with("__Host-kron-00000000=" + opened.text), 401);
  EXPECT_EQ(with(name + opened.text + "; " + name + opened.text), 401);
  EXPECT_EQ(with(name + session_text(opened.session, "another key")), 401);
  EXPECT_EQ(with(name + made.token), 401) << "a token is no session";
}

TEST_F(WebSocket, TheTokenCountsAndNotTheCookieBesideIt) {
  const auto ada = new_token("ada", Right::read);
  const auto opened = access_.open_session(new_token("boss", Right::admin).token).value();
  http::Fields both = cookie(opened, opened.csrf);
  both.emplace_back("Authorization", "Bearer " + ada.token);
  EXPECT_EQ(status("POST", "/api/v1/jobs/c/pause", both), 403);
  both.back().second = "Bearer nonsense";
  EXPECT_EQ(status("GET", "/api/v1/jobs", both), 401);
  both.emplace_back("Authorization", "Bearer " + ada.token);
  EXPECT_EQ(status("GET", "/api/v1/jobs", both), 400) << "two of them";
  EXPECT_EQ(status("GET", "/api/v1/jobs", bearer("\xff")), 400);
  EXPECT_EQ(status("GET", "/api/v1/jobs", {{"Cookie", "a=\xff"}}), 400);
  EXPECT_EQ(status("GET", "/api/v1/jobs", {{"Cookie", std::string(17 << 10, 'c')}}), 431);
}

TEST_F(WebSocket, AskingForTheSessionLetsItLiveOnAndLoggingOutEndsIt) {
  const auto made = new_token("ada", Right::read);
  const auto opened = access_.open_session(made.token).value();
  host_.clock.advance(std::chrono::hours(11));
  const auto answer = ask_web("GET", "/api/v1/session", {}, cookie(opened));
  ASSERT_EQ(answer.status, 200);
  const Node renewed = parse_json(answer.body).value();
  host_.clock.advance(std::chrono::hours(2));
  EXPECT_EQ(status("GET", "/api/v1/jobs", cookie(opened)), 401);
  const http::Fields mine = bearer(*renewed.find("session")->as<std::string>());
  EXPECT_EQ(status("GET", "/api/v1/jobs", mine), 200);
  EXPECT_EQ(status("DELETE", "/api/v1/session", mine), 204);
  EXPECT_EQ(status("GET", "/api/v1/jobs", mine), 401);
  ASSERT_EQ(heard_.lines_of("session_ended").size(), 1U);
  EXPECT_EQ(heard_.lines_of("session_ended")[0].field("id"), made.record.id);
  EXPECT_THAT(ask_web("GET", "/api/v1/session", {}, bearer(made.token)).body, Not(HasSubstr("csrf"))) << "a token";
  EXPECT_EQ(status("DELETE", "/api/v1/session", bearer(made.token)), 404);
}

TEST_F(WebSocket, RevokingATokenEndsItsStreamsAndNoOthers) {
  const auto made = new_token("ada", Right::read);
  const auto other = new_token("bob", Right::read);
  const auto reads_until_end = [&](const std::string& token, std::promise<void>& begun) {
    return std::async(std::launch::async, [this, token, &begun] {
      http::Client client(web_socket());
      (void)client.stream(
          "/api/v1/events", bearer(token), [](std::string_view) { return true; },
          [&](const http::Response&) { begun.set_value(); });
    });
  };
  std::promise<void> first;
  std::promise<void> second;
  auto of_ada = reads_until_end(made.token, first);
  auto of_bob = reads_until_end(other.token, second);
  first.get_future().wait();
  second.get_future().wait();
  ASSERT_TRUE(access_.revoke(made.record.id));
  EXPECT_EQ(of_ada.wait_for(Seconds(30)), std::future_status::ready);
  EXPECT_EQ(of_bob.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  ASSERT_TRUE(access_.revoke(other.record.id));
  EXPECT_EQ(of_bob.wait_for(Seconds(30)), std::future_status::ready);
}

}  // namespace
}  // namespace kron::api::web_listener_test
