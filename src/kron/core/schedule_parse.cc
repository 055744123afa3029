#include <array>
#include <bit>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/schedule.h"
#include "kron/core/schedule_days.h"
#include "kron/core/schedule_field.h"

namespace kron {
namespace {

// Long enough for whatever to_string(Schedule) prints.
constexpr std::size_t kLongestExpression = 2'048;
constexpr std::size_t kMostFields = 7;

using Special = FieldRule::Special;
constexpr FieldRule kSecond{"second", 0, 59, 59, {}};
constexpr FieldRule kMinute{"minute", 0, 59, 59, {}};
constexpr FieldRule kHour{"hour", 0, 23, 23, {}};
constexpr FieldRule kDayOfMonth{"day-of-month", 1, 31, 28, {}, Special::dates};
constexpr FieldRule kMonth{"month", 1, 12, 12, kMonthNames};
constexpr FieldRule kDayOfWeek{"day-of-week", 0, 7, 6, kWeekdayNames, Special::weekdays};
constexpr FieldRule kYear{"year", kFirstYear, kLastYear, 0, {}};

constexpr std::string_view kExpectedWhole =
    "5 fields (minute hour day-of-month month day-of-week), 6 with seconds before, 7 with a year behind, or a macro "
    "such "
    "as @daily or '@every 1h30m'";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

tl::unexpected<Error> bad(const std::string& problem, std::size_t at = 0) {
  return fail(Code::invalid, problem + "; expected " + std::string(kExpectedWhole), "", at + 1);
}

struct Split {
  std::array<FieldText, kMostFields> fields;
  std::size_t count = 0;  // kMostFields + 1 when there are more
};

Split split(std::string_view text) {
  Split result;
  for (std::size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    if (result.count == kMostFields) {
      ++result.count;
      break;
    }
    result.fields[result.count++] = {text, at, end};
    at = end;
  }
  return result;
}

Result<Schedule> parse_every(std::string_view text, const FieldText& macro) {
  const std::string_view duration = trimmed(text.substr(macro.end));
  const std::size_t column = duration.empty() ? macro.end : static_cast<std::size_t>(duration.data() - text.data());
  const Result<Seconds> every = parse_whole_seconds(duration);
  if (!every) {
    const std::size_t inner = every.error().column == 0 ? 1 : every.error().column;
    return fail(Code::invalid, "@every: " + every.error().message, "every", column + inner);
  }
  if (*every < Seconds(1)) return fail(Code::invalid, "@every: expected at least 1s, found 0", "every", column + 1);
  Schedule schedule;
  schedule.kind = Schedule::Kind::every;
  schedule.every = *every;
  return schedule;
}

// The day fields, and the rule by which they combine.
void set_days(Schedule& schedule, const FieldValues& dates, const FieldValues& weekdays) {
  schedule.days = static_cast<std::uint32_t>(dates.bits[0]);
  schedule.days_from_end = dates.days_from_end;
  schedule.near_weekday = dates.near_weekday;
  schedule.last_weekday = dates.last_weekday;
  schedule.weekdays = static_cast<std::uint8_t>(weekdays.bits[0]);
  schedule.last_weekdays = weekdays.last_weekdays;
  schedule.nth_weekdays = weekdays.nth_weekdays;
  schedule.star_day = dates.star;
  schedule.star_weekday = weekdays.star;
  schedule.combine = dates.star || weekdays.star ? Schedule::Combine::all : Schedule::Combine::any;
}

Result<Schedule> parse_fields(const Split& split, std::string_view identity) {
  Schedule schedule;
  const std::size_t base = split.count > 5 ? 1 : 0;
  const auto read = [&](std::size_t index, const FieldRule& rule) {
    return parse_field(split.fields[index], rule, identity);
  };
  if (base == 1) {
    const Result<FieldValues> seconds = read(0, kSecond);
    if (!seconds) return fail(seconds.error());
    schedule.seconds = seconds->bits[0];
  }
  const Result<FieldValues> minutes = read(base, kMinute);
  if (!minutes) return fail(minutes.error());
  schedule.minutes = minutes->bits[0];
  schedule.star_minute = minutes->star;
  const Result<FieldValues> hours = read(base + 1, kHour);
  if (!hours) return fail(hours.error());
  schedule.hours = static_cast<std::uint32_t>(hours->bits[0]);
  schedule.star_hour = hours->star;
  const Result<FieldValues> dates = read(base + 2, kDayOfMonth);
  if (!dates) return fail(dates.error());
  const Result<FieldValues> months = read(base + 3, kMonth);
  if (!months) return fail(months.error());
  schedule.months = static_cast<std::uint16_t>(months->bits[0]);
  const Result<FieldValues> weekdays = read(base + 4, kDayOfWeek);
  if (!weekdays) return fail(weekdays.error());
  set_days(schedule, *dates, *weekdays);
  schedule.years = kAllYears;
  if (split.count == kMostFields) {
    const Result<FieldValues> years = read(base + 5, kYear);
    if (!years) return fail(years.error());
    schedule.years = years->bits;
  }
  if (!has_any_date(schedule)) {
    const FieldText& day = split.fields[base + 2];
    return fail(Code::invalid,
                "day-of-month: no date has day-of-month " + quoted(day.text()) + " with month " +
                    quoted(split.fields[base + 3].text()) + " and day-of-week " +
                    quoted(split.fields[base + 4].text()) +
                    (split.count == kMostFields ? " in year " + quoted(split.fields[base + 5].text()) : "") +
                    "; expected a date that exists",
                std::string(kDayOfMonth.name), day.begin + 1);
  }
  schedule.dst = default_dst_rule(schedule);
  return schedule;
}

Result<Schedule> parse_macro(std::string_view text, const Split& split) {
  const FieldText& macro = split.fields[0];
  if (equals_ignoring_case(macro.text(), "@every")) return parse_every(text, macro);
  if (split.count > 1) return bad("unexpected text after " + quoted(macro.text()), split.fields[1].begin);
  if (equals_ignoring_case(macro.text(), "@reboot")) {
    Schedule schedule;
    schedule.kind = Schedule::Kind::reboot;
    return schedule;
  }
  if (const std::string_view expansion = expansion_of_macro(macro.text()); !expansion.empty()) {
    return parse_fields(kron::split(expansion), {});
  }
  const std::string_view nearest = nearest_word(macro.text(), macro_names());
  return bad("unknown macro " + quoted(macro.text()) +
                 (nearest.empty() ? "" : " (did you mean " + std::string(nearest) + "?)"),
             macro.begin);
}

}  // namespace

Result<Schedule> parse_schedule(std::string_view text, std::string_view identity) {
  if (text.size() > kLongestExpression) {
    return bad("the expression has " + std::to_string(text.size()) + " bytes, at most " +
               std::to_string(kLongestExpression) + " are allowed");
  }
  if (!is_valid_utf8(text)) return bad("the expression " + quoted(text) + " is not valid UTF-8");
  const Split parts = split(text);
  if (parts.count == 0) return bad("the expression is empty");
  if (text[parts.fields[0].begin] == '@') return parse_macro(text, parts);
  if (parts.count < 5) return bad("found " + std::to_string(parts.count) + " fields in " + quoted(text));
  if (parts.count > kMostFields) return bad("found more than 7 fields", parts.fields[kMostFields - 1].end);
  return parse_fields(parts, identity);
}

DstRule default_dst_rule(const Schedule& schedule) {
  if (schedule.star_minute || schedule.star_hour) return {DstRule::Gap::skip, DstRule::Overlap::both};
  return {DstRule::Gap::run, DstRule::Overlap::first};
}

}  // namespace kron
