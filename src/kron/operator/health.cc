#include "kron/operator/health.h"

#include <utility>
#include <vector>

#include "kron/http/tcp_listener.h"
#include "kron/metrics/metrics.h"

namespace kron::kronjobs {
namespace {

http::Response plain(int status, std::string text) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(text)};
}

}  // namespace

Status Health::listen(const std::string& address, Log& log) {
  // Nothing is shown here that is a secret, and nothing can be changed.
  Result<http::TcpListener> listener =
      http::TcpListener::open(address, [](const http::Request& head) { return head.principal; });
  if (!listener) return fail(listener.error());
  port_ = listener->port();
  http::Server::Listeners listeners;
  listeners.push_back(std::make_unique<http::TcpListener>(*std::move(listener)));
  auto server = http::Server::start(
      std::move(listeners), {},
      [this](const http::Request& request, http::Reply reply) { reply.send(answer(request)); }, log);
  if (!server) return fail(server.error());
  server_ = *std::move(server);
  return {};
}

void Health::turned(bool is_ready) {
  turned_at_ = clock_.monotonic().count();
  is_ready_ = is_ready;
}

http::Response Health::answer(const http::Request& request) const {
  const bool is_one = request.segments.size() == 1;
  const std::string path = is_one ? request.segments.front() : std::string();
  if (path != "metrics" && path != "healthz" && path != "readyz") return http::problem(404, "there is nothing here");
  if (request.method != "GET") {
    http::Response refused = http::problem(405, "only GET is served here");
    refused.headers.emplace_back("Allow", "GET");
    return refused;
  }
  if (path == "metrics") {
    return {.content_type = std::string(metrics::kContentType), .body = metrics_.text()};
  }
  const Nanoseconds turned_at(turned_at_.load());
  const bool is_alive = turned_at == Nanoseconds(0) || clock_.monotonic() - turned_at <= kLongestTurn;
  if (!is_alive) return plain(503, "the loop has not turned for more than 30 s\n");
  if (path == "readyz" && !is_ready_) return plain(503, "not ready\n");
  return plain(200, "ok\n");
}

}  // namespace kron::kronjobs
