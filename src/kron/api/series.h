#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/history/recent.h"

namespace kron::api {

// What happened in each minute of the last day, in memory: some 250 KB, whatever happens. Any thread may use it.
class Series {
 public:
  static constexpr std::size_t kMinutes = 1440;

  // What can be asked for, in the order in which it is told.
  enum class Name : std::uint8_t {
    starts,
    succeeded,
    failed,
    timed_out,
    unknown,
    skipped,
    missed,
    no_time,
    delay_p50,  // of scheduled starts behind their chosen time
    delay_p99,
    running,        // at most, in that time
    tasks_pending,  // likewise
  };
  static Result<std::vector<Name>> names_in(std::string_view list);  // with commas; empty: all of them

  // Nothing but starts is known of the time before this.
  explicit Series(Instant begun = {}) : begun_(begun) {}

  void started(Instant at, std::optional<Nanoseconds> delay);
  // A run that has ended, or a period without one; `letter` as history::letter_of.
  void ended(Instant at, char letter);
  // From now on, until they are told again.
  void set_running(Instant at, std::size_t count);
  void set_pending(Instant at, std::size_t count);
  // What the history knows of the time before `begun`.
  void add_earlier(Instant at, std::size_t starts);

  // {"from","stepSeconds","points","series":{"starts":[…]}}: the last `length` up to and with the step that `now` is
  // in; a number for each step, null where it is not known. `step` is in whole minutes.
  std::string json(const std::vector<Name>& names, Seconds length, Seconds step, Instant now) const;

 private:
  // Delays in steps of a factor of √2, from a millisecond up to some three hours.
  static constexpr std::size_t kBuckets = 48;

  struct Point {
    std::int64_t minute = -1;  // since the epoch
    std::uint32_t starts = 0;
    std::array<std::uint32_t, history::kLetters.size()> ends{};
    std::uint32_t running = 0;
    std::uint32_t pending = 0;
    std::array<std::uint16_t, kBuckets> delays{};
  };

  Point* point_at(Instant at);
  const Point* known_at(std::int64_t minute) const;
  std::optional<double> value(Name name, std::int64_t first, std::int64_t step) const;

  const Instant begun_;
  mutable std::mutex mutex_;
  std::vector<Point> ring_ = std::vector<Point>(kMinutes);
  std::int64_t newest_ = -1;
  std::uint32_t running_ = 0;
  std::uint32_t pending_ = 0;
};

}  // namespace kron::api
