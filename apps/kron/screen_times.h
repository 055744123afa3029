#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/core/time_zone.h"

namespace kron::cli {

// How the times of a screen are to be spelled.
struct TimeFlags {
  bool utc = false;
  bool local = false;  // for people, also where standard output is no terminal
};

// How far away a time is, in one unit and rounded towards now: `in 4 min`, `3 h ago`, `now`.
std::string distance_text(Seconds from_now);

// How the screens of kron spell times. For programs, which read what is no terminal, RFC 3339 in UTC and nothing else.
// For people the wall clock of a zone, or RFC 3339 where UTC was asked for, and how far away it is.
class ScreenTimes {
 public:
  ScreenTimes() = default;
  // Without a zone: in UTC.
  ScreenTimes(std::optional<TimeZone> zone, Instant now) : is_for_people_(true), zone_(std::move(zone)), now_(now) {}

  [[nodiscard]] bool is_for_people() const { return is_for_people_; }
  // For people: `Europe/Paris`, or `UTC`.
  [[nodiscard]] std::string zone_name() const { return zone_ ? zone_->name() : "UTC"; }

  // `2026-11-17 03:00:00`; with the offset from UTC when the wall clock shows that time twice.
  [[nodiscard]] std::string at(Instant t) const;
  // The same with its distance: `2026-11-17 03:00:00, in 4 min`.
  [[nodiscard]] std::string near(Instant t) const;
  // `in 4 min`; empty for programs.
  [[nodiscard]] std::string distance(Instant t) const;

  // The same for a time as krond spells it. Other text stays what it is.
  [[nodiscard]] std::string at(std::string_view time) const;
  [[nodiscard]] std::string near(std::string_view time) const;

 private:
  bool is_for_people_ = false;
  std::optional<TimeZone> zone_;
  Instant now_;
};

}  // namespace kron::cli
