#include "kron/core/cron_args.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

#include "kron/base/text.h"
#include "kron/core/cron_args_field.h"
#include "kron/core/schedule_field.h"

namespace kron {
namespace {

using Texts = std::map<std::string, std::string>;

constexpr std::size_t kLongestValue = 2'048;
constexpr std::string_view kCronstring = "cronstring";

// From the coarsest to the finest. A field that is not given is `*`, unless all finer ones are not given either: then
// it is its lowest value.
constexpr std::array kFields{ArgsField::year,        ArgsField::month, ArgsField::day,    ArgsField::week,
                             ArgsField::day_of_week, ArgsField::hour,  ArgsField::minute, ArgsField::second};
// The order of a cronstring.
constexpr std::array kCronstringFields{ArgsField::minute, ArgsField::hour, ArgsField::day, ArgsField::month,
                                       ArgsField::day_of_week};

std::string_view default_text(ArgsField field) {
  switch (field) {
    case ArgsField::month:
    case ArgsField::day:
      return "1";
    case ArgsField::hour:
    case ArgsField::minute:
    case ArgsField::second:
      return "0";
    default:
      return "*";
  }
}

// One text per field, in the order of kFields.
using FieldTexts = std::array<std::string_view, kFields.size()>;

std::string_view& text_of(FieldTexts& texts, ArgsField field) { return texts[static_cast<std::size_t>(field)]; }

FieldTexts texts_from_args(const Texts& args) {
  FieldTexts texts;
  bool finer_given = false;
  const bool any_given = std::ranges::any_of(kFields, [&](ArgsField f) { return args.contains(name_of(f)); });
  for (const ArgsField field : kFields | std::views::reverse) {
    const auto given = args.find(name_of(field));
    if (given != args.end()) {
      text_of(texts, field) = given->second;
      finer_given = true;
    } else {
      text_of(texts, field) = finer_given || !any_given ? "*" : default_text(field);
    }
  }
  return texts;
}

Result<FieldTexts> texts_from_cronstring(std::string_view text) {
  const auto bad = [&](const std::string& problem, std::size_t at) {
    return fail(Code::invalid,
                std::string(kCronstring) + ": " + problem +
                    "; expected 5 fields (minute hour day month day_of_week, 0 is Monday) or a macro such as @daily, "
                    "@minutely or @never",
                std::string(kCronstring), at + 1);
  };
  FieldTexts texts;
  for (const ArgsField field : kFields) text_of(texts, field) = default_text(field);
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    if (count == kCronstringFields.size()) return bad("found more than 5 fields", begin);
    text_of(texts, kCronstringFields[count++]) = text.substr(begin, end - begin);
    at = end;
  }
  if (count != kCronstringFields.size()) return bad("found " + std::to_string(count) + " fields in " + quoted(text), 0);
  return texts;
}

Result<Schedule> schedule_from(const FieldTexts& texts) {
  ArgsValues values;
  for (const ArgsField field : kFields) {
    if (const Status read = read_args_field(field, texts[static_cast<std::size_t>(field)], values); !read) {
      return fail(read.error());
    }
  }
  return schedule_of(values);
}

Result<Schedule> schedule_from_cronstring(std::string_view given) {
  const std::string_view text = trimmed(given);
  if (text == "@never") return Schedule{};
  // The weekday of @weekly is a number too, so here it is Monday.
  const std::string_view macro = text == "@minutely" ? "* * * * *" : expansion_of_macro(text);
  const std::string_view expression = macro.empty() ? given : macro;
  const Result<FieldTexts> texts = texts_from_cronstring(expression);
  if (!texts) return fail(texts.error());
  Result<Schedule> schedule = schedule_from(*texts);
  if (!schedule) {
    // The field's own column counts from its text; the caller's text is the whole cronstring.
    Error error = schedule.error();
    for (const ArgsField field : kCronstringFields) {
      if (error.field != name_of(field)) continue;
      error.column += static_cast<std::size_t>((*texts)[static_cast<std::size_t>(field)].data() - expression.data());
    }
    error.field = kCronstring;
    return fail(std::move(error));
  }
  return schedule;
}

Status check_keys(const Texts& args) {
  constexpr std::array<std::string_view, 13> kKnown{"year",     "month",  "day",      "week",       "day_of_week",
                                                    "hour",     "minute", "second",   "start_date", "end_date",
                                                    "timezone", "jitter", kCronstring};
  for (const auto& [key, value] : args) {
    if (std::ranges::find(kKnown, key) == kKnown.end()) {
      const std::string_view nearest = nearest_word(key, kKnown);
      return fail(Code::invalid,
                  "cron_args: unknown key " + quoted(key) +
                      (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?"),
                  "cron_args");
    }
    if (value.size() > kLongestValue || !is_valid_utf8(value)) {
      return fail(Code::invalid,
                  key + ": expected valid UTF-8 of at most " + std::to_string(kLongestValue) + " bytes, found " +
                      std::to_string(value.size()) + " bytes " + quoted(value),
                  key, 1);
    }
  }
  return {};
}

Result<Seconds> parse_jitter(std::string_view given) {
  const std::string_view text = trimmed(given);
  constexpr std::int64_t kMostJitter = 366 * kSecondsPerDay;
  std::int64_t value = 0;
  const bool digits =
      !text.empty() && text.size() <= 9 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  for (const char c : digits ? text : std::string_view{}) value = value * 10 + (c - '0');
  if (!digits || value > kMostJitter) {
    return fail(Code::invalid,
                "jitter: expected whole seconds, 0 to " + std::to_string(kMostJitter) + ", found " + quoted(given),
                "jitter", 1);
  }
  return Seconds(value);
}

// A bound of the schedule, in the zone when it names none; a fraction is rounded into the bounds.
Result<std::optional<Instant>> bound_from(const Texts& args, const std::string& key, const TimeZone& zone,
                                          bool round_up) {
  const auto given = args.find(key);
  if (given == args.end()) return std::optional<Instant>();
  const Result<Instant> bound = parse_args_date(given->second, key, zone, round_up);
  if (!bound) return fail(bound.error());
  return std::optional<Instant>(*bound);
}

}  // namespace

Result<CronArgs> parse_cron_args(const Texts& args, const TimeZone& fallback, ZoneDatabase& zones) {
  if (const Status known = check_keys(args); !known) return fail(known.error());
  CronArgs result;
  result.zone = fallback;
  // As in cronken, a cronstring leaves nothing to say for the others: not for the zone, the bounds and the jitter
  // either.
  if (const auto cronstring = args.find(std::string(kCronstring)); cronstring != args.end()) {
    Result<Schedule> schedule = schedule_from_cronstring(cronstring->second);
    if (!schedule) return fail(schedule.error());
    result.schedule = *schedule;
    return result;
  }
  if (const auto zone = args.find("timezone"); zone != args.end()) {
    const Result<TimeZone> found = zones.find(zone->second);
    if (!found) return fail(found.error());
    result.zone = *found;
  }
  if (const auto jitter = args.find("jitter"); jitter != args.end()) {
    const Result<Seconds> length = parse_jitter(jitter->second);
    if (!length) return fail(length.error());
    result.jitter = *length;
  }
  Result<Schedule> schedule = schedule_from(texts_from_args(args));
  if (!schedule) return fail(schedule.error());
  result.schedule = *schedule;
  const auto start = bound_from(args, "start_date", result.zone, true);
  if (!start) return fail(start.error());
  result.schedule.not_before = *start;
  const auto end = bound_from(args, "end_date", result.zone, false);
  if (!end) return fail(end.error());
  result.schedule.not_after = *end;
  return result;
}

}  // namespace kron
