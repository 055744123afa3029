#include "kron/api/access_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kron/base/hmac.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/base/token_text.h"
#include "kron/env/durable.h"

namespace kron::api {
namespace {

constexpr std::size_t kLargestAccessFile = std::size_t{2} << 20U;
constexpr std::size_t kSessionIdBytes = 16;
constexpr std::size_t kSessionKeyBytes = 32;
constexpr Seconds kRenewed = std::chrono::minutes(5);
// Of a token that nobody has: whoever shows something else is compared with it, at the same price.
constexpr std::string_view kNoHash = "0000000000000000000000000000000000000000000000000000000000000000";

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

std::string hash_of_token(std::string_view text) {
  // Of another length it is no token: it costs what one would.
  const std::string as_long = std::string(text.substr(0, kTokenSize)) + std::string(kTokenSize, ' ');
  return hex(sha256({std::string_view(as_long).substr(0, kTokenSize)}));
}

std::string principal_name(const TokenRecord& token) { return "token " + token.name; }

template <std::size_t Size>
std::array<std::uint8_t, Size> array_of(std::string_view bytes) {
  std::array<std::uint8_t, Size> array{};
  std::ranges::copy(bytes.substr(0, Size), array.begin());
  return array;
}

}  // namespace

AccessStore::AccessStore(Place place, const Clock& clock, Log& log, Random random)
    : place_(std::move(place)), clock_(clock), log_(log), random_(std::move(random)), refusals_(clock, log) {
  read();
}

void AccessStore::read() {
  const auto directory = place_.file_system.open_directory(place_.directory);
  const Result<FileContents> file =
      directory ? (*directory)->read(kAccessName, kLargestAccessFile) : Result<FileContents>(fail(directory.error()));
  if (!file && file.error().code == Code::not_found) return;
  Result<AccessRecord> record = file ? parse_access(file->bytes) : Result<AccessRecord>(fail(file.error()));
  if (record) {
    known_.record = *std::move(record);
    return;
  }
  known_.problem = record.error();
  known_.problem->message = entry_path(place_.directory, kAccessName) + ": " + record.error().message +
                            "; nobody is let in by a token until it is repaired, or removed with all tokens in it, and "
                            "krond restarted";
  log_.error("access_unreadable",
             {{"path", std::string_view(place_.directory)}, {"reason", std::string_view(known_.problem->message)}});
}

std::optional<Error> AccessStore::problem() const {
  const std::lock_guard lock(mutex_);
  return known_.problem;
}

// With writing_ held. What is known changes when it is durable, and not if it is not.
Status AccessStore::write(AccessRecord record) {
  if (const auto wrong = problem()) return fail(*wrong);
  if (is_broken_) {
    return fail(Code::io, "a write of " + std::string(kAccessName) +
                              " failed before, and nobody knows what is on the "
                              "disk; restart krond");
  }
  if (record.session_key.empty()) record.session_key = hex_of(random_(kSessionKeyBytes));
  const Instant present = now(clock_);
  std::erase_if(record.ended, [&](const EndedSession& session) { return session.until <= present; });
  const auto directory = place_.file_system.open_directory(place_.directory);
  if (!directory) return fail(directory.error());
  const std::string text = access_text(record);
  const ReplaceResult replaced =
      durable_replace(place_.file_system, **directory, {.name = kAccessName, .bytes = text, .mode = 0600});
  is_broken_ = replaced.fatal;
  if (!replaced) return replaced.status;
  const std::lock_guard lock(mutex_);
  known_.record = std::move(record);
  std::erase_if(known_.last_used, [&](const auto& used) { return token_of(used.first) == nullptr; });
  return {};
}

// With mutex_ held.
const TokenRecord* AccessStore::token_of(std::string_view id) const {
  const auto found = std::ranges::find(known_.record.tokens, id, &TokenRecord::id);
  return found == known_.record.tokens.end() ? nullptr : &*found;
}

Result<AccessStore::Created> AccessStore::create(const NewToken& wanted) {
  if (const auto wrong = wrong_token_name(wanted.name)) return fail(Code::invalid, "the name " + *wrong, "name");
  const std::lock_guard writing(writing_);
  std::unique_lock lock(mutex_);
  AccessRecord record = known_.record;
  lock.unlock();
  if (record.tokens.size() >= kMostTokens) {
    return fail(Code::conflict, "there are " + std::to_string(kMostTokens) + " tokens, which is the most; revoke some");
  }
  if (std::ranges::find(record.tokens, wanted.name, &TokenRecord::name) != record.tokens.end()) {
    return fail(Code::conflict,
                "there is a token named " + quoted(wanted.name, kMostTokenName) + "; revoke it, or take another name",
                "name");
  }
  std::string text;
  std::string_view id;
  do {
    text = token_text(array_of<5>(random_(5)), array_of<32>(random_(32)));
    id = *token_id_in(text);
  } while (std::ranges::find(record.tokens, id, &TokenRecord::id) != record.tokens.end());
  record.tokens.push_back({.id = std::string(id),
                           .name = wanted.name,
                           .role = wanted.role,
                           .sha256 = hash_of_token(text),
                           .created_at = now(clock_),
                           .created_by = wanted.by,
                           .expires_at = wanted.expires_at});
  const TokenRecord created = record.tokens.back();
  if (Status written = write(std::move(record)); !written) return fail(written.error());
  return Created{created, std::move(text)};
}

Result<TokenRecord> AccessStore::revoke(std::string_view id) {
  const std::lock_guard writing(writing_);
  std::unique_lock lock(mutex_);
  AccessRecord record = known_.record;
  lock.unlock();
  const auto found = std::ranges::find(record.tokens, id, &TokenRecord::id);
  if (found == record.tokens.end()) {
    return fail(Code::not_found, "there is no token " + quoted(id) + "; see `kron token list`");
  }
  TokenRecord revoked = *found;
  record.tokens.erase(found);
  if (Status written = write(std::move(record)); !written) return fail(written.error());
  close_those([name = principal_name(revoked)](const http::Principal& principal) { return principal.name == name; });
  return revoked;
}

Status AccessStore::end_sessions() {
  const std::lock_guard writing(writing_);
  std::unique_lock lock(mutex_);
  AccessRecord record = known_.record;
  lock.unlock();
  if (record.session_key.empty()) return {};
  record.session_key = hex_of(random_(kSessionKeyBytes));
  record.ended.clear();
  Status written = write(std::move(record));
  if (written) close_those([](const http::Principal& principal) { return !principal.session.empty(); });
  return written;
}

Status AccessStore::end_session(std::string_view text) {
  const std::lock_guard writing(writing_);
  std::unique_lock lock(mutex_);
  AccessRecord record = known_.record;
  lock.unlock();
  const auto session = parse_session(text, record.session_key);
  if (!session) return fail(Code::not_found, "there is no such session");
  if (std::ranges::find(record.ended, session->id, &EndedSession::id) != record.ended.end()) return {};
  if (record.ended.size() >= kMostEndedSessions) {
    record.session_key = hex_of(random_(kSessionKeyBytes));
    record.ended.clear();
  } else {
    // It may have been renewed: no text of it lives longer than this.
    record.ended.push_back({session->id, session->issued + kSessionLongest});
  }
  return write(std::move(record));
}

void AccessStore::close_session(std::string id) const {
  close_those([id = std::move(id)](const http::Principal& principal) { return principal.session == id; });
}

std::vector<AccessStore::Listed> AccessStore::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<Listed> listed;
  for (const TokenRecord& token : known_.record.tokens) {
    const auto used = known_.last_used.find(token.id);
    listed.push_back({token, used == known_.last_used.end() ? std::nullopt : std::optional(used->second)});
  }
  return listed;
}

