#include "kron/api/web_listener.h"

#include "kron/base/hmac.h"
#include "kron/http/credentials.h"

namespace kron::api {
namespace {

using Path = std::vector<std::string>;

bool is_look(const http::Request& head) { return head.method == "GET" || head.method == "HEAD"; }

// Nobody yet, and of no right.
http::Principal anybody(Right right = Right::none) {
  return {.name = "anybody", .permissions = static_cast<unsigned>(right)};
}

bool is_open(const http::Request& head) {
  if (is_look(head)) return head.segments == Path{"healthz"} || head.segments == Path{"readyz"};
  return head.method == "POST" && head.segments == Path{"api", "v1", "session"};
}

http::Response no_csrf() {
  return http::problem({Code::refused, "a request that changes something needs the header X-Kron-CSRF of its session"});
}

}  // namespace

std::string_view session_shown(const http::Request& request, const AccessStore& access) {
  if (request.principal.session.empty()) return {};
  if (request.header("authorization")) return http::bearer_of(request).value_or("");
  return http::cookie_of(request, access.cookie()).value_or("");
}

http::Listener::Identified identify_by_token(const http::Request& head, AccessStore& access, bool open_metrics) {
  if (auto no = http::refusal_of_credentials(head)) return *std::move(no);
  if (is_open(head)) return anybody();
  if (open_metrics && is_look(head) && head.segments == Path{"metrics"}) return anybody(Right::read);
  // Who shows a token means it, and his browser's cookie counts for nothing beside it.
  const bool has_header = head.header("authorization").has_value();
  const auto shown = has_header ? http::bearer_of(head) : http::cookie_of(head, access.cookie());
  if (!shown && !has_header) return http::unauthorized();
  AccessStore::Refused why;
  // A cookie holds a session, never a token: that would be sent along unasked.
  auto who = access.who_has(shown.value_or(""), &why);
  if (!who || (!has_header && who->session.empty())) {
    access.refusals().not_let_in(why.reason.empty() ? "a token in a cookie" : why.reason, why.id);
    return http::unauthorized();
  }
  if (head.header(kTokenInPath) && right_of(*who) != Right::ics) {
    access.refusals().not_let_in("in a path, where only a token of the role ics may be", why.id);
    return http::unauthorized();
  }
  if (has_header || is_look(head)) return *std::move(who);
  const std::string_view sent = head.header("x-kron-csrf").value_or("");
  if (!equal_in_constant_time(sent, access.csrf_of_session(who->session))) {
    access.refusals().not_allowed(who->name, head.method, "X-Kron-CSRF");
    return no_csrf();
  }
  return *std::move(who);
}

WebListener::WebListener(std::unique_ptr<http::Listener> socket, AccessStore& access, bool open_metrics)
    : socket_(std::move(socket)), access_(access), open_metrics_(open_metrics) {
  // All connections are those of one front. What is behind one is known when it asks.
  limits_.connections = {.most = 512, .kept = 0, .of_one_user = 512};
  limits_.requests = {.most = 256, .kept = 0, .of_one_user = 64};
  limits_.streams = {.most = 256, .kept = 0, .of_one_user = 64};
  constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
  limits_.bodies = {.most = 128 * kMebibyte, .kept = 0, .of_one_user = 96 * kMebibyte};
}

}  // namespace kron::api
