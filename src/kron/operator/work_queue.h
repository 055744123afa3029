#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kron/base/instant.h"
#include "kron/core/open_periods.h"

namespace kron::kronjobs {

// Which KronJobs are to be looked at, and when: those that something happened to, those whose time has come, and those
// that failed and have waited. One about which a call is under way is not looked at before its answer. A value without
// a clock: times of KronJobs are the wall clock's, those of failures are monotonic.
class WorkQueue {
 public:
  struct Options {
    Nanoseconds first_pause = Seconds(1);  // after a failure; doubled up to …
    Nanoseconds longest_pause = std::chrono::minutes(5);
  };
  // What became due up to so long ago is on time, while it was we who were not ready.
  static constexpr Seconds kLongestTurn{10};

  explicit WorkQueue(Options options) : options_(options) {}

  // Something happened to it: it is looked at as soon as it can be, also when it rests after a failure. What became due
  // since `since` is on time.
  void touch(std::string_view identity, Instant since);
  // Those whose time has come are to be looked at.
  void advance(Instant now, Nanoseconds monotonic);
  // The next that is to be looked at.
  std::optional<std::string> next();

  // What came of the look: there is nothing to do, which ends its turn …
  void rest(std::string_view identity, std::optional<Instant> until);
  // … or a call that has to wait for others: looked at again at this time, in the same turn …
  void wait(std::string_view identity, std::optional<Instant> until);
  // … or a call is under way, until …
  void begin(std::string_view identity);
  // … it is answered: looked at again, before others …
  void end(std::string_view identity);
  // … or it failed: looked at again after a pause that grows, and is at least `least`. Jitter is from 0 up to 1.
  struct Failed {
    Nanoseconds least{0};
    bool is_link = false;  // there was no answer at all: over when the server answers anybody
    double jitter = 0;
    std::optional<Instant> until = {};  // or at this time, when something becomes due
  };
  void back_off(std::string_view identity, Nanoseconds monotonic, const Failed& failed);
  // It works again: the next failure is a first one.
  void succeeded(std::string_view identity);
  // The server answers: who had no answer is looked at.
  void link_is_back();
  // Nothing happens when a call is under way.
  void forget(std::string_view identity);
  void clear();

  [[nodiscard]] Turn turn(std::string_view identity, Instant now) const;
  [[nodiscard]] int failures(std::string_view identity) const;
  [[nodiscard]] bool is_busy(std::string_view identity) const;
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }
  [[nodiscard]] std::size_t ready() const { return ready_.size(); }
  [[nodiscard]] std::optional<Instant> next_time() const;
  [[nodiscard]] std::optional<Nanoseconds> next_retry() const;

 private:
  enum class State : std::uint8_t { resting, ready, busy };
  struct Entry {
    std::string_view identity;  // its own key
    State state = State::resting;
    std::optional<Instant> since = {};      // of its turn; none: it rests
    std::optional<Instant> time = {};       // its place in times_ …
    std::optional<Nanoseconds> retry = {};  // … and in retries_
    bool is_link = false;
    int failures = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  Entry& entry(std::string_view identity);
  [[nodiscard]] const Entry* find(std::string_view identity) const;
  void make_ready(Entry& entry, bool first);
  void set_time(Entry& entry, std::optional<Instant> at);
  void set_retry(Entry& entry, std::optional<Nanoseconds> at);

  Options options_;
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::deque<std::string_view> ready_;  // some of them not any more
  std::set<std::pair<Instant, std::string_view>> times_;
  std::set<std::pair<Nanoseconds, std::string_view>> retries_;
};

}  // namespace kron::kronjobs