std::optional<http::Principal> AccessStore::who_has(std::string_view shown, Refused* why_not) {
  Refused ignored;
  Refused& why = why_not == nullptr ? ignored : *why_not;
  const std::lock_guard lock(mutex_);
  return shown.starts_with(kTokenPrefix) ? by_token(shown, why) : by_session(shown, why);
}

// With mutex_ held.
http::Principal AccessStore::principal_of(const TokenRecord& token, Instant now) {
  known_.last_used.insert_or_assign(token.id, now);
  return {.name = principal_name(token), .permissions = static_cast<unsigned>(token.role), .until = token.expires_at};
}

// With mutex_ held. Whatever is wrong is found behind the same hash and comparison.
std::optional<http::Principal> AccessStore::by_token(std::string_view text, Refused& why_not) {
  const auto id = token_id_in(text);
  const TokenRecord* token = id ? token_of(*id) : nullptr;
  const std::string shown = hash_of_token(text);
  const bool is_right = equal_in_constant_time(shown, token == nullptr ? kNoHash : std::string_view(token->sha256));
  const Instant present = now(clock_);
  if (id) why_not.id = std::string(*id);
  if (!id) {
    why_not.reason = "no token";
  } else if (token == nullptr || !is_right) {
    why_not.reason = "unknown or revoked";
  } else if (token->expires_at && *token->expires_at <= present) {
    why_not.reason = "expired";
  } else if (token->jobs) {
    why_not.reason = "restricted to jobs, which this krond cannot do";
  } else {
    return principal_of(*token, present);
  }
  return std::nullopt;
}

