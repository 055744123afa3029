#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"

namespace kron::web {

// Who may use the page: one-time codes that are traded for sessions, and the sessions. In memory alone, and of both
// only their hashes; all of them end with the process. From any thread. `now` never jumps (Clock::boot_time).
class Sessions {
 public:
  static constexpr Seconds kCodeLives{60};
  static constexpr Seconds kIdle{12 * 3600};
  static constexpr std::size_t kMostCodes = 8;      // at a time; one more, and the oldest is void
  static constexpr std::size_t kMostSessions = 64;  // one more, and that which was idle longest ends

  // Makes `bytes` random bytes, as hex: random_secret, but in tests.
  using Random = std::function<std::string(std::size_t bytes)>;
  explicit Sessions(Random random);

  // 128 bits; good for one session, within kCodeLives.
  std::string new_code(Nanoseconds now);

  // The token of a new session, 256 bits; nothing when the code is none, or was used before, or is too old.
  std::optional<std::string> redeem(std::string_view code, Nanoseconds now);

  // Whether there is such a session. It lives for kIdle from now on.
  bool touch(std::string_view token, Nanoseconds now);

  void end(std::string_view token);

 private:
  using ByHash = std::map<std::string, Nanoseconds>;  // when each was made or last used
  static void drop_older(ByHash& entries, Nanoseconds than);
  static void add(ByHash& entries, std::string_view secret, Nanoseconds now, std::size_t most);

  Random random_;
  std::mutex mutex_;
  ByHash codes_;
  ByHash sessions_;
};

// Up to 256 random bytes of the kernel's, as hex: what nobody guesses.
std::string random_secret(std::size_t bytes);

// Wrong codes cost the machine something: after a few of them the next are turned away for a while, which doubles. A
// right one never is, so nobody can keep anybody else out. For one thread.
class LoginLimit {
 public:
  static constexpr int kFree = 5;
  static constexpr Seconds kLongest{60};

  // A wrong code came. Nothing: it is told so; else how long whoever sent it shall wait.
  std::optional<Seconds> wrong(Nanoseconds now);
  void right() { count_ = 0; }
  std::optional<Seconds> waits(Nanoseconds now) const;

 private:
  int count_ = 0;
  Nanoseconds until_{0};
};

}  // namespace kron::web
