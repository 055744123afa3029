#include "kron/web/front.h"

#include <utility>

#include "kron/http/credentials.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/web/assets.h"
#include "kron/web/guard.h"

namespace kron::web {
namespace {

constexpr unsigned kLoggedIn = 1;
constexpr std::size_t kMostBody = std::size_t{64} << 10;
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

bool is_logged_in(const http::Request& request) { return request.principal.permissions == kLoggedIn; }

bool is_session(const http::Request& request) {
  return request.segments == std::vector<std::string>{"api", "v1", "session"};
}

const Asset* asset_of(const http::Request& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  return reads ? asset_at(request.target.substr(0, request.target.find('?'))) : nullptr;
}

http::Response not_logged_in() {
  http::Response response = http::problem(401, "there is no such session; take the address that kron web prints");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  response.headers.emplace_back("Cache-Control", "private, no-store");
  return response;
}

bool is_json(const http::Request& request) {
  const std::string_view type = request.header("content-type").value_or("");
  return type.substr(0, type.find(';')) == "application/json";
}

}  // namespace

Front::Front(Options options, Sessions& sessions, http::Forwarder& forwarder, const Clock& clock)
    : options_(std::move(options)), sessions_(sessions), forwarder_(forwarder), clock_(clock) {}

http::Fields Front::headers() {
  return {{"Content-Security-Policy", std::string(kPolicy)},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"}};
}

http::Listener::Identified Front::identify(const http::Request& head) {
  if (auto no = refusal_of_origin(head, asset_of(head) != nullptr ? Asked::page : Asked::api)) return *std::move(no);
  const auto token = http::bearer_of(head);
  if (!token || !sessions_.touch(*token, clock_.boot_time())) return head.principal;
  return http::Principal{.name = "page", .permissions = kLoggedIn, .is_preferred = true};
}

std::variant<std::size_t, http::Response> Front::body_limit(const http::Request& head) const {
  if (!is_logged_in(head) && !is_session(head)) return not_logged_in();
  return kMostBody;
}

void Front::answer(http::Request request, http::Reply reply) {
  if (const Asset* asset = asset_of(request)) return reply.send(answer_with(*asset, request));
  if (is_session(request)) return answer_session(request, std::move(reply));
  if (!is_logged_in(request)) return reply.send(not_logged_in());
  const WebRoute* route = web_route_of(request.method, request.segments);
  if (route == nullptr) {
    return reply.send(http::problem({Code::not_found, "kron web does not forward this request"}));
  }
  if (route->needs > options_.role) {
    return reply.send(http::problem(
        {Code::refused, "this needs the role " + std::string(name_of(route->needs)) + "; start kron web --admin"}));
  }
  // A form of another site can send only a few types of body, and this is none of them.
  if (!request.body.empty() && !is_json(request)) {
    return reply.send(http::problem(415, "the body must be application/json"));
  }
  forwarder_.forward(outgoing_of(std::move(request), options_.role), std::move(reply));
}

void Front::answer_session(const http::Request& request, http::Reply reply) {
  if (request.method == "POST") return reply.send(log_in(request));
  if (!is_logged_in(request)) return reply.send(not_logged_in());
  if (request.method == "GET") return reply.send(session_json({}));
  if (request.method == "DELETE") {
    sessions_.end(http::bearer_of(request).value_or(""));
    return reply.send({.status = 204, .content_type = {}});
  }
  http::Response response = http::problem(405, "a session knows GET, POST and DELETE");
  response.headers.emplace_back("Allow", "GET, POST, DELETE");
  reply.send(std::move(response));
}

http::Response Front::log_in(const http::Request& request) {
  if (!is_json(request)) return http::problem(415, "the body must be application/json");
  const Result<Node> body = parse_json(request.body);
  const Node* code = body ? body->find("code") : nullptr;
  const auto* text = code == nullptr ? nullptr : code->as<std::string>();
  if (text == nullptr) return http::problem({Code::invalid, R"(send {"code":"…"})", "code"});
  const Nanoseconds now = clock_.boot_time();
  if (const auto token = sessions_.redeem(*text, now)) {
    limit_.right();
    return session_json(*token);
  }
  // One line a second at most: who tries often shall not fill the screen.
  if (!told_ || now - *told_ >= Seconds(1)) {
    told_ = now;
    options_.tell("a code that is wrong, used or older than a minute was refused");
  }
  if (const auto wait = limit_.wrong(now)) {
    http::Response response = http::problem(429, "too many wrong codes; press Enter where kron web runs for a new one");
    response.headers.emplace_back("Retry-After", std::to_string(wait->count()));
    return response;
  }
  return not_logged_in();
}

http::Response Front::session_json(const std::string& token) const {
  JsonWriter json;
  json.begin_map();
  if (!token.empty()) json.member("token", token);
  json.member("role", name_of(options_.role)).member("host", options_.host).member("version", options_.version);
  json.key("idleSeconds").integer(Sessions::kIdle.count()).end_map();
  return {.headers = {{"Cache-Control", "private, no-store"}}, .body = json.take()};
}

}  // namespace kron::web
