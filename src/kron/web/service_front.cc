#include "kron/web/service_front.h"

#include <algorithm>
#include <utility>

#include "kron/base/sha256.h"
#include "kron/base/token_text.h"
#include "kron/http/credentials.h"
#include "kron/http/network.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/web/assets.h"
#include "kron/web/guard.h"
#include "kron/web/routes.h"
#include "kron/web/service_ways.h"

namespace kron::web {
namespace {

constexpr std::size_t kMostLoginBody = 4096;
constexpr std::size_t kMostGood = 4096;
constexpr Seconds kGoodFor{600};
constexpr std::string_view kOurCookie = "__Host-kron-";

std::string_view cookies_of(const http::Request& request) { return request.header("cookie").value_or(""); }

std::string hash_of_shown(const http::Request& request) {
  const std::string_view shown = shown_in(request);
  return shown.empty() ? std::string() : hex(sha256({shown}));
}

http::Response not_json() { return http::problem(415, "the body must be application/json"); }

// The name of a cookie of ours that a browser sent; empty: none.
std::vector<std::string> names_of_our_cookies(std::string_view cookies) {
  std::vector<std::string> names;
  for (std::size_t at = cookies.find(kOurCookie); at != std::string_view::npos; at = cookies.find(kOurCookie, at + 1)) {
    const std::string_view name = cookies.substr(at, cookies.find_first_of("=; ", at) - at);
    names.emplace_back(name);
  }
  return names;
}

std::string cookie_field(const std::string& name, const std::string& value, Seconds lives) {
  return name + "=" + value + "; Max-Age=" + std::to_string(lives.count()) +
         "; Path=/; Secure; HttpOnly; SameSite=Strict";
}

std::string member_of(const Node& document, std::string_view key) {
  const Node* node = document.find(key);
  const auto* text = node == nullptr ? nullptr : node->as<std::string>();
  return text == nullptr ? std::string() : *text;
}

// What the client gets of an answer that is adapted.
http::Response private_answer(int status, std::string body) {
  return {.status = status, .headers = {{"Cache-Control", "private, no-store"}}, .body = std::move(body)};
}

http::Response as_it_is(http::Response answer) {
  http::Response response{.status = answer.status, .content_type = answer.content_type, .body = std::move(answer.body)};
  response.headers.emplace_back("Cache-Control", "private, no-store");
  for (auto& field : answer.headers) {
    if (field.first == "www-authenticate" || field.first == "retry-after") response.headers.push_back(std::move(field));
  }
  return response;
}

// What krond cannot know, in front of its metrics.
std::string own_metrics(Instant certificate_expires) {
  constexpr std::string_view kName = "kron_tls_certificate_expiry_timestamp_seconds";
  std::string text("# HELP ");
  text.append(kName).append(" When the certificate of kron web runs out, as Unix time.\n# TYPE ");
  text.append(kName).append(" gauge\n").append(kName).append(" ");
  return text.append(std::to_string(epoch_seconds(certificate_expires))).append("\n");
}

}  // namespace

ServiceFront::ServiceFront(Options options, http::Forwarder& forwarder, const Clock& clock, Log& log)
    : options_(std::move(options)),
      forwarder_(forwarder),
      clock_(clock),
      log_(log),
      events_(std::make_shared<EventFan>(forwarder, clock)),
      asked_(clock.monotonic()) {}

bool ServiceFront::uses_cookies(const http::Request& request) const {
  return options_.site.scheme_of(request.header("host").value_or("")) == "https";
}

Nanoseconds ServiceFront::last_asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

http::Listener::Identified ServiceFront::identify(const http::Request& head) {
  const Nanoseconds now = clock_.monotonic();
  const std::string shown = hash_of_shown(head);
  std::unique_lock lock(mutex_);
  asked_ = now;
  const auto good = shown.empty() ? good_.end() : good_.find(shown);
  const bool is_known = good != good_.end() && now - good->second < kGoodFor;
  lock.unlock();
  const Asked asked = served_asset(head) != nullptr ? Asked::page : Asked::api;
  if (auto no = refusal_of_origin(head, asked, options_.site)) return *std::move(no);
  http::Principal principal = head.principal;
  principal.is_preferred = is_known;
  return principal;
}

std::variant<std::size_t, http::Response> ServiceFront::body_limit(const http::Request& head) const {
  const ServiceWay way = service_way_of(head);
  if (way == ServiceWay::session) return kMostLoginBody;
  if (way == ServiceWay::tokens) return kMostLoginBody;  // for its 403, or 401
  if (shown_in(head).empty()) return http::unauthorized();
  const WebRoute* route = service_route_of(head.method, head.segments);
  return route == nullptr ? kMostLoginBody : route->most_body;
}

void ServiceFront::answer(http::Request request, http::Reply reply) {
  const ServiceWay way = service_way_of(request);
  switch (way) {
    case ServiceWay::page:
      return reply.send(answer_with(*served_asset(request), request));
    case ServiceWay::session:
      return answer_session(std::move(request), std::move(reply));
    case ServiceWay::tokens:
      return reply.send(refuse_tokens(request));
    case ServiceWay::not_let_in:
      return reply.send(http::unauthorized());
    case ServiceWay::not_listed:
      return reply.send(http::problem({Code::not_found, "kron web does not forward this request"}));
    case ServiceWay::not_json:
      return reply.send(not_json());
    case ServiceWay::events:
      return follow_events(std::move(request), std::move(reply));
    case ServiceWay::open:
    case ServiceWay::calendar:
    case ServiceWay::listed:
      return forward(way, std::move(request), std::move(reply));
  }
}

void ServiceFront::forward(ServiceWay way, http::Request request, http::Reply reply) {
  // What is answered to anybody says nothing about what was shown for it.
  const std::string credential = way == ServiceWay::open ? std::string() : hash_of_shown(request);
  const bool adds_own_metrics = options_.certificate_expires && request.segments == std::vector<std::string>{"metrics"};
  // To what is compressed nothing can be added.
  if (adds_own_metrics) {
    std::erase_if(request.headers, [](const auto& field) { return field.first == "accept-encoding"; });
  }
  auto outgoing = outgoing_by(way, std::move(request));
  if (adds_own_metrics) outgoing.before = own_metrics(options_.certificate_expires());
  outgoing.answered = [this, credential](int status) { note_answer(credential, status); };
  forwarder_.forward(std::move(outgoing), std::move(reply));
}

void ServiceFront::follow_events(http::Request request, http::Reply reply) {
  const std::string credential = hash_of_shown(request);
  events_->add(outgoing_with_credentials(std::move(request)), std::move(reply),
               [this, credential](int status) { note_answer(credential, status); });
}

http::Response ServiceFront::refuse_tokens(const http::Request& request) {
  if (shown_in(request).empty()) return http::unauthorized();
  log_.warning("token_path_refused",
               {{"address", std::string_view(request.principal.name)}, {"request", std::string_view(request.method)}});
  return http::problem({Code::refused,
                        "permission denied: tokens are made on krond's own socket, by root and krond's "
                        "own user: kron token create"});
}

void ServiceFront::answer_session(http::Request request, http::Reply reply) {
  if (request.method == "POST") return log_in(std::move(request), std::move(reply));
  if (shown_in(request).empty()) return reply.send(http::unauthorized());
  if (request.method != "GET" && request.method != "DELETE") {
    http::Response response = http::problem(405, "a session knows GET, POST and DELETE");
    response.headers.emplace_back("Allow", "GET, POST, DELETE");
    return reply.send(std::move(response));
  }
  const bool with_cookie = !request.header("authorization");
  const auto names = names_of_our_cookies(cookies_of(request));
  auto outgoing = outgoing_with_credentials(std::move(request));
  outgoing.adapt = [this, with_cookie, names](http::Response answer) {
    if (answer.status == 200) return session_for_page(answer, with_cookie);
    if (answer.status != 204) return as_it_is(std::move(answer));
    http::Response gone{.status = 204, .content_type = {}};
    for (const std::string& name : names) {
      gone.headers.emplace_back("Set-Cookie", cookie_field(name, "", Seconds(0)));
    }
    return gone;
  };
  forwarder_.forward(std::move(outgoing), std::move(reply));
}

void ServiceFront::log_in(http::Request request, http::Reply reply) {
  if (!has_json(request)) return reply.send(not_json());
  const Result<Node> body = parse_json(request.body);
  const std::string token = body ? member_of(*body, "token") : std::string();
  if (token.empty()) return reply.send(http::problem({Code::invalid, R"(send {"token":"kron_…"})", "token"}));
  const std::string id(token_id_in(token).value_or(""));
  const Asker asker{http::network_of(request.principal.name), {}};
  // What is no token need not be asked about; one that may be right is, however often others were wrong.
  if (const auto wait = limits_.waits(asker.address, clock_.monotonic()); wait && id.empty()) {
    return reply.send(slow_down(*wait, asker.address, id));
  }
  const bool with_cookie = uses_cookies(request);
  http::Request clean{.method = "POST", .segments = std::move(request.segments), .body = std::move(request.body)};
  auto outgoing = outgoing_with_credentials(std::move(clean));
  outgoing.adapt = [this, asker, id, with_cookie](http::Response answer) {
    return after_login(std::move(answer), asker, id, with_cookie);
  };
  forwarder_.forward(std::move(outgoing), std::move(reply));
}

http::Response ServiceFront::after_login(http::Response answer, const Asker& asker, const std::string& id,
                                         bool with_cookie) {
  if (answer.status == 200) {
    limits_.right(asker.address);
    return session_for_page(answer, with_cookie);
  }
  if (answer.status != 401) return as_it_is(std::move(answer));
  if (const auto wait = limits_.wrong(asker.address, clock_.monotonic())) return slow_down(*wait, asker.address, id);
  note_failed_login(asker.address, id);
  return http::unauthorized();
}

http::Response ServiceFront::slow_down(Seconds wait, const std::string& address, const std::string& id) {
  note_failed_login(address, id);
  http::Response response =
      http::problem(429, "too many wrong tokens came from there; a right one is taken at any time");
  response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return response;
}

// What krond says of a session, as the page gets it: in a cookie that no script can read, or for the page to keep.
http::Response ServiceFront::session_for_page(const http::Response& answer, bool with_cookie) const {
  const Result<Node> document = parse_json(answer.body);
  if (!document) return http::problem(504, "krond answered what is no JSON");
  const std::string session = member_of(*document, "session");
  const Node* idle = document->find("idleSeconds");
  const auto* seconds = idle == nullptr ? nullptr : idle->as<std::int64_t>();
  JsonWriter json;
  json.begin_map().member("name", member_of(*document, "name")).member("role", member_of(*document, "role"));
  json.member("host", options_.host).member("version", options_.version);
  if (seconds != nullptr) json.key("idleSeconds").integer(*seconds);
  if (!session.empty() && !with_cookie) json.member("token", session);
  if (!session.empty() && with_cookie) json.member("csrf", member_of(*document, "csrf"));
  http::Response response = private_answer(200, json.end_map().take());
  if (!session.empty() && with_cookie) {
    const Seconds lives(seconds == nullptr ? 0 : *seconds);
    response.headers.emplace_back("Set-Cookie", cookie_field(member_of(*document, "cookie"), session, lives));
  }
  return response;
}

// One line a second at most.
void ServiceFront::note_failed_login(const std::string& address, const std::string& id) {
  std::unique_lock lock(mutex_);
  ++untold_;
  const Nanoseconds now = clock_.monotonic();
  if (told_ && now - *told_ < Seconds(1)) return;
  told_ = now;
  const std::int64_t count = std::exchange(untold_, 0);
  lock.unlock();
  log_.warning("login_failed",
               {{"address", std::string_view(address)}, {"id", std::string_view(id)}, {"count", count}});
}

void ServiceFront::note_answer(const std::string& credential, int status) {
  if (credential.empty()) return;
  const std::lock_guard lock(mutex_);
  if (status == 401) {
    good_.erase(credential);
    return;
  }
  const Nanoseconds now = clock_.monotonic();
  if (status >= 400) return;
  if (good_.size() >= kMostGood) {
    good_.erase(std::ranges::min_element(good_, {}, [](const auto& one) { return one.second; }));
  }
  good_[credential] = now;
}

}  // namespace kron::web
