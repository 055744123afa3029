#include <array>

#include "kron/api/access_store.h"
#include "kron/api/paths.h"
#include "kron/api/web_listener.h"
#include "kron/base/rfc3339.h"
#include "kron/http/credentials.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"

namespace kron::api {
namespace {

void send_private(const CallPtr& call, std::string body) {
  call->send({.headers = {{"Cache-Control", "private, no-store"}}, .body = std::move(body)});
}

void send_session(const CallPtr& call, const AccessStore::Opened& opened) {
  JsonWriter json;
  json.begin_map().member("name", opened.token.name).member("role", name_of(opened.token.role));
  json.member("session", opened.text).member("cookie", opened.cookie).member("csrf", opened.csrf);
  json.member("expiresAt", rfc3339(opened.session.expires));
  json.key("idleSeconds").integer(AccessStore::kSessionIdle.count());
  send_private(call, json.end_map().take());
}

Result<std::string> token_in_body(const http::Request& request) {
  const auto document = object_in(request.body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(std::array<std::string_view, 1>{"token"});
  const auto token = fields.text("token");
  if (errors.empty() && !token) fields.report("token", "is missing");
  if (!errors.empty()) return fail(errors.front());
  return std::string(*token);
}

void open_session(Parts& parts, const CallPtr& call) {
  if (parts.access == nullptr) return call->send(http::unauthorized());
  const auto token = token_in_body(call->request);
  if (!token) return call->refuse(token.error());
  AccessStore::Refused why;
  const auto opened = parts.access->open_session(*token, &why);
  if (!opened) {
    parts.access->refusals().not_let_in(why.reason, why.id);
    return call->send(http::unauthorized());
  }
  parts.log.info("session_opened",
                 {{"id", std::string_view(opened->token.id)}, {"name", std::string_view(opened->token.name)}});
  send_session(call, *opened);
}

// Whoever asks uses it: it lives on. One who came by a token, or is a user of this machine, has none.
void show_session(Parts& parts, const CallPtr& call) {
  const http::Principal& principal = call->request.principal;
  if (right_of(principal) < Right::read) return call->send(http::unauthorized());
  if (principal.session.empty()) {
    JsonWriter json;
    json.begin_map().member("name", principal.name).member("role", name_of(right_of(principal)));
    return send_private(call, json.end_map().take());
  }
  const auto renewed = parts.access->renew(session_shown(call->request, *parts.access));
  if (!renewed) return call->send(http::unauthorized());
  send_session(call, *renewed);
}

void end_session(Parts& parts, const CallPtr& call) {
  if (call->request.principal.session.empty()) {
    return call->refuse({Code::not_found, "there is no session: this request came by none"});
  }
  const bool taken = parts.aside([&parts, call] {
    const std::string_view text = session_shown(call->request, *parts.access);
    const auto session = parts.access->renew(text);
    if (const Status ended = parts.access->end_session(text); !ended) return call->refuse(ended.error());
    const std::string id = session ? session->token.id : std::string();
    parts.log.info("session_ended",
                   {{"id", std::string_view(id)}, {"by", std::string_view(call->request.principal.name)}});
    call->send({.status = 204, .content_type = {}});
    parts.access->close_session(call->request.principal.session);
  });
  if (!taken) call->refuse(too_busy());
}

}  // namespace

std::vector<Route> session_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/session", Right::none, with(parts, show_session)},
      {"POST", "/api/v1/session", Right::none, with(parts, open_session)},
      {"DELETE", "/api/v1/session", Right::none, with(parts, end_session)},
  };
}

}  // namespace kron::api
