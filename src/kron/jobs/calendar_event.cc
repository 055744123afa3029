#include "kron/jobs/calendar_event.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "kron/base/text.h"
#include "kron/core/schedule.h"

namespace kron::jobs {
namespace {

constexpr std::size_t kMostCalendarBytes = 1000;
constexpr std::size_t kMostCalendarItems = 128;
constexpr std::string_view kCalendarBlank = " \t";

constexpr auto kShorthands = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"minutely", "*-*-* *:*:00"},
    {"hourly", "*-*-* *:00:00"},
    {"daily", "*-*-* 00:00:00"},
    {"weekly", "Mon *-*-* 00:00:00"},
    {"monthly", "*-*-01 00:00:00"},
    {"quarterly", "*-01,04,07,10-01 00:00:00"},
    {"semiannually", "*-01,07-01 00:00:00"},
    {"semi-annually", "*-01,07-01 00:00:00"},
    {"biannually", "*-01,07-01 00:00:00"},
    {"bi-annually", "*-01,07-01 00:00:00"},
    {"yearly", "*-01-01 00:00:00"},
    {"annually", "*-01-01 00:00:00"},
    {"anually", "*-01-01 00:00:00"},
});

// Monday first, as systemd counts.
constexpr auto kDayNames =
    std::to_array<std::string_view>({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"});
constexpr auto kCronDays = std::to_array<std::string_view>({"MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"});
constexpr unsigned kEveryDay = 0x7F;

struct CalendarItem {
  int first = 0;
  int last = 0;  // of a range; first when there is none
  int step = 0;  // 0: none
  bool is_range = false;
};
using CalendarPart = std::vector<CalendarItem>;  // empty: any value

struct CalendarEvent {
  unsigned weekdays = kEveryDay;
  CalendarPart year, month, day;
  bool counts_from_end = false;  // the days
  CalendarPart hour{{}}, minute{{}}, second{{}};
  std::string zone;
};

struct CalendarLimits {
  std::string_view name;
  int least;
  int most;
};
constexpr CalendarLimits kCalendarYears{"year", kFirstYear, kLastYear};
constexpr CalendarLimits kCalendarMonths{"month", 1, 12};
constexpr CalendarLimits kCalendarDays{"day", 1, 31};
constexpr CalendarLimits kCalendarHours{"hour", 0, 23};
constexpr CalendarLimits kCalendarMinutes{"minute", 0, 59};
constexpr CalendarLimits kCalendarSeconds{"second", 0, 59};

auto not_understood(std::string_view what, std::string_view text) {
  return fail(Code::invalid, std::string(what) + " is not understood: " + quoted(text, 100));
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A number at the front, taken off. Seconds may have a fraction, which no cron expression has.
Result<int> take_number(std::string_view& text, const CalendarLimits& limits) {
  const std::string_view whole = text;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || text.front() == '-') return not_understood(limits.name, whole);
  const auto digits = static_cast<std::size_t>(end - text.data());
  text.remove_prefix(digits);
  if (limits.name == kCalendarYears.name && digits <= 2) value += value < 70 ? 2000 : 1900;
  if (text.size() >= 2 && text.front() == '.' && text[1] >= '0' && text[1] <= '9' &&
      limits.name == kCalendarSeconds.name) {
    const std::size_t after = std::min(text.find_first_not_of("0123456789", 1), text.size());
    if (text.substr(1, after - 1).find_first_not_of('0') != std::string_view::npos) {
      return fail(Code::invalid, "a schedule has whole seconds, not " + quoted(whole));
    }
    text.remove_prefix(after);
  }
  if (value < limits.least || value > limits.most) {
    return fail(Code::invalid, std::string(limits.name) + " must be from " + std::to_string(limits.least) + " to " +
                                   std::to_string(limits.most) + ", not " + std::to_string(value));
  }
  return value;
}

Result<CalendarItem> item_of(std::string_view text, const CalendarLimits& limits) {
  const std::string_view whole = text;
  CalendarItem item;
  const Result<int> first = take_number(text, limits);
  if (!first) return fail(first.error());
  item.first = item.last = *first;
  if (text.starts_with("..")) {
    text.remove_prefix(2);
    const Result<int> last = take_number(text, limits);
    if (!last) return fail(last.error());
    if (*last < item.first) return not_understood(limits.name, whole);
    item.last = *last;
    item.is_range = true;
  }
  if (text.starts_with('/')) {
    text.remove_prefix(1);
    // A step is as long as it likes, but not endless.
    const Result<int> step =
        take_number(text, {limits.name == kCalendarSeconds.name ? kCalendarSeconds.name : "step", 1, kLastYear});
    if (!step) return fail(step.error());
    item.step = *step;
  }
  if (!text.empty()) return not_understood(limits.name, whole);
  return item;
}

Result<CalendarPart> part_of(std::string_view text, const CalendarLimits& limits) {
  CalendarPart part;
  if (text == "*") return part;
  for (const std::string_view piece : split_at(text, ",")) {
    const Result<CalendarItem> item = item_of(piece, limits);
    if (!item) return fail(item.error());
    part.push_back(*item);
    if (part.size() > kMostCalendarItems)
      return fail(Code::invalid, "the list of " + std::string(limits.name) + "s is too long");
  }
  return part;
}

std::optional<unsigned> weekday_named(std::string_view text) {
  for (unsigned day = 0; day < kDayNames.size(); ++day) {
    if (equals_ignoring_case(text, kDayNames[day]) || equals_ignoring_case(text, kDayNames[day].substr(0, 3)))
      return day;
  }
  return std::nullopt;
}

// `Mon,Wed..Fri`; nothing when it is something else.
std::optional<unsigned> weekdays_in(std::string_view text) {
  unsigned days = 0;
  for (const std::string_view piece : split_at(text, ",")) {
    if (piece.empty() && days != 0) continue;  // a comma before the date
    const std::size_t dots = piece.find("..");
    const std::size_t bar = dots == std::string_view::npos ? piece.find('-') : dots;
    const auto first = weekday_named(piece.substr(0, bar));
    const auto last = bar == std::string_view::npos ? first : weekday_named(piece.substr(bar + (dots == bar ? 2 : 1)));
    if (!first || !last || *last < *first) return std::nullopt;
    for (unsigned day = *first; day <= *last; ++day) days |= 1U << day;
  }
  return days;
}

// `*-*-*`, `12-24`, `*-*~01`.
Status read_date(std::string_view text, CalendarEvent& event) {
  event.counts_from_end = text.find('~') != std::string_view::npos;
  const std::vector<std::string_view> parts = split_at(text, "-~");
  if (parts.size() < 2 || parts.size() > 3 ||
      (event.counts_from_end && text[text.size() - parts.back().size() - 1] != '~') ||
      std::ranges::count(text, '~') > 1) {
    return not_understood("date", text);
  }
  const std::array<std::pair<CalendarPart*, const CalendarLimits*>, 3> places{
      {{&event.year, &kCalendarYears}, {&event.month, &kCalendarMonths}, {&event.day, &kCalendarDays}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [place, limits] = places[i + 3 - parts.size()];
    Result<CalendarPart> part = part_of(parts[i], *limits);
    if (!part) return fail(part.error());
    *place = *std::move(part);
  }
  if (event.counts_from_end && event.day.empty()) return not_understood("date", text);
  return {};
}

Status read_time(std::string_view text, CalendarEvent& event) {
  const std::vector<std::string_view> parts = split_at(text, ":");
  if (parts.size() < 2 || parts.size() > 3) return not_understood("time", text);
  const std::array<std::pair<CalendarPart*, const CalendarLimits*>, 3> places{
      {{&event.hour, &kCalendarHours}, {&event.minute, &kCalendarMinutes}, {&event.second, &kCalendarSeconds}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [place, limits] = places[i];
    Result<CalendarPart> part = part_of(parts[i], *limits);
    if (!part) return fail(part.error());
    *place = *std::move(part);
  }
  return {};
}

// Weekdays, date, time, zone: each may be absent, but not all of the first three, and each stands before the next.
Result<CalendarEvent> event_of(std::string_view text) {
  for (const auto& [word, meaning] : kShorthands) {
    if (equals_ignoring_case(text.substr(0, text.find(' ')), word)) {
      Result<CalendarEvent> event = event_of(meaning);
      if (event) event->zone = trimmed(text.substr(word.size()));
      return event;
    }
  }
  CalendarEvent event;
  int stage = 0;
  for (const std::string_view word : split_at(text, kCalendarBlank)) {
    if (word.empty()) continue;
    const auto days = weekdays_in(word);
    const bool is_time = word.find(':') != std::string_view::npos;
    const bool is_date = !is_time && (word.front() == '*' || (word.front() >= '0' && word.front() <= '9'));
    const int place = days ? 1 : is_date ? 2 : is_time ? 3 : 4;
    if (place <= stage || (place == 4 && stage == 0)) return not_understood("calendar event", text);
    stage = place;
    if (days) event.weekdays = *days;
    const Status read = is_date ? read_date(word, event) : is_time ? read_time(word, event) : Status{};
    if (!read) return fail(read.error());
    if (place == 4) event.zone = word;
  }
  if (stage == 0) return not_understood("calendar event", text);
  return event;
}

std::string cron_field(const CalendarPart& part) {
  if (part.empty()) return "*";
  std::string text;
  for (const CalendarItem& item : part) {
    if (!text.empty()) text += ',';
    text += std::to_string(item.first);
    if (item.is_range) text += '-' + std::to_string(item.last);
    if (item.step != 0) text += '/' + std::to_string(item.step);
  }
  return text;
}

// Days before the last one, as systemd counts them: 1 is the last.
Result<std::string> days_from_end(const CalendarPart& days) {
  std::string text;
  for (const CalendarItem& item : days) {
    if (item.is_range && item.step != 0) {
      return fail(Code::invalid, "cron has no steps in a range of days that is counted from the end of the month");
    }
    // A step goes up to the end of the month, which is down in this count.
    const int least = item.step != 0 ? 1 : item.first;
    const int most = item.is_range ? item.last : item.first;
    for (int day = most; day >= least; day -= std::max(item.step, 1)) {
      if (!text.empty()) text += ',';
      text += day == 1 ? "L" : "L-" + std::to_string(day - 1);
    }
  }
  return text;
}

std::string weekday_list(unsigned days) {
  std::string text;
  for (unsigned day = 0; day < kDayNames.size();) {
    if ((days & 1U << day) == 0) {
      ++day;
      continue;
    }
    unsigned last = day;
    while (last + 1 < kDayNames.size() && (days & 1U << (last + 1)) != 0) ++last;
    if (!text.empty()) text += ',';
    text += kCronDays[day];
    if (last > day) text += (last == day + 1 ? "," : "-") + std::string(kCronDays[last]);
    day = last + 1;
  }
  return text;
}

// `Mon *-*-01..07` is the first Monday, `Mon *-*~07/1` the last one: what cron writes 1#1 and 1L. Nothing for other
// days.
std::optional<std::string> nth_weekdays(const CalendarEvent& event) {
  if (event.day.size() != 1) return std::nullopt;
  const CalendarItem& item = event.day.front();
  std::string suffix;
  if (event.counts_from_end) {
    const bool is_last_week = (!item.is_range && item.first == 7 && item.step == 1) ||
                              (item.is_range && item.first == 1 && item.last == 7 && item.step <= 1);
    if (!is_last_week) return std::nullopt;
    suffix = "L";
  } else {
    if (!item.is_range || item.step > 1 || item.last != item.first + 6 || item.first % 7 != 1 || item.first > 22) {
      return std::nullopt;
    }
    suffix = "#" + std::to_string(item.first / 7 + 1);
  }
  std::string text;
  for (unsigned day = 0; day < kDayNames.size(); ++day) {
    if ((event.weekdays & 1U << day) == 0) continue;
    if (!text.empty()) text += ',';
    text += std::to_string((day + 1) % 7) + suffix;
  }
  return text;
}

struct DayFields {
  std::string day = "*";
  std::string weekday = "*";
};

Result<DayFields> day_fields(const CalendarEvent& event) {
  DayFields fields;
  const bool any_weekday = event.weekdays == kEveryDay;
  if (!any_weekday && !event.day.empty()) {
    auto nth = nth_weekdays(event);
    if (!nth) {
      return fail(Code::invalid,
                  "weekdays and dates: systemd wants both to match, cron is content with either; give the dates as the "
                  "schedule and the weekdays as a constraint, such as @only(dow=FRI)");
    }
    fields.weekday = *std::move(nth);
    return fields;
  }
  if (event.counts_from_end) {
    Result<std::string> days = days_from_end(event.day);
    if (!days) return fail(days.error());
    fields.day = *std::move(days);
  } else {
    fields.day = cron_field(event.day);
  }
  if (!any_weekday) fields.weekday = weekday_list(event.weekdays);
  return fields;
}

}  // namespace

Result<CalendarSchedule> schedule_of_calendar(std::string_view text) {
  text = trimmed(text);
  if (text.size() > kMostCalendarBytes) return fail(Code::invalid, "the calendar event is too long");
  if (text.empty() || text.front() == '@') return not_understood("calendar event", text);
  const Result<CalendarEvent> event = event_of(text);
  if (!event) return fail(event.error());
  const Result<DayFields> days = day_fields(*event);
  if (!days) return fail(days.error());
  CalendarSchedule schedule{cron_field(event->minute) + ' ' + cron_field(event->hour) + ' ' + days->day + ' ' +
                                cron_field(event->month) + ' ' + days->weekday,
                            event->zone};
  const std::string seconds = cron_field(event->second);
  if (seconds != "0" || !event->year.empty()) schedule.cron.insert(0, seconds + ' ');
  if (!event->year.empty()) schedule.cron += ' ' + cron_field(event->year);
  return schedule;
}

}  // namespace kron::jobs
