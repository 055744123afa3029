#include "kron/web/service_front.h"

#include <atomic>
#include <gmock/gmock.h>

#include "kron/base/token_text.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/http/credentials.h"
#include "kron/http/fake/server_rig.h"
#include "kron/http/tcp_listener.h"
#include "kron/web/fake/browser.h"
#include "kron/web/front.h"
#include "kron/web/routes.h"

namespace kron::web::service_front_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kGood = token_text({1, 2, 3, 4, 5}, {7});
const std::string kUnknown = token_text({1, 2, 3, 4, 6}, {7});
const std::string kSession = "v1.session";

// A front on a port, and behind it a krond that knows one token and one session.
class ServiceFrontTest : public ::testing::Test {
 protected:
  ServiceFrontTest()
      : krond_([this](const http::Request& request, http::Reply reply) { reply.send(krond_says(request)); }) {
    start({.scheme = "http", .names = {*parse_public_url("https://kron.example.org")}});
  }

  http::Response krond_says(const http::Request& request) {
    const std::scoped_lock lock(mutex_);
    asked_.push_back(request.method + " " + request.target);
    heads_.push_back(request.headers);
    const bool is_login = request.method == "POST" && request.target == "/api/v1/session";
    const bool has_token = request.body.find(kGood) != std::string::npos;
    const std::string_view shown = request.header("authorization").value_or("");
    const std::string_view cookie = request.header("cookie").value_or("");
    const bool is_let_in =
        shown == "Bearer " + kGood || shown == "Bearer " + kSession || cookie == "__Host-kron-01234567=" + kSession;
    const bool is_open = request.target == "/healthz" || request.target == "/readyz" ||
                         (has_open_metrics_ && request.target == "/metrics");
    if (is_login ? !has_token : !is_let_in && !is_open) return http::unauthorized();
    if (request.target == "/api/v1/session" && request.method == "DELETE") return {.status = 204, .content_type = {}};
    if (request.target == "/api/v1/session" && shown != "Bearer " + kGood) {
      return {.body = R"({"name":"ada","role":"operate","session":")" + kSession +
                      R"(","cookie":"__Host-kron-01234567","csrf":"cc","idleSeconds":60})"};
    }
    return {.headers = {{"Set-Cookie", "a=b"}}, .body = R"({"name":"ada","role":"operate"})"};
  }

  void start(Site site) {
    server_.reset();
    front_ = std::make_unique<ServiceFront>(
        ServiceFront::Options{
            .site = std::move(site), .host = "here", .version = "9", .certificate_expires = certificate_expires_},
        *forwarder_, clock_, log_);
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
            silent_)
            .value();
  }

  std::string ask(const std::string& line, const std::string& headers = "", const std::string& body = "",
                  const std::string& host = "127.0.0.1:8126") const {
    return testing::ask_port(port_, line, headers, body, host);
  }
  std::string log_in(const std::string& token, const std::string& host = "127.0.0.1:8126") const {
    return ask("POST /api/v1/session", "", R"({"token":")" + token + R"("})", host);
  }
  static std::string bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }
  std::vector<std::string> asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }
  bool is_preferred(const std::string& name, const std::string& value) const {
    const auto who = front_->identify({.headers = {{"host", "127.0.0.1:8126"}, {name, value}}});
    return std::get<http::Principal>(who).is_preferred;
  }

  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::vector<http::Fields> heads_;
  std::atomic<bool> has_open_metrics_ = false;
  std::function<Instant()> certificate_expires_;
  testing::ServerRig krond_;
  testing::FakeClock clock_{Instant(Seconds(0))};
  testing::CapturingLog log_;
  testing::SilentLog silent_;
  std::unique_ptr<http::Forwarder> forwarder_ =
      http::Forwarder::start(krond_.socket_path(), {.passed = passed_headers()}).value();
  std::unique_ptr<ServiceFront> front_;
  std::uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;
};

