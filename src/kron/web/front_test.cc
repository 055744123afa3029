#include "kron/web/front.h"

#include <gmock/gmock.h>

#include "kron/env/fake/fake_clock.h"
#include "kron/http/fake/server_rig.h"
#include "kron/http/tcp_listener.h"
#include "kron/json/document.h"
#include "kron/web/assets.h"
#include "kron/web/fake/browser.h"

namespace kron::web {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using testing::browser_socket;

// A front on a port, and behind it a krond that repeats what it is asked.
class FrontTest : public ::testing::Test {
 protected:
  FrontTest()
      : krond_([this](const http::Request& request, http::Reply reply) {
          const std::scoped_lock lock(mutex_);
          asked_.push_back(request.method + " " + request.target);
          heads_.push_back(request.headers);
          reply.send({.headers = {{"Set-Cookie", "a=b"}, {"ETag", "\"e\""}}, .body = "{\"krond\":true}"});
        }) {
    start(Role::operate);
  }

  void start(Role role) {
    server_.reset();
    front_ = std::make_unique<Front>(Front::Options{.role = role,
                                                    .host = "here",
                                                    .version = "9",
                                                    .tell =
                                                        [this](const std::string& line) {
                                                          const std::scoped_lock lock(mutex_);
                                                          told_.push_back(line);
                                                        }},
                                     sessions_, *forwarder_, clock_);
    auto listener =
        http::TcpListener::open("127.0.0.1:0", [this](const http::Request& head) { return front_->identify(head); });
    port_ = listener->port();
    http::Server::Listeners listeners;
    listeners.push_back(std::make_unique<http::TcpListener>(*std::move(listener)));
    http::Server::Options options{.headers = Front::headers(), .closes_strangers = true};
    options.limits.connections = {.most = 8, .kept = 0, .of_one_user = 8};
    options.body_limit = [this](const http::Request& head) { return front_->body_limit(head); };
    server_ =
        http::Server::start(
            std::move(listeners), std::move(options),
            [this](http::Request request, http::Reply reply) { front_->answer(std::move(request), std::move(reply)); },
            log_)
            .value();
  }

  std::string send(const std::string& message) const { return testing::send_to_port(port_, message); }
  std::string ask(const std::string& line, const std::string& headers = "", const std::string& body = "",
                  const std::string& host = "127.0.0.1:8126") const {
    return testing::ask_port(port_, line, headers, body, host);
  }
  std::string log_in(const std::string& code) const {
    return ask("POST /api/v1/session", "", R"({"code":")" + code + R"("})");
  }
  // The header of a session.
  std::string key() {
    const std::string answer = log_in(sessions_.new_code(clock_.boot_time()));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
    const auto json = parse_json(answer.substr(answer.find("\r\n\r\n") + 4)).value();
    return "Authorization: Bearer " + *json.find("token")->as<std::string>() + "\r\n";
  }
  std::vector<std::string> asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }
  std::vector<std::string> told() {
    const std::scoped_lock lock(mutex_);
    return told_;
  }

  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::vector<http::Fields> heads_;
  testing::ServerRig krond_;
  testing::FakeClock clock_{Instant(Seconds(0))};
  testing::SilentLog log_;
  std::vector<std::string> told_;
  int secrets_ = 0;
  Sessions sessions_{[this](std::size_t bytes) { return std::string(bytes, 'a') + std::to_string(++secrets_); }};
  std::unique_ptr<http::Forwarder> forwarder_ =
      http::Forwarder::start(krond_.socket_path(), {.passed = passed_headers()}).value();
  std::unique_ptr<Front> front_;
  std::uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;
};

