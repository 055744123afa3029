#include "time_argument.h"

#include <algorithm>
#include <optional>
#include <string>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/forecast/local_time.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostTimeShown = 60;
constexpr Instant kEarliestTime = instant_of(-62167219200);  // 0000-01-01T00:00:00Z
constexpr Instant kLatestTime = instant_of(253402300799);    // 9999-12-31T23:59:59Z

tl::unexpected<Error> no_time(std::string_view text) {
  return fail(Code::invalid,
              "expected a time such as 2026-11-17T03:00:00Z, '2026-11-17 03:00' or 03:00 in local time, "
              "-1h, +30m or now, found " +
                  quoted(text, kMostTimeShown));
}

// Digits where the shape has a 0, the very character elsewhere.
bool has_shape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(text, shape,
                            [](char c, char wanted) { return wanted == '0' ? c >= '0' && c <= '9' : c == wanted; });
}

Result<Instant> away_from(Instant now, std::string_view text) {
  const auto distance = parse_whole_seconds(text.substr(1));
  if (!distance) {
    return fail(Code::invalid, "expected a duration after the " + std::string(text.substr(0, 1)) +
                                   ", such as -1h or +30m, found " + quoted(text, kMostTimeShown) + ": " +
                                   distance.error().message);
  }
  const bool is_back = text.front() == '-';
  const bool is_too_far = *distance > (is_back ? now - kEarliestTime : kLatestTime - now);
  if (is_too_far) return fail(Code::invalid, quoted(text, kMostTimeShown) + " leads out of the years 0000 to 9999");
  return is_back ? now - *distance : now + *distance;
}

// "2026-11-17T03:00:00Z" for a wall-clock time, whatever its spelling; none when it is no such time.
std::optional<std::string> wall_clock_of(std::string_view text, std::string_view today) {
  std::string_view date = today;
  std::string_view time = text;
  if (text.size() >= 10 && has_shape(text.substr(0, 10), "0000-00-00")) {
    date = text.substr(0, 10);
    if (text.size() == 10) return std::string(date) + "T00:00:00Z";
    if (text[10] != ' ' && text[10] != 'T' && text[10] != 't') return std::nullopt;
    time = text.substr(11);
  }
  if (!has_shape(time, "00:00") && !has_shape(time, "00:00:00")) return std::nullopt;
  return std::string(date) + "T" + std::string(time) + (time.size() == 5 ? ":00Z" : "Z");
}

Result<Instant> on_wall_clock(std::string_view text, const std::string& wall_clock, const TimeZone& zone) {
  const auto shown = parse_rfc3339(wall_clock);
  if (!shown) return fail(Code::invalid, "there is no such time as " + quoted(text) + ": " + shown.error().message);
  const auto found = zone.resolve(epoch_seconds(*shown));
  switch (found.kind) {
    case TimeZone::Resolution::Kind::unique:
      return found.first;
    case TimeZone::Resolution::Kind::skipped:
      return fail(Code::invalid, "the clocks of " + zone.name() + " jump over " + quoted(text) + ", to " +
                                     local_text(zone, found.first));
    case TimeZone::Resolution::Kind::repeated:
      break;
  }
  return fail(Code::invalid, "the clocks of " + zone.name() + " show " + quoted(text) + " twice: write " +
                                 local_text(zone, found.first) + " or " + local_text(zone, found.second));
}

}  // namespace

Result<Instant> parse_time_argument(std::string_view text, Instant now, const Result<TimeZone>& local) {
  if (text == "now") return now;
  if (text.starts_with('-') || text.starts_with('+')) return away_from(now, text);
  const std::string today = local ? local_text(*local, now).substr(0, 10) : "0000-00-00";
  if (const auto wall_clock = wall_clock_of(text, today)) {
    if (!local) return fail(local.error());
    return on_wall_clock(text, *wall_clock, *local);
  }
  const bool begins_with_a_date = text.size() > 10 && has_shape(text.substr(0, 10), "0000-00-00");
  auto time = parse_rfc3339(text);
  return time || begins_with_a_date ? time : no_time(text);
}

}  // namespace kron::cli