TEST_F(ServiceFrontTest, ATokenGoesOnToKrondWhichJudgesIt) {
  EXPECT_THAT(ask("GET /api/v1/jobs?a=b", bearer(kGood)),
              AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("Set-Cookie"))));
  EXPECT_THAT(ask("GET /api/v1/jobs", bearer(kUnknown)),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("www-authenticate: Bearer")));
  EXPECT_THAT(ask("POST /api/v1/leases", bearer(kGood), "{}"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /metrics", bearer(kGood)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(asked(), ElementsAre("GET /api/v1/jobs?a=b", "GET /api/v1/jobs", "POST /api/v1/leases", "GET /metrics"));
}

TEST_F(ServiceFrontTest, WhoShowsNothingCostsKrondNothingAndIsToldTheSame) {
  const std::string wrong = ask("GET /api/v1/jobs", bearer(kUnknown));
  const std::string none = ask("GET /api/v1/jobs");
  EXPECT_THAT(none, StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(none.substr(none.find("\r\n\r\n")), wrong.substr(wrong.find("\r\n\r\n")));
  EXPECT_THAT(ask("POST /api/v1/jobs/x/trigger", "", "{}"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("GET /nowhere", "Cookie: other=1\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(asked().size(), 1U);
}

TEST_F(ServiceFrontTest, TheWaysOfTokensAreNotForwardedForNobody) {
  for (const char* line :
       {"GET /api/v1/tokens", "POST /api/v1/tokens", "DELETE /api/v1/tokens/abcdefgh", "DELETE /api/v1/sessions"}) {
    EXPECT_THAT(ask(line, bearer(kGood)), StartsWith("HTTP/1.1 403 ")) << line;
    EXPECT_THAT(ask(line), StartsWith("HTTP/1.1 401 ")) << line;
  }
  EXPECT_THAT(ask("POST /api/v1/tokens", bearer(kGood), "{}"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(log_.lines_of("token_path_refused").size(), 5U);
}

TEST_F(ServiceFrontTest, ATokenInThePathOfACalendarGoesOnInAHeader) {
  EXPECT_THAT(
      ask("GET /ics/" + kGood + "/upcoming.ics?for=7d&prefix=a%2Fb", bearer(kUnknown) + "Cookie: __Host-kron-1=x\r\n"),
      AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Referrer-Policy: no-referrer"),
            HasSubstr("Cache-Control: private, no-store"), Not(HasSubstr(kGood))));
  EXPECT_THAT(asked(), ElementsAre("GET /api/v1/upcoming.ics?for=7d&prefix=a%2Fb"));
  const http::Request seen{.headers = heads_.at(0)};
  EXPECT_EQ(seen.header("authorization"), "Bearer " + kGood);
  EXPECT_EQ(seen.header("kron-token-in-path"), "yes");
  EXPECT_FALSE(seen.header("cookie"));
}

TEST_F(ServiceFrontTest, WhatIsNoTokenInThePathOfACalendarIsNotAskedAbout) {
  const std::string none = ask("GET /api/v1/jobs");
  for (const std::string& path :
       {std::string("/ics/kron_x/upcoming.ics"), std::string("/ics//upcoming.ics"), "/ics/" + kGood + "/jobs",
        "/ics/" + kGood, "/ics/" + kGood + "/upcoming.ics/", "/ics/" + kGood.substr(1) + "/upcoming.ics",
        "/ICS/" + kGood + "/upcoming.ics", "/ics/" + kGood + "%00/upcoming.ics", "/ics/" + kGood + "%zz/upcoming.ics",
        "/ics/" + kGood + "%FF/upcoming.ics", "/ics/" + kGood + "%2Fupcoming.ics"}) {
    const std::string answer = ask("GET " + path);
    EXPECT_THAT(answer, AllOf(Not(HasSubstr(kGood.substr(14, 12))), Not(StartsWith("HTTP/1.1 2")))) << path;
  }
  EXPECT_THAT(ask("POST /ics/" + kGood + "/upcoming.ics", "", "{}"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(asked(), IsEmpty());
  const std::string wrong = ask("GET /ics/" + kUnknown + "/upcoming.ics");
  EXPECT_EQ(wrong.substr(wrong.find("\r\n\r\n")), none.substr(none.find("\r\n\r\n"))) << "the same for all";
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(ServiceFrontTest, WhetherKrondLivesIsForAnybody) {
  EXPECT_THAT(ask("GET /healthz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /readyz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /metrics"), StartsWith("HTTP/1.1 401 ")) << "krond says so";
  EXPECT_THAT(ask("GET /"), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("<!doctype html>")));
}

TEST_F(ServiceFrontTest, MetricsTellWhenTheCertificateRunsOutToWhomKrondLetsIn) {
  const std::string krond = R"({"name":"ada","role":"operate"})";
  EXPECT_THAT(ask("GET /metrics", bearer(kGood)), EndsWith("\r\n\r\n" + krond)) << "no TLS";
  certificate_expires_ = [] { return Instant(Seconds(1767225600)); };
  start({.scheme = "http", .names = {}});
  EXPECT_THAT(ask("GET /metrics", bearer(kGood) + "Accept-Encoding: gzip\r\n"),
              EndsWith("\r\n\r\n# HELP kron_tls_certificate_expiry_timestamp_seconds When the certificate of kron web "
                       "runs out, as Unix time.\n# TYPE kron_tls_certificate_expiry_timestamp_seconds gauge\n"
                       "kron_tls_certificate_expiry_timestamp_seconds 1767225600\n" +
                       krond));
  EXPECT_FALSE(http::Request{.headers = heads_.back()}.header("accept-encoding"));
  EXPECT_THAT(ask("GET /metrics"), AllOf(StartsWith("HTTP/1.1 401 "), Not(HasSubstr("kron_tls"))));
  EXPECT_THAT(ask("GET /api/v1/jobs", bearer(kGood)), EndsWith("\r\n\r\n" + krond));
}

TEST_F(ServiceFrontTest, OverHttpsTheSessionIsACookieThatNoScriptReads) {
  const std::string answer = log_in(kGood, "kron.example.org");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "),
                            HasSubstr("Set-Cookie: __Host-kron-01234567=" + kSession +
                                      "; Max-Age=60; Path=/; Secure; HttpOnly; SameSite=Strict\r\n"),
                            HasSubstr(R"("csrf":"cc")"), HasSubstr(R"("host":"here")"), HasSubstr("no-store")));
  const std::string body = answer.substr(answer.find("\r\n\r\n"));
  EXPECT_THAT(body, Not(HasSubstr(kSession)));
  const std::string cookie = "Cookie: x=y; __Host-kron-01234567=" + kSession + "\r\nX-Kron-CSRF: cc\r\n";
  EXPECT_THAT(ask("POST /api/v1/jobs/x/pause", cookie, "{}", "kron.example.org"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /api/v1/session", cookie, "", "kron.example.org"),
              HasSubstr("Set-Cookie: __Host-kron-01234567="));
  EXPECT_THAT(ask("DELETE /api/v1/session", cookie, "", "kron.example.org"),
              AllOf(StartsWith("HTTP/1.1 204 "), HasSubstr("Set-Cookie: __Host-kron-01234567=; Max-Age=0; ")));
}

TEST_F(ServiceFrontTest, OverPlainHttpThereIsNoCookie) {
  const std::string answer = log_in(kGood);
  EXPECT_THAT(answer,
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"("token":")" + kSession), Not(HasSubstr("Set-Cookie"))));
  EXPECT_THAT(ask("GET /api/v1/session", bearer(kSession)),
              AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("Set-Cookie"))));
}

TEST_F(ServiceFrontTest, OnlyTheNamesOfTheSiteAndItsOriginAreServed) {
  EXPECT_THAT(ask("GET /", "", "", "evil.example"), StartsWith("HTTP/1.1 421 "));
  const std::string mine = bearer(kGood);
  EXPECT_THAT(ask("GET /api/v1/jobs", mine + "Origin: https://kron.example.org\r\n", "", "kron.example.org"),
              StartsWith("HTTP/1.1 200 "));
  for (const char* origin :
       {"http://kron.example.org", "https://kron.example.org:8126", "https://evil.example", "null"}) {
    EXPECT_THAT(ask("GET /api/v1/jobs", mine + "Origin: " + origin + "\r\n", "", "kron.example.org"),
                StartsWith("HTTP/1.1 403 "))
        << origin;
  }
  EXPECT_THAT(ask("POST /api/v1/session", "Sec-Fetch-Site: cross-site\r\n", R"({"token":"x"})"),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(ask("GET /api/v1/jobs", mine + mine), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /api/v1/jobs", "Cookie: " + std::string(17 << 10, 'a') + "\r\n"), StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(asked().size(), 1U);
}

TEST_F(ServiceFrontTest, WrongTokensAreSlowedDownAndARightOneNever) {
  for (int i = 0; i <= LoginLimit::kFree; ++i) EXPECT_THAT(log_in(kUnknown), StartsWith("HTTP/1.1 401 ")) << i;
  EXPECT_THAT(log_in(kUnknown), AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("Retry-After: 1")));
  const std::size_t before = asked().size();
  EXPECT_THAT(log_in("nonsense"), StartsWith("HTTP/1.1 429 "));
  EXPECT_EQ(asked().size(), before) << "what is no token is not asked about";
  EXPECT_THAT(log_in(kGood), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(log_in(kUnknown), StartsWith("HTTP/1.1 401 ")) << "and it begins anew";
  const auto said = log_.lines_of("login_failed");
  ASSERT_EQ(said.size(), 1U) << "one line a second";
  EXPECT_EQ(said[0].field("address"), "127.0.0.1");
  EXPECT_EQ(said[0].field("id"), kUnknown.substr(5, 8));
  for (const auto& [key, value] : said[0].fields) EXPECT_THAT(value, Not(HasSubstr(kUnknown.substr(14))));
  EXPECT_THAT(ask("POST /api/v1/session", "", "{}"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(testing::send_to_port(port_,
                                    "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                    "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"),
              StartsWith("HTTP/1.1 415 "));
}

TEST_F(ServiceFrontTest, StrangersKeepNobodyOutWhoWasLetIn) {
  EXPECT_THAT(ask("GET /api/v1/jobs", bearer(kGood)), StartsWith("HTTP/1.1 200 "));
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(testing::browser_socket(port_));
  EXPECT_THAT(ask("GET /api/v1/jobs", bearer(kGood)), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServiceFrontTest, WhatIsForAnybodyMakesNobodyKnown) {
  has_open_metrics_ = true;
  const std::string cookie = "__Host-kron-01234567=junk";
  for (const char* path : {"/healthz", "/readyz", "/metrics"}) {
    EXPECT_THAT(ask(std::string("GET ") + path, bearer(kUnknown)), StartsWith("HTTP/1.1 200 ")) << path;
    EXPECT_THAT(ask(std::string("GET ") + path, "Cookie: " + cookie + "\r\n"), StartsWith("HTTP/1.1 200 ")) << path;
    EXPECT_FALSE(is_preferred("authorization", "Bearer " + kUnknown)) << path;
    EXPECT_FALSE(is_preferred("cookie", cookie)) << path;
  }
  EXPECT_THAT(ask("GET /api/v1/jobs", bearer(kGood)), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(is_preferred("authorization", "Bearer " + kGood));
  EXPECT_THAT(ask("GET /healthz", bearer(kGood)), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(is_preferred("authorization", "Bearer " + kGood)) << "nor does it make them strangers";
}

TEST_F(ServiceFrontTest, StrangersWithATokenOfTheirOwnMakingKeepNobodyOut) {
  const std::string junk = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + bearer(kUnknown) + "\r\n";
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 16; ++i) {
    strangers.push_back(testing::browser_socket(port_));
    // By the second request what krond said to the first would be known.
    for (int request = 0; request < 2; ++request) {
      ASSERT_EQ(::send(strangers.back().get(), junk.data(), junk.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(junk.size()));
      std::array<char, 4096> part;
      std::string answer;
      while (answer.find("\r\n\r\n") == std::string::npos) {
        const ssize_t size = ::recv(strangers.back().get(), part.data(), part.size(), 0);
        ASSERT_GT(size, 0);
        answer.append(part.data(), static_cast<std::size_t>(size));
      }
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 ")) << "stranger " << i;
    }
  }
  EXPECT_THAT(ask("GET /api/v1/jobs", bearer(kGood)), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace kron::web::service_front_test
