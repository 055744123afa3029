#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/core/decision.h"
#include "kron/forecast/look_limit.h"
#include "kron/jobs/definition.h"

namespace kron {

// What lies ahead of many jobs, for a program that shows calendars.
struct IcsQuestion {
  static constexpr std::size_t kMostEvents = 5000;
  static constexpr std::uint64_t kMostPerDay = 24;  // periods of a job; one with more is left out
  static constexpr Seconds kLongest = std::chrono::days(366);

  Instant from;
  Seconds length{std::chrono::days(30)};
  // How long a run usually takes, by the job's place among the definitions; none: nobody knows.
  std::function<std::optional<Seconds>(std::size_t job)> usual = {};
  // A job starts nothing before it, which is paused until then; none: it is not.
  std::function<std::optional<Instant>(std::size_t job)> starts_again = {};
  LookLimit limit = {};
};

struct IcsEvents {
  struct Event {
    std::size_t job = 0;
    Instant chosen;
    Instant nominal;
    Window window;
  };
  std::vector<Event> events;          // in the order in which they run
  std::vector<std::size_t> frequent;  // the jobs that were left out, because they run too often to be looked at
  bool is_cut = false;                // there were more than kMostEvents: these are the first
};

// The periods with a time in [from, from + length), of the jobs that start at all. Fails with the field `from` or
// `for`, also when the limit does not suffice.
Result<IcsEvents> ics_events(std::span<const jobs::JobDefinition> definitions, const IcsQuestion& question);

// The same as a calendar (RFC 5545): an event for each period, whose UID is the job's name and the period's id, so that
// a calendar that is read again moves what has moved. The same question and jobs give the same bytes.
Result<std::string> upcoming_ics(std::span<const jobs::JobDefinition> definitions, const IcsQuestion& question);

}  // namespace kron
