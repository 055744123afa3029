#include "kron/api/access_record.h"

#include <algorithm>
#include <set>

#include "kron/api/attribution.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/base/token_text.h"
#include "kron/json/document.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"

namespace kron::api {
namespace {

constexpr std::string_view kAccessVersion = "1";

bool is_hex_of(std::string_view text, std::size_t size) {
  return text.size() == size &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

void write_expiry(JsonWriter& json, std::string_view key, const std::optional<Instant>& time) {
  json.key(key);
  if (time) {
    json.text(rfc3339(*time));
  } else {
    json.null();
  }
}

// A text that must be there.
std::string needed_text(kron::Fields& fields, std::string_view key) {
  const auto text = fields.text(key);
  if (!text && !fields.has(key)) fields.report(key, "is missing");
  return std::string(text.value_or(""));
}

Instant record_time_in(kron::Fields& fields, std::string_view key) {
  Instant time;
  if (const std::string text = needed_text(fields, key); !text.empty()) fields.take(time, key, parse_rfc3339(text));
  return time;
}

TokenRecord token_record_in(kron::Fields fields) {
  TokenRecord token{.id = needed_text(fields, "id"), .name = needed_text(fields, "name")};
  if (!is_token_id(token.id)) fields.report("id", "is no id of a token");
  if (const auto wrong = wrong_token_name(token.name)) fields.report("name", *wrong);
  if (const auto role = role_named(needed_text(fields, "role"))) {
    token.role = *role;
  } else {
    fields.report("role", "is none of ics, read, operate, admin");
  }
  token.sha256 = needed_text(fields, "sha256");
  if (!is_hex_of(token.sha256, 64)) fields.report("sha256", "is no SHA-256");
  token.created_at = record_time_in(fields, "createdAt");
  token.created_by = needed_text(fields, "createdBy");
  if (fields.has("expiresAt")) token.expires_at = record_time_in(fields, "expiresAt");
  if (const Node* jobs = fields.find("jobs")) {
    const auto* text = jobs->as<std::string>();
    token.jobs = text == nullptr ? std::string("?") : *text;
  }
  return token;
}

template <class Each>
void each_listed(kron::Fields& fields, std::string_view key, std::size_t most, std::vector<Error>& errors, Each each) {
  const Node* node = fields.find(key);
  const auto* list = node == nullptr ? nullptr : node->as<Node::List>();
  if (node != nullptr && list == nullptr) return fields.report(key, "is no list");
  if (list == nullptr) return;
  if (list->size() > most) return fields.report(key, "has more than " + std::to_string(most) + " items");
  for (std::size_t i = 0; i < list->size(); ++i) {
    each(kron::Fields((*list)[i], std::string(key) + "[" + std::to_string(i) + "]", errors));
  }
}

// Of two with one id or name nobody could say which was meant.
void check_different(kron::Fields& fields, const AccessRecord& record) {
  std::set<std::string_view> ids;
  std::set<std::string_view> names;
  for (const TokenRecord& token : record.tokens) {
    if (!ids.insert(token.id).second) fields.report("tokens", "has the id " + quoted(token.id) + " twice");
    if (!names.insert(token.name).second) fields.report("tokens", "has the name " + quoted(token.name) + " twice");
  }
}

}  // namespace

std::optional<Right> role_named(std::string_view name) {
  for (const Right role : {Right::ics, Right::read, Right::operate, Right::admin}) {
    if (name == name_of(role)) return role;
  }
  return std::nullopt;
}

std::optional<std::string> wrong_token_name(std::string_view name) {
  if (name.empty()) return "is empty; say what the token is for";
  if (name.size() > kMostTokenName) {
    return "has " + std::to_string(name.size()) + " bytes; " + std::to_string(kMostTokenName) + " are the most";
  }
  if (!is_valid_utf8(name) || has_control(name)) return "has a control character; it is one line of plain text";
  return std::nullopt;
}

std::string access_text(const AccessRecord& record) {
  JsonWriter json;
  json.begin_map().member("Version", kAccessVersion).member("sessionKey", record.session_key);
  json.key("tokens").begin_list();
  for (const TokenRecord& token : record.tokens) {
    json.begin_map().member("id", token.id).member("name", token.name).member("role", name_of(token.role));
    json.member("sha256", token.sha256).member("createdAt", rfc3339(token.created_at));
    json.member("createdBy", token.created_by);
    write_expiry(json, "expiresAt", token.expires_at);
    json.key("jobs");
    if (token.jobs) {
      json.text(*token.jobs);
    } else {
      json.null();
    }
    json.end_map();
  }
  json.end_list().key("endedSessions").begin_list();
  for (const EndedSession& session : record.ended) {
    json.begin_map().member("id", session.id).member("until", rfc3339(session.until)).end_map();
  }
  return json.end_list().end_map().take() + "\n";
}

Result<AccessRecord> parse_access(std::string_view text) {
  const auto document = parse_json(text);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  kron::Fields fields(*document, "", errors);
  if (needed_text(fields, "Version") != kAccessVersion) {
    return fail(Code::invalid, "Version is not \"1\": another krond wrote it", "Version");
  }
  AccessRecord record{.session_key = needed_text(fields, "sessionKey")};
  if (!is_hex_of(record.session_key, 64)) fields.report("sessionKey", "is no key");
  each_listed(fields, "tokens", kMostTokens, errors,
              [&](kron::Fields of_token) { record.tokens.push_back(token_record_in(std::move(of_token))); });
  each_listed(fields, "endedSessions", kMostEndedSessions, errors, [&](kron::Fields of_session) {
    record.ended.push_back({needed_text(of_session, "id"), record_time_in(of_session, "until")});
  });
  check_different(fields, record);
  if (!errors.empty()) return fail(errors.front());
  return record;
}

}  // namespace kron::api