TEST_F(FrontTest, ThePageNeedsNoSessionAndHasAPolicy) {
  EXPECT_THAT(ask("GET /"), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("<!doctype html>"),
                                  HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"),
                                  HasSubstr("X-Content-Type-Options: nosniff"), HasSubstr("no-referrer")));
  for (const Asset& asset : assets()) EXPECT_THAT(ask("GET " + std::string(asset.path)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /a/000000000000/kron.js"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(FrontTest, EveryAnswerHasThePolicyEvenToNonsense) {
  EXPECT_THAT(send("nonsense\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("Content-Security-Policy: ")));
}

TEST_F(FrontTest, WithoutASessionNothingReachesKrond) {
  for (const char* line : {"GET /api/v1/jobs", "POST /api/v1/jobs/x/trigger", "GET /api/v1/session", "GET /readyz",
                           "GET /nowhere", "DELETE /api/v1/session"}) {
    EXPECT_THAT(ask(line), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("WWW-Authenticate: Bearer"))) << line;
  }
  EXPECT_THAT(ask("GET /api/v1/jobs", "Authorization: Bearer aaaa\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("GET /api/v1/jobs", "Cookie: kron=aaaa\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("POST /api/v1/jobs/x/trigger", "", "{}"), StartsWith("HTTP/1.1 401 ")) << "its body is not read";
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(FrontTest, ACodeIsTradedOnceForASessionWithoutACookie) {
  const std::string code = sessions_.new_code(clock_.boot_time());
  const std::string answer = log_in(code);
  EXPECT_THAT(answer,
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"("role":"operate")"), HasSubstr(R"("host":"here")"),
                    HasSubstr("private, no-store"), Not(HasSubstr("Set-Cookie"))));
  EXPECT_THAT(log_in(code), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(told(), ElementsAre(Not(HasSubstr(code))));
}

TEST_F(FrontTest, WrongCodesAreSlowedDownAndARightOneIsNot) {
  for (int i = 0; i <= LoginLimit::kFree; ++i) EXPECT_THAT(log_in("wrong"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(log_in("wrong"), AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("Retry-After: 1")));
  EXPECT_EQ(told().size(), 1U) << "one line a second";
  EXPECT_THAT(log_in(sessions_.new_code(clock_.boot_time())), StartsWith("HTTP/1.1 200 "));
}

TEST_F(FrontTest, WithASessionTheListedRequestsGoToKrond) {
  const std::string mine = key();
  EXPECT_THAT(ask("GET /api/v1/jobs/team%2Fx?a=b", mine),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("{\"krond\":true}"), HasSubstr("etag: \"e\""),
                    Not(HasSubstr("Set-Cookie")), HasSubstr("private, no-store")));
  EXPECT_THAT(ask("POST /api/v1/jobs/x/trigger", mine), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(asked(), ElementsAre("GET /api/v1/jobs/team%2Fx?a=b", "POST /api/v1/jobs/x/trigger"));
  for (const http::Fields& head : heads_) {
    for (const auto& [name, value] : head) EXPECT_NE(name, "authorization");
  }
  EXPECT_THAT(ask("POST /api/v1/leases", mine), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("GET /metrics", mine), StartsWith("HTTP/1.1 404 "));
  EXPECT_EQ(asked().size(), 2U);
}

TEST_F(FrontTest, WhatAdministratorsMayNeedsTheFlag) {
  const std::string mine = key();
  EXPECT_THAT(ask("POST /api/v1/state/x/reset", mine), AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("--admin")));
  EXPECT_THAT(asked(), IsEmpty());
  start(Role::admin);
  EXPECT_THAT(ask("POST /api/v1/state/x/reset", mine), StartsWith("HTTP/1.1 200 "));
}

TEST_F(FrontTest, OtherSitesGetNothing) {
  const std::string mine = key();
  EXPECT_THAT(ask("GET /", "", "", "evil.example"), StartsWith("HTTP/1.1 421 "));
  EXPECT_THAT(ask("GET /api/v1/jobs", mine, "", "evil.example:8126"), StartsWith("HTTP/1.1 421 "));
  EXPECT_THAT(ask("POST /api/v1/jobs/x/trigger", mine + "Origin: http://127.0.0.1:9\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(ask("POST /api/v1/jobs/x/trigger", mine + "Sec-Fetch-Site: same-site\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(ask("GET /api/v1/jobs", mine + "Sec-Fetch-Site: cross-site\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(ask("GET /api/v1/jobs", mine + mine), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /", "Sec-Fetch-Site: cross-site\r\n"), StartsWith("HTTP/1.1 200 ")) << "a link may lead here";
  EXPECT_THAT(send("POST /api/v1/jobs/x/pause HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + mine +
                   "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"),
              StartsWith("HTTP/1.1 415 "));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(FrontTest, LoggingOutEndsTheSession) {
  const std::string mine = key();
  EXPECT_THAT(ask("GET /api/v1/session", mine), AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("\"token\""))));
  EXPECT_THAT(ask("DELETE /api/v1/session", mine), StartsWith("HTTP/1.1 204 "));
  EXPECT_THAT(ask("GET /api/v1/session", mine), StartsWith("HTTP/1.1 401 "));
}

TEST_F(FrontTest, StrangersWhoSayNothingKeepNobodyOut) {
  const std::string mine = key();
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(browser_socket(port_));
  EXPECT_THAT(ask("GET /api/v1/jobs", mine), StartsWith("HTTP/1.1 200 "));
}

TEST_F(FrontTest, HeadersThatAreTooLargeOrNoTextAreRefused) {
  EXPECT_THAT(ask("GET /api/v1/jobs", "Authorization: Bearer " + std::string(17 << 10, 'a') + "\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask("GET /api/v1/jobs", std::string("Authorization: Bearer a\0b\r\n", 28)), StartsWith("HTTP/1.1 400 "));
}

}  // namespace
}  // namespace kron::web
