#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron::history {

// A stretch of time in which krond was up, on the clock that it goes by.
struct UpTime {
  // What came behind it.
  enum class End : std::uint8_t {
    none,       // it lasts, or nobody could say: krond was killed, or the power went
    stopped,    // krond was told to end
    slept,      // the machine, or krond, stood still
    clock_set,  // the clock was set, forward or back
  };

  Instant from;
  Instant to;  // the last time at which it was known to be up
  End end = End::none;

  bool operator==(const UpTime&) const = default;
};
std::string_view name_of(UpTime::End end);

// When krond was up: the last stretches of it, the oldest first. A value; time comes in by calls.
class UpTimes {
 public:
  // Beyond them the shortest time between two is forgotten: a krond that is restarted again and again does not make a
  // night without one forgotten.
  static constexpr std::size_t kMost = 500;
  // krond says so often that it is up; between two beats it may have died.
  static constexpr Seconds kBetweenBeats{60};

  UpTimes() = default;
  explicit UpTimes(std::vector<UpTime> all);

  // A krond begins.
  void begin(Instant now, Nanoseconds boot_time);
  // It is still up. `boot_time` goes on while the machine sleeps and is not set (Clock::boot_time): what the wall clock
  // does beyond it was a setting of the clock, and a beat that comes late was a sleep, but for the time that whoever
  // calls this was `busy`.
  void beat(Instant now, Nanoseconds boot_time, Seconds busy = Seconds(0));
  // It ends because it was told to.
  void stop(Instant now);

  [[nodiscard]] const std::vector<UpTime>& all() const { return all_; }

 private:
  void add(Instant now);
  void forget_shortest();

  std::vector<UpTime> all_;
  std::optional<Nanoseconds> beat_at_;  // by the boot time
};

// As kept in history/up.json: {"version":1,"up":[{"from":…,"to":…,"end":"stopped"}]}.
std::string up_times_text(const std::vector<UpTime>& all);
Result<std::vector<UpTime>> parse_up_times(std::string_view text);

// A time at which krond was not up, although it had been before and was again later; what lies before the first stretch
// nobody knows.
struct DownTime {
  Instant from;  // the last time at which it was known to be up
  Instant to;    // the first at which it was up again
  UpTime::End why = UpTime::End::none;

  bool operator==(const DownTime&) const = default;
};
std::optional<DownTime> down_at(const std::vector<UpTime>& up, Instant t);
// Known to have been up. Before the first stretch and behind the last neither this nor that is known.
bool was_up_at(const std::vector<UpTime>& up, Instant t);

}  // namespace kron::history