// With mutex_ held.
std::optional<http::Principal> AccessStore::by_session(std::string_view text, Refused& why_not) {
  const auto session = parse_session(text, known_.record.session_key);
  const Instant present = now(clock_);
  const TokenRecord* token = session ? token_of(session->token_id) : nullptr;
  if (!session || known_.record.session_key.empty()) {
    why_not.reason = "no session";
    return std::nullopt;
  }
  why_not.id = session->token_id;
  if (token == nullptr || token->jobs) {
    why_not.reason = "a session of a token that is revoked";
  } else if (token->expires_at && *token->expires_at <= present) {
    why_not.reason = "a session of a token that has expired";
  } else if (session->expires <= present || session->issued > present + Seconds(60)) {
    why_not.reason = "a session that has expired";
  } else if (std::ranges::find(known_.record.ended, session->id, &EndedSession::id) != known_.record.ended.end()) {
    why_not.reason = "a session that was ended";
  } else {
    http::Principal principal = principal_of(*token, present);
    principal.session = session->id;
    principal.until = std::min(principal.until.value_or(session->expires), session->expires);
    return principal;
  }
  return std::nullopt;
}

// With mutex_ held.
AccessStore::Opened AccessStore::opened(Session session, const TokenRecord& token) {
  const Instant present = now(clock_);
  Instant expires = std::min(present + kSessionIdle, session.issued + kSessionLongest);
  if (token.expires_at) expires = std::min(expires, *token.expires_at);
  // The same text for a while: the tabs of a browser tell each other when it is another.
  if (expires - session.expires >= kRenewed) session.expires = expires;
  const std::string& key = known_.record.session_key;
  return {.session = session,
          .text = session_text(session, key),
          .csrf = csrf_of(session.id, key),
          .cookie = cookie_name(key),
          .token = token};
}

std::optional<AccessStore::Opened> AccessStore::open_session(std::string_view token, Refused* why_not) {
  Refused ignored;
  const std::string id = hex_of(random_(kSessionIdBytes));
  const std::lock_guard lock(mutex_);
  Refused& why = why_not == nullptr ? ignored : *why_not;
  if (!by_token(token, why)) return std::nullopt;
  const TokenRecord& record = *token_of(*token_id_in(token));
  if (record.role == Right::ics) {
    why.reason = "a token for calendars, which opens no session";
    return std::nullopt;
  }
  return opened({.id = id, .token_id = record.id, .issued = now(clock_)}, record);
}

std::optional<AccessStore::Opened> AccessStore::renew(std::string_view text) {
  Refused ignored;
  const std::lock_guard lock(mutex_);
  if (!by_session(text, ignored)) return std::nullopt;
  Session session = *parse_session(text, known_.record.session_key);
  const TokenRecord& token = *token_of(session.token_id);
  return opened(std::move(session), token);
}

void AccessStore::close_by(Close close) {
  const std::lock_guard lock(mutex_);
  known_.close = std::move(close);
}

void AccessStore::close_those(std::function<bool(const http::Principal&)> is_meant) const {
  std::unique_lock lock(mutex_);
  const Close close = known_.close;
  lock.unlock();
  if (close) close(std::move(is_meant));
}

void AccessStore::close_expired() {
  close_those([present = now(clock_)](const http::Principal& principal) {
    return principal.until && *principal.until <= present;
  });
}

std::string AccessStore::cookie() const {
  const std::lock_guard lock(mutex_);
  return known_.record.session_key.empty() ? std::string() : cookie_name(known_.record.session_key);
}

std::string AccessStore::csrf_of_session(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  return csrf_of(id, known_.record.session_key);
}

}  // namespace kron::api
