#include "web_service.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <netinet/in.h>
#include <optional>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kron/env/clock.h"
#include "kron/env/event_loop.h"
#include "kron/http/forwarder.h"
#include "kron/http/passed_sockets.h"
#include "kron/http/server.h"
#include "kron/http/tcp_listener.h"
#include "kron/http/tls_source.h"
#include "kron/log/line_log.h"
#include "kron/web/front.h"
#include "kron/web/routes.h"
#include "kron/web/service_front.h"
#include "lines.h"
#include "private_memory.h"
#include "system_call_filter.h"

namespace kron::cli {
namespace {

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_UNIX) return true;
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(four.sin_addr.s_addr) >> 24U == 127;
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  return address.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) != 0;
}

bool is_local_socket(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 && is_loopback(address);
}

// Each client is a descriptor, and what a shell or a container allows may be fewer than our own limit.
void allow_many_descriptors() {
  constexpr rlim_t kEnough = 8192;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

class WebService {
 public:
  explicit WebService(const ServiceOptions& options) : options_(options) {}

  Status run() {
    // Before there is any other thread: the environment is changed, and signals are taken from all of them.
    std::vector<Descriptor> passed = options_.listen.empty() ? http::take_passed_sockets() : std::vector<Descriptor>();
    leaves_when_idle_ = !passed.empty();
    auto loop = EventLoop::create(Nanoseconds(0));
    if (!loop) return fail(loop.error());
    bool ends = false;
    const auto on_signal = [&](int signal) {
      if (signal == SIGHUP) {
        reload(true);
      } else {
        ends = true;
      }
    };
    if (auto taken = (*loop)->take_signals({SIGINT, SIGTERM, SIGHUP}, on_signal); !taken) return taken;
    if (Status started = start(std::move(passed)); !started) return started;
    while (!ends && !is_idle()) {
      log_.flush();
      (*loop)->wake_at_monotonic(next_look_);
      if (const auto woken = (*loop)->wait(); !woken) return fail(woken.error());
      if (clock_.monotonic() < next_look_) continue;
      next_look_ = clock_.monotonic() + options_.look;
      reload(false);
    }
    server_.reset();     // before the forwarder, whose clients are its
    forwarder_.reset();  // before the front, whom it tells of answers
    log_.info("front_ended", {{"reason", ends ? "signal" : "idle"}});
    log_.finish();
    return {};
  }

 private:
  Status start(std::vector<Descriptor> passed) {
    bool is_local = true;
    for (const Descriptor& socket : passed) is_local = is_local && is_local_socket(socket.get());
    for (const std::string& address : options_.listen) is_local = is_local && is_local_address(address);
    auto site = site_of(options_, is_local);
    if (!site) return fail(site.error());
    if (!options_.tls_certificate.empty()) {
      auto source = http::TlsSource::open(
          {.certificate = options_.tls_certificate, .key = options_.tls_key, .client_ca = options_.tls_client_ca});
      if (!source) return fail(source.error());
      tls_ = *std::move(source);
    }
    // Before there is any other thread.
    if (const Status confined = confine_front(); !confined) {
      log_.warning("front_not_confined", {{"reason", std::string_view(confined.error().message)}});
    }
    auto forwarder = http::Forwarder::start(
        options_.web_socket,
        {.cure = "is krond running, with --web-socket? see `kron doctor`", .passed = web::passed_headers()});
    if (!forwarder) return fail(forwarder.error());
    forwarder_ = *std::move(forwarder);
    web::ServiceFront::Options front{.site = *std::move(site), .host = this_host(), .version = KRON_VERSION};
    if (tls_) front.certificate_expires = [tls = tls_] { return tls->context()->expires(); };
    front_.emplace(std::move(front), *forwarder_, clock_, log_);
    auto listeners = open_listeners(std::move(passed));
    if (!listeners) return fail(listeners.error());
    return serve(*std::move(listeners));
  }

  Result<http::Server::Listeners> open_listeners(std::vector<Descriptor> passed) {
    const auto identify = [this](const http::Request& head) { return front_->identify(head); };
    http::Server::Listeners all;
    for (Descriptor& socket : passed) {
      auto adopted = http::TcpListener::adopt(std::move(socket), identify, tls_);
      if (!adopted) return fail(adopted.error());
      all.push_back(std::make_unique<http::TcpListener>(*std::move(adopted)));
    }
    std::vector<std::string> addresses = options_.listen;
    if (all.empty() && addresses.empty()) addresses = {"127.0.0.1:8126", "[::1]:8126"};
    for (const std::string& address : addresses) {
      auto opened = http::TcpListener::open(address, identify, tls_);
      if (!opened) return fail(opened.error());
      const std::string host = address.substr(0, address.rfind(':') + 1);
      log_.info("front_listens", {{"address", std::string_view(host + std::to_string(opened->port()))},
                                  {"tls", std::int64_t{tls_ ? 1 : 0}}});
      all.push_back(std::make_unique<http::TcpListener>(*std::move(opened)));
    }
    return all;
  }

  Status serve(http::Server::Listeners listeners) {
    http::Fields headers = web::Front::headers();
    if (tls_) headers.emplace_back("Strict-Transport-Security", "max-age=31536000");
    http::Server::Options options{.headers = std::move(headers), .closes_strangers = true};
    // Idle strangers make way for whoever comes; streams begin only where krond has let somebody in.
    options.limits.connections = {.most = 1024, .kept = 0, .of_one_user = 1024};
    options.limits.streams = {.most = 512, .kept = 0, .of_one_user = 256};
    options.body_limit = [this](const http::Request& head) { return front_->body_limit(head); };
    auto server = http::Server::start(
        std::move(listeners), std::move(options),
        [this](http::Request request, http::Reply reply) { front_->answer(std::move(request), std::move(reply)); },
        log_);
    if (!server) return fail(server.error());
    server_ = *std::move(server);
    return {};
  }

  bool is_idle() const {
    return leaves_when_idle_ && forwarder_->under_way() == 0 &&
           clock_.monotonic() - front_->last_asked() >= options_.idle_exit;
  }

  // One that cannot be used leaves the one before in force, and the next change is tried again.
  void reload(bool is_asked) {
    if (!tls_) return;
    Result<bool> changed = false;
    if (is_asked) {
      const Status read = tls_->reload();
      changed = read ? Result<bool>(true) : Result<bool>(fail(read.error()));
    } else {
      changed = tls_->reload_if_changed();
    }
    if (!changed) {
      log_.warning("certificate_refused", {{"reason", std::string_view(changed.error().message)}});
    } else if (*changed) {
      log_.info("certificate_loaded", {{"path", std::string_view(options_.tls_certificate)}});
    }
  }

  const ServiceOptions& options_;
  RealClock clock_;
  LineLog log_{STDERR_FILENO, clock_, LogFormat::text, LogLevel::info};
  bool leaves_when_idle_ = false;
  Nanoseconds next_look_ = clock_.monotonic() + options_.look;
  std::shared_ptr<http::TlsSource> tls_;
  std::unique_ptr<http::Forwarder> forwarder_;
  std::optional<web::ServiceFront> front_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace

bool is_local_address(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  sockaddr_storage parsed{};
  if (host.starts_with('[') && host.ends_with(']')) {
    parsed.ss_family = AF_INET6;
    auto& six = reinterpret_cast<sockaddr_in6&>(parsed);
    return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six.sin6_addr) == 1 && is_loopback(parsed);
  }
  parsed.ss_family = AF_INET;
  auto& four = reinterpret_cast<sockaddr_in&>(parsed);
  return ::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1 && is_loopback(parsed);
}

Result<web::Site> site_of(const ServiceOptions& options, bool is_local) {
  const bool has_tls = !options.tls_certificate.empty();
  if (has_tls != !options.tls_key.empty()) {
    return fail(Code::invalid, "--tls-cert and --tls-key belong together: the certificate and its key");
  }
  if (!has_tls && !options.tls_client_ca.empty()) {
    return fail(Code::invalid, "--tls-client-ca asks clients for certificates, which needs TLS: give --tls-cert too");
  }
  if (has_tls && options.plain_http_behind_proxy) {
    return fail(Code::invalid, "--plain-http-behind-proxy says that a proxy ends TLS; leave it out, or --tls-cert");
  }
  if (!has_tls && !is_local && !options.plain_http_behind_proxy) {
    return fail(Code::refused,
                "without TLS everybody on the way could read the tokens: give --tls-cert and --tls-key, or listen on "
                "127.0.0.1, or, behind a proxy that ends TLS, --plain-http-behind-proxy with --public-url");
  }
  if (options.public_urls.empty() && (options.plain_http_behind_proxy || !is_local)) {
    return fail(Code::invalid,
                "say by which name browsers reach it: --public-url https://kron.example.org; requests by other names "
                "are refused");
  }
  web::Site site{.scheme = has_tls ? "https" : "http"};
  for (const std::string& url : options.public_urls) {
    auto name = web::parse_public_url(url);
    if (!name) return fail(name.error());
    if (name->scheme != "https" && !is_local) {
      return fail(Code::refused, "--public-url " + url + ": tokens are not sent in the clear; write https://");
    }
    site.names.push_back(*std::move(name));
  }
  return site;
}

int serve_for_many(const ServiceOptions& options) {
  keep_memory_private();
  allow_many_descriptors();
  const Status served = WebService(options).run();
  return served ? 0 : refuse("web", served.error(), false);
}

}  // namespace kron::cli
