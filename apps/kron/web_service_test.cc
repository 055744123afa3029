#include "web_service.h"

#include <atomic>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "command_rig.h"
#include "kron/http/client.h"
#include "kron/http/fake/server_rig.h"

namespace kron::cli::web_service_test {
namespace {

std::string why_not(const ServiceOptions& options, bool is_local) {
  const auto site = site_of(options, is_local);
  EXPECT_FALSE(site);
  return site ? "" : site.error().message;
}

TEST(WebService, KnowsWhichAddressesAreThisMachinesAlone) {
  for (const char* address : {"127.0.0.1:8126", "127.3.2.1:0", "[::1]:8126"}) EXPECT_TRUE(is_local_address(address));
  for (const char* address : {"0.0.0.0:8126", "[::]:8126", "10.0.0.1:8126", "localhost:8126", "", ":8126", "x"}) {
    EXPECT_FALSE(is_local_address(address)) << address;
  }
}

TEST(WebService, SendsNoTokenInTheClear) {
  EXPECT_THAT(why_not({}, false), AllOf(HasSubstr("--tls-cert"), HasSubstr("127.0.0.1"), HasSubstr("proxy")));
  EXPECT_THAT(why_not({.public_urls = {"https://a"}}, false), HasSubstr("--tls-cert"));
  EXPECT_THAT(why_not({.public_urls = {"http://a"}, .plain_http_behind_proxy = true}, false), HasSubstr("https://"));
}

TEST(WebService, MustKnowItsName) {
  EXPECT_THAT(why_not({.plain_http_behind_proxy = true}, true), HasSubstr("--public-url"));
  EXPECT_THAT(why_not({.tls_certificate = "c", .tls_key = "k"}, false), HasSubstr("--public-url"));
  EXPECT_THAT(why_not({.public_urls = {"kron.example.org"}}, true), HasSubstr("no address of a site"));
}

TEST(WebService, TakesACertificateAndItsKey) {
  EXPECT_THAT(why_not({.tls_certificate = "c"}, true), HasSubstr("belong together"));
  EXPECT_THAT(why_not({.tls_key = "k"}, true), HasSubstr("belong together"));
  EXPECT_THAT(
      why_not({.public_urls = {"https://a"}, .plain_http_behind_proxy = true, .tls_certificate = "c", .tls_key = "k"},
              true),
      HasSubstr("leave it out"));
}

TEST(WebService, IsAskedByTheSchemeThatIsSpoken) {
  EXPECT_EQ(site_of({}, true).value().scheme, "http");
  EXPECT_EQ(site_of({.tls_certificate = "c", .tls_key = "k"}, true).value().scheme, "https");
  const auto behind = site_of({.public_urls = {"https://a.example"}, .plain_http_behind_proxy = true}, false).value();
  EXPECT_EQ(behind.scheme_of("a.example"), "https");
  EXPECT_EQ(behind.scheme_of("127.0.0.1"), "http");
}

// `kron web --service` as a process of its own, on a socket that was handed over to it.
class Handed {
 public:
  Handed() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_.get(), 16), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed&) = delete;
  ~Handed() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  void start(const ServiceOptions& options) {
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) {
      process_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)));
      return;
    }
    ::dup2(socket_.get(), 3);
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::_exit(serve_for_many(options));
  }
  bool ends_within(std::chrono::milliseconds time) const {
    pollfd look{.fd = process_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, static_cast<int>(time.count())) == 1;
  }
  int status() {
    int status = -1;
    ::waitpid(std::exchange(child_, 0), &status, 0);
    return status;
  }
  std::uint16_t port() const { return port_; }

 private:
  Descriptor socket_;
  std::uint16_t port_ = 0;
  pid_t child_ = 0;
  Descriptor process_;
};

TEST(WebService, OneThatAVisitHasStartedLeavesWhenNobodyComesAndNotBefore) {
  std::mutex mutex;
  std::vector<http::Reply> held;
  const testing::ServerRig krond([&](const http::Request&, http::Reply reply) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(reply));
  });
  const auto is_held = [&] {
    const std::lock_guard lock(mutex);
    return !held.empty();
  };
  // On a machine that is so busy that nobody was served in that time, with more of it.
  for (auto idle = std::chrono::milliseconds(500); !is_held(); idle *= 4) {
    ASSERT_LT(idle, testing::kPatience);
    Handed front;
    testing::RawClient visitor(testing::connect_to_port(front.port()), false);
    visitor.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ServiceOptions options{.web_socket = krond.socket_path()};
    options.look = std::chrono::milliseconds(20);
    options.idle_exit = idle;
    front.start(options);
    while (!is_held() && !front.ends_within(std::chrono::milliseconds(10))) {
    }
    if (!is_held()) continue;
    EXPECT_FALSE(front.ends_within(2 * idle)) << "krond has not answered yet";
    {
      const std::lock_guard lock(mutex);
      held.front().send({.body = "ok"});
    }
    ASSERT_TRUE(front.ends_within(testing::kPatience));
    EXPECT_EQ(front.status(), 0);
  }
}

TEST(WebService, ACertificateThatIsReplacedIsSeenByLooking) {
  const testing::TlsRig first;
  testing::TlsRig second;
  Handed front;
  ServiceOptions options{.web_socket = "/nonexistent/socket", .public_urls = {"https://localhost"}};
  options.tls_certificate = first.files().certificate;
  options.tls_key = first.files().key;
  options.look = std::chrono::milliseconds(20);
  front.start(options);
  const auto is_trusted = [&](const testing::TlsRig& authority) {
    http::Endpoint place;
    place.host = "localhost";
    place.port = front.port();
    place.tls = authority.client();
    return http::Client(place, {.timeout = testing::kPatience}).request("GET", "/api/v1/jobs").has_value();
  };
  EXPECT_TRUE(is_trusted(first));
  EXPECT_FALSE(is_trusted(second));
  first.use(second.pem);
  const auto limit = std::chrono::steady_clock::now() + testing::kPatience;
  while (!is_trusted(second)) ASSERT_LT(std::chrono::steady_clock::now(), limit);
  EXPECT_FALSE(is_trusted(first));
}

TEST(WebService, AsksClientsForCertificatesOnlyOverTls) {
  EXPECT_THAT(why_not({.tls_client_ca = "a"}, true), HasSubstr("--tls-cert"));
  EXPECT_TRUE(site_of({.tls_certificate = "c", .tls_key = "k", .tls_client_ca = "a"}, true));
}

TEST(WebService, RefusesToStartWithTheCure) {
  const Ran ran = kron({"web", "--service", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("--tls-cert"));
  EXPECT_EQ(kron({"web", "--public-url", "https://a"}).status, 2) << "of a service alone";
}

}  // namespace
}  // namespace kron::cli::web_service_test
