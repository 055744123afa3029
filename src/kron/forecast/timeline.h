#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/forecast/look_limit.h"
#include "kron/jobs/definition.h"

namespace kron {

// What of a picture of many jobs is seen: so many lanes, and so many columns of time.
struct TimelineQuestion {
  static constexpr std::size_t kMostColumns = 2000;
  static constexpr std::size_t kMostLanes = 200;
  static constexpr std::size_t kMostItems = 20'000;  // marks of all lanes together

  enum class Order : std::uint8_t {
    due,  // what starts next comes first
    name,
    attention,  // what needs somebody comes first; then as `due`
  };

  Instant from;
  Seconds length{std::chrono::hours(24)};
  Instant now;  // what is due is due from here on
  std::size_t columns = 1200;
  std::size_t lanes = 40;
  Order order = Order::due;
  std::string prefix = {};  // of the names that were asked for: jobs are not put together by less than that
  // How much a job needs somebody, by its place among the definitions: 0, not at all. For Order::attention.
  std::function<unsigned(std::size_t job)> need = {};
  LookLimit limit = {};
};

// Who is in a lane, and when their periods are. All times are seconds from `from`; they may lie before it or behind the
// end, as a window may.
struct TimelineLane {
  struct Period {
    std::int64_t nominal, window_start, window_end;
    std::optional<std::int64_t> chosen;  // none: unschedulable

    bool operator==(const Period&) const = default;
  };
  using Column = std::pair<std::size_t, std::uint64_t>;  // which, and the starts in it
  using Span = std::pair<std::int64_t, std::int64_t>;    // from, to

  std::string name = {};               // of the job; of several, what their names have in common, with `*` for the rest
  std::vector<std::size_t> jobs = {};  // their places among the definitions
  bool is_dense = false;               // too many periods, or too many at once, to be told apart
  std::vector<Period> periods = {};    // when it is not: those whose windows touch the time, by nominal time
  std::vector<Column> density = {};    // when it is: chosen times per column, without empty ones
  std::vector<Span> windows = {};      // when it is: where there is a window at all
};

struct Timeline {
  Instant from, until;
  std::vector<TimelineLane> lanes;
  std::size_t more = 0;                      // lanes that were not asked for, or had no place
  std::vector<std::uint64_t> before, after;  // nominal and chosen times per column, of all jobs
};

// Jobs that share a lane: those whose names differ in their digits alone, three or more of them (`host-*/backup`); and,
// as long as there are more lanes than asked for, those of one path (`team/*`), the fullest path first. Costs what a
// load profile costs. Fails with the field `from` or `for`, also when the limit does not suffice.
Result<Timeline> timeline(std::span<const jobs::JobDefinition> definitions, const TimelineQuestion& question);

// Which of `columns` equal parts of [from, from + length) holds the time; nothing when none does.
std::optional<std::size_t> column_of(const TimelineQuestion& question, Instant time);

// `a12/b3` and `a7/b10` are both `a*/b*`.
std::string without_digits(std::string_view name);

}  // namespace kron
