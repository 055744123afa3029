#include <array>
#include <string>

#include "kron/api/access_store.h"
#include "kron/api/attribution.h"
#include "kron/api/paths.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"

namespace kron::api {
namespace {

constexpr Seconds kUsualLife = std::chrono::hours(365 * 24);

struct Wanted {
  AccessStore::NewToken token;
  std::optional<Seconds> lives = kUsualLife;  // none: for ever
};

Result<Wanted> wanted_token(const http::Request& request) {
  const auto document = object_in(request.body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(std::array<std::string_view, 3>{"name", "role", "expiresIn"});
  Wanted wanted;
  wanted.token.name = std::string(fields.text("name").value_or(""));
  if (const auto wrong = wrong_token_name(wanted.token.name)) fields.report("name", *wrong);
  if (const auto role = role_named(fields.text("role").value_or(""))) {
    wanted.token.role = *role;
  } else {
    fields.report("role", "is none of ics, read, operate, admin");
  }
  if (const auto lives = fields.text("expiresIn")) {
    if (*lives == "never") {
      wanted.lives.reset();
    } else {
      Seconds length{0};
      fields.take(length, "expiresIn", parse_whole_seconds(*lives));
      wanted.lives = length;
    }
  }
  if (!errors.empty()) return fail(errors.front());
  return wanted;
}

Status give_end(Wanted& wanted, Instant present) {
  if (!wanted.lives) return {};
  if (*wanted.lives <= Seconds(0) || *wanted.lives > kLastInstant - present) {
    return fail(Code::invalid, "expiresIn is a time like 90d, or never", "expiresIn");
  }
  wanted.token.expires_at = present + *wanted.lives;
  return {};
}

void write_token_members(JsonWriter& json, const TokenRecord& token) {
  json.member("id", token.id).member("name", token.name).member("role", name_of(token.role));
  json.member("createdAt", rfc3339(token.created_at)).member("createdBy", token.created_by).key("expiresAt");
  if (token.expires_at) {
    json.text(rfc3339(*token.expires_at));
  } else {
    json.null();
  }
}

std::string expiry_text(const TokenRecord& token) {
  return token.expires_at ? rfc3339(*token.expires_at) : std::string("never");
}

// What waits for the disk is done aside.
void do_aside(Parts& parts, const CallPtr& call, std::function<void()> work) {
  if (parts.access == nullptr) return call->refuse({Code::not_found, "this krond knows no tokens"});
  if (!parts.aside(std::move(work))) call->refuse(too_busy());
}

void create_token(Parts& parts, const CallPtr& call) {
  auto wanted = wanted_token(call->request);
  if (!wanted) return call->refuse(wanted.error());
  if (const Status given = give_end(*wanted, now(parts.clock)); !given) return call->refuse(given.error());
  do_aside(parts, call, [&parts, call, wanted = std::move(wanted->token)]() mutable {
    wanted.by = asker_name(call->request.principal);
    const auto created = parts.access->create(wanted);
    if (!created) return call->refuse(created.error());
    const TokenRecord& token = created->record;
    const std::string expires = expiry_text(token);
    parts.log.info("token_created", {{"id", std::string_view(token.id)},
                                     {"name", std::string_view(token.name)},
                                     {"role", name_of(token.role)},
                                     {"expiresAt", std::string_view(expires)},
                                     {"by", std::string_view(token.created_by)}});
    JsonWriter json;
    json.begin_map();
    write_token_members(json, token);
    json.member("token", created->token).end_map();
    call->send({.status = 201, .headers = {{"Cache-Control", "private, no-store"}}, .body = json.take()});
  });
}

void list_tokens(Parts& parts, const CallPtr& call) {
  if (parts.access == nullptr) return call->refuse({Code::not_found, "this krond knows no tokens"});
  if (const auto problem = parts.access->problem()) return call->refuse(*problem);
  JsonWriter json;
  json.begin_map().key("tokens").begin_list();
  for (const AccessStore::Listed& listed : parts.access->list()) {
    json.begin_map();
    write_token_members(json, listed.record);
    json.key("lastUsedAt");
    if (listed.last_used) {
      json.text(rfc3339(*listed.last_used));
    } else {
      json.null();
    }
    json.end_map();
  }
  call->send_json(json.end_list().end_map().take());
}

void revoke_token(Parts& parts, const CallPtr& call) {
  do_aside(parts, call, [&parts, call] {
    const auto revoked = parts.access->revoke(call->names.at(0));
    if (!revoked) return call->refuse(revoked.error());
    const std::string by = asker_name(call->request.principal);
    parts.log.info("token_revoked", {{"id", std::string_view(revoked->id)},
                                     {"name", std::string_view(revoked->name)},
                                     {"by", std::string_view(by)}});
    JsonWriter json;
    json.begin_map();
    write_token_members(json, *revoked);
    call->send_json(json.end_map().take());
  });
}

void revoke_sessions(Parts& parts, const CallPtr& call) {
  do_aside(parts, call, [&parts, call] {
    if (const Status ended = parts.access->end_sessions(); !ended) return call->refuse(ended.error());
    const std::string by = asker_name(call->request.principal);
    parts.log.info("sessions_revoked", {{"by", std::string_view(by)}});
    call->send({.status = 204, .content_type = {}});
  });
}

}  // namespace

std::vector<Route> token_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/tokens", Right::own, with(parts, list_tokens)},
      {"POST", "/api/v1/tokens", Right::own, with(parts, create_token)},
      {"DELETE", "/api/v1/tokens/{id}", Right::own, with(parts, revoke_token)},
      {"DELETE", "/api/v1/sessions", Right::own, with(parts, revoke_sessions)},
  };
}

}  // namespace kron::api
