#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/api/access_record.h"
#include "kron/api/refusal_log.h"
#include "kron/api/session_text.h"
#include "kron/env/clock.h"
#include "kron/env/file_system.h"
#include "kron/env/log.h"
#include "kron/http/message.h"

namespace kron::api {

inline constexpr std::string_view kAccessName = "access.json";

// The tokens and sessions by which people come in over the web socket. From any thread; what changes the file waits for
// the disk, and is for threads that may.
class AccessStore {
 public:
  static constexpr Seconds kSessionIdle = std::chrono::hours(12);
  static constexpr Seconds kSessionLongest = std::chrono::hours(7 * 24);

  struct Place {
    FileSystem& file_system;
    std::string directory;  // which is there
  };
  // Makes random bytes: random_bytes, but in tests.
  using Random = std::function<std::string(std::size_t)>;

  // Reads the file. One that cannot be read lets nobody in and is not written over: problem() says why, and the log.
  // What is referred to outlives the store.
  AccessStore(Place place, const Clock& clock, Log& log, Random random);
  AccessStore(const AccessStore&) = delete;
  AccessStore& operator=(const AccessStore&) = delete;

  std::optional<Error> problem() const;

  struct NewToken {
    std::string name;
    Right role = Right::read;
    std::optional<Instant> expires_at;  // none: never
    std::string by;
  };
  struct Created {
    TokenRecord record;
    std::string token;  // the only time it is seen
  };
  // Durable when it returns. If we die before the answer has come, the token is there and nobody has it: it is in the
  // list, and can be revoked. Conflict: the name is taken, or there are kMostTokens.
  Result<Created> create(const NewToken& wanted);
  // Durable when it returns: nobody comes in by it any more. not_found: there is none.
  Result<TokenRecord> revoke(std::string_view id);
  // Ends all sessions, by a new key.
  Status end_sessions();
  // Ends this one before its time, by its text; those who still use it are for close_session, when whoever asked has
  // his answer.
  Status end_session(std::string_view text);
  void close_session(std::string id) const;

  struct Listed {
    TokenRecord record;
    std::optional<Instant> last_used;  // since krond started
  };
  std::vector<Listed> list() const;

  // Who shows this, a token or the text of a session; nothing: nobody who is let in, whatever the reason, which takes
  // the same work to find for all. `why_not`, if any, gets a word for the log, and the id in a token.
  struct Refused {
    std::string_view reason = {};
    std::string id = {};
  };
  std::optional<http::Principal> who_has(std::string_view shown, Refused* why_not = nullptr);

  // The session of a token that lets its owner in.
  struct Opened {
    Session session;
    std::string text;    // what the browser keeps
    std::string csrf;    // what the page sends along
    std::string cookie;  // the name it is kept by
    TokenRecord token;
  };
  std::optional<Opened> open_session(std::string_view token, Refused* why_not = nullptr);
  // The same session, idle from now on; nothing when it is none any more.
  std::optional<Opened> renew(std::string_view text);

  // Ends the requests and streams of whoever is let in no longer: Server::closer. What ended before is not told.
  using Close = std::function<void(std::function<bool(const http::Principal&)>)>;
  void close_by(Close close);
  // Those whose time is over. To be called now and then.
  void close_expired();

  RefusalLog& refusals() { return refusals_; }

  std::string cookie() const;  // its name; empty: nobody has a session
  std::string csrf_of_session(std::string_view id) const;

 private:
  struct Known {
    AccessRecord record = {};
    std::optional<Error> problem = {};
    std::map<std::string, Instant, std::less<>> last_used = {};  // by the ids of tokens
    Close close = {};
  };
  void read();
  Status write(AccessRecord record);
  void close_those(std::function<bool(const http::Principal&)> is_meant) const;
  const TokenRecord* token_of(std::string_view id) const;
  std::optional<http::Principal> by_token(std::string_view text, Refused& why_not);
  std::optional<http::Principal> by_session(std::string_view text, Refused& why_not);
  http::Principal principal_of(const TokenRecord& token, Instant now);
  Opened opened(Session session, const TokenRecord& token);

  Place place_;
  const Clock& clock_;
  Log& log_;
  Random random_;
  RefusalLog refusals_;
  std::mutex writing_;  // one change at a time; held while the disk is waited for
  bool is_broken_ = false;
  mutable std::mutex mutex_;  // guards what is known; never held for long
  Known known_;
};

}  // namespace kron::api
