#include "kron/core/schedule_words.h"

#include <array>
#include <bit>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"

namespace kron {
namespace {

using Numbers = std::vector<int>;

constexpr std::size_t kMostTimes = 6;  // of a day, before they are told as hours and minutes
constexpr std::array<std::string_view, 7> kDayNames{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 13> kMonthNames{"",        "January",  "February", "March",  "April",
                                                       "May",     "June",     "July",     "August", "September",
                                                       "October", "November", "December"};
constexpr std::array<std::string_view, 6> kOrdinals{"", "first", "second", "third", "fourth", "fifth"};
constexpr std::uint8_t kMondayToFriday = 0x3E;
constexpr std::uint32_t kAnyDayOfMonth = 0xFFFFFFFE;
constexpr std::uint16_t kAnyMonth = 0x1FFE;

Numbers numbers_in(std::uint64_t bits) {
  Numbers numbers;
  for (; bits != 0; bits &= bits - 1) numbers.push_back(std::countr_zero(bits));
  return numbers;
}

// Two or more that follow each other at the same distance; that distance.
std::optional<int> step_of(const Numbers& numbers) {
  if (numbers.size() < 2) return std::nullopt;
  const int step = numbers[1] - numbers[0];
  for (std::size_t i = 2; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] != step) return std::nullopt;
  }
  return step;
}

bool is_run(const Numbers& numbers) { return numbers.size() > 2 && step_of(numbers) == 1; }

// A step that goes on evenly from one round of `size` to the next.
std::optional<int> even_step(const Numbers& numbers, int size) {
  const auto step = step_of(numbers);
  if (!step || size % *step != 0 || static_cast<int>(numbers.size()) != size / *step) return std::nullopt;
  return step;
}

std::string joined(const std::vector<std::string>& parts, std::string_view last = " and ") {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += i + 1 == parts.size() ? last : std::string_view(", ");
    text += parts[i];
  }
  return text;
}

// "1, 2 and 5"; "1 to 5"; what a number is called, `name` says.
template <class Name>
std::string listed(const Numbers& numbers, const Name& name) {
  if (is_run(numbers)) return std::string(name(numbers.front())) + " to " + std::string(name(numbers.back()));
  std::vector<std::string> names;
  for (const int number : numbers) names.emplace_back(name(number));
  return joined(names);
}
std::string listed(const Numbers& numbers) {
  return listed(numbers, [](int number) { return std::to_string(number); });
}

std::string ordinal(int number) {
  const int tens = number % 100;
  const bool is_teen = tens > 10 && tens < 14;
  const char* const ending = is_teen || number % 10 > 3 || number % 10 == 0 ? "th"
                             : number % 10 == 1                             ? "st"
                             : number % 10 == 2                             ? "nd"
                                                                            : "rd";
  return std::to_string(number) + ending;
}

std::string clock_text(int hour, int minute, int second) {
  std::array<char, 16> text{};
  if (second == 0) {
    std::snprintf(text.data(), text.size(), "%02d:%02d", hour, minute);
  } else {
    std::snprintf(text.data(), text.size(), "%02d:%02d:%02d", hour, minute, second);
  }
  return text.data();
}

// "every minute", "every 15 minutes", "at minute 7", "at minutes 7 and 8": within what is larger.
std::string units(const Numbers& numbers, std::string_view unit, int size) {
  const std::string name(unit);
  if (static_cast<int>(numbers.size()) == size) return "every " + name;
  if (const auto step = even_step(numbers, size)) {
    return "every " + std::to_string(*step) + " " + name + "s" +
           (numbers.front() == 0 ? "" : " from " + name + " " + std::to_string(numbers.front()));
  }
  const auto step = step_of(numbers);
  if (step && *step > 1 && numbers.size() > 4) {
    return "at every " + ordinal(*step) + " " + name + " from " + std::to_string(numbers.front()) + " to " +
           std::to_string(numbers.back());
  }
  return "at " + name + (numbers.size() == 1 ? " " : "s ") + listed(numbers);
}

std::string hours_text(const Numbers& hours) {
  const auto step = step_of(hours);
  if (step == 1 && hours.size() > 1) {
    return "from " + clock_text(hours.front(), 0, 0) + " to " + clock_text(hours.back(), 59, 0);
  }
  if (step && hours.size() > 4) {
    return "in every " + ordinal(*step) + " hour from " + std::to_string(hours.front()) + " to " +
           std::to_string(hours.back());
  }
  return std::string("in ") + (hours.size() == 1 ? "hour " : "hours ") + listed(hours);
}

struct TimeWords {
  std::string text;
  bool is_of_the_day = false;  // clock times: they want to be told of which days
};

std::string in_hours(const std::string& within, const Numbers& hours) {
  return hours.size() == 24 ? within : within + " " + hours_text(hours);
}

TimeWords whole_minutes(const Numbers& minutes, const Numbers& hours) {
  if (minutes.size() != 1) {
    const std::string within = units(minutes, "minute", 60);
    const bool is_named = within.starts_with("at ");
    return {in_hours(within + (is_named && hours.size() == 24 ? " of every hour" : ""), hours)};
  }
  const std::string at = minutes.front() == 0 ? "" : " at minute " + std::to_string(minutes.front());
  if (hours.size() == 24) return {"every hour" + at};
  if (const auto step = even_step(hours, 24)) {
    const std::string from = hours.front() == 0 ? "" : " from " + clock_text(hours.front(), minutes.front(), 0);
    return {"every " + std::to_string(*step) + " hours" + (from.empty() ? at : from)};
  }
  return {"every hour" + at + " " + hours_text(hours)};
}

TimeWords time_words(const Schedule& schedule) {
  const Numbers seconds = numbers_in(schedule.seconds);
  const Numbers minutes = numbers_in(schedule.minutes);
  const Numbers hours = numbers_in(schedule.hours);
  const bool is_even = even_step(hours, 24).has_value() && hours.size() > 2;
  if (seconds.size() == 1 && hours.size() * minutes.size() <= kMostTimes && !is_even) {
    std::vector<std::string> times;
    for (const int hour : hours) {
      for (const int minute : minutes) times.push_back(clock_text(hour, minute, seconds.front()));
    }
    return {"at " + joined(times), true};
  }
  if (schedule.seconds == 1) return whole_minutes(minutes, hours);
  const std::string within = units(seconds, "second", 60);
  if (minutes.size() == 60) {
    return {in_hours(within + (within.starts_with("at ") ? " of every minute" : ""), hours)};
  }
  const std::string of = minutes.size() == 1 ? " in minute " : " in minutes ";
  return {in_hours(within + of + listed(minutes) + (hours.size() == 24 ? " of every hour" : ""), hours)};
}

std::string weekday_name(int day) { return std::string(kDayNames[static_cast<std::size_t>(day % 7)]); }

// A week begins with its Monday.
Numbers from_monday(std::uint8_t bits) {
  Numbers days;
  for (int day = 1; day <= 7; ++day) {
    if ((bits >> (day % 7) & 1U) != 0) days.push_back(day);
  }
  return days;
}

std::string weekdays_text(std::uint8_t bits) {
  if (bits == kMondayToFriday) return "weekdays";
  const Numbers days = from_monday(bits);
  return listed(days, [](int day) { return weekday_name(day) + "s"; });
}

std::vector<std::string> date_rules(const Schedule& schedule) {
  std::vector<std::string> rules;
  const Numbers days = numbers_in(schedule.days);
  if (const auto step = step_of(days); step && *step > 1 && days.size() > 4) {
    rules.push_back("every " + ordinal(*step) + " day of the month from day " + std::to_string(days.front()));
  } else if (!days.empty()) {
    rules.push_back((days.size() == 1 ? "day " : "days ") + listed(days) + " of the month");
  }
  for (const int before : numbers_in(schedule.days_from_end)) {
    rules.push_back(before == 0   ? "the last day of the month"
                    : before == 1 ? "the day before the last of the month"
                                  : "the day " + std::to_string(before) + " days before the last of the month");
  }
  for (const int day : numbers_in(schedule.near_weekday)) {
    rules.push_back("the weekday nearest to day " + std::to_string(day) + " of the month");
  }
  if (schedule.last_weekday) rules.emplace_back("the last weekday of the month");
  return rules;
}

std::vector<std::string> weekday_rules(const Schedule& schedule) {
  std::vector<std::string> rules;
  if (schedule.weekdays != 0) rules.push_back(weekdays_text(schedule.weekdays));
  for (const int bit : numbers_in(schedule.nth_weekdays)) {
    rules.push_back("the " + std::string(kOrdinals[static_cast<std::size_t>(bit / 7 + 1)]) + " " +
                    weekday_name(bit % 7) + " of the month");
  }
  for (const int day : from_monday(schedule.last_weekdays)) {
    rules.push_back("the last " + weekday_name(day) + " of the month");
  }
  return rules;
}

bool is_every_date(const Schedule& schedule) { return schedule.days == kAnyDayOfMonth; }
bool is_every_weekday(const Schedule& schedule) { return schedule.weekdays == kEveryWeekday; }

std::string day_words(const Schedule& schedule) {
  std::string text;
  const bool any_date = is_every_date(schedule);
  const bool any_weekday = is_every_weekday(schedule);
  if (!any_date && !any_weekday) {
    const bool is_any = schedule.combine == Schedule::Combine::any;
    text =
        "on " + joined(date_rules(schedule)) + (is_any ? " and on " : ", only on ") + joined(weekday_rules(schedule));
  } else if (!any_date) {
    text = "on " + joined(date_rules(schedule));
  } else if (!any_weekday) {
    text = "on " + joined(weekday_rules(schedule));
  }
  if (schedule.weekday_filter != kEveryWeekday) {
    text += (text.empty() ? "on " : ", only on ") + weekdays_text(schedule.weekday_filter);
  }
  return text;
}

std::string season_words(const Schedule& schedule) {
  std::string text;
  if (schedule.week_filter != kEveryWeek) {
    text += " in ISO weeks " + listed(numbers_in(schedule.week_filter & ((std::uint64_t{1} << 54) - 2)));
  }
  if (schedule.months != kAnyMonth) {
    text += " in " +
            listed(numbers_in(schedule.months), [](int month) { return kMonthNames[static_cast<std::size_t>(month)]; });
  }
  if (schedule.years != kAllYears) {
    Numbers years;
    for (int year = kFirstYear; year <= kLastYear; ++year) {
      const auto bit = static_cast<unsigned>(year - kFirstYear);
      if ((schedule.years[bit / 64] >> (bit % 64) & 1U) != 0) years.push_back(year);
    }
    text += " in " + (years.size() > 10 && !is_run(years)
                          ? std::to_string(years.size()) + " years from " + std::to_string(years.front()) + " to " +
                                std::to_string(years.back())
                          : listed(years));
  }
  if (schedule.not_before) text += ", from " + rfc3339(*schedule.not_before) + " on";
  if (schedule.not_after) text += ", until " + rfc3339(*schedule.not_after);
  return text;
}

std::string every_words(Seconds length) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> kUnits{
      {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}}};
  for (const auto& [size, name] : kUnits) {
    if (length.count() == size) return "every " + std::string(name);
    if (length.count() % size == 0 && (size == 1 ? length.count() < 60 : true)) {
      return "every " + std::to_string(length.count() / size) + " " + std::string(name) + "s";
    }
  }
  return "every " + duration_text(length);
}

}  // namespace

std::string words_of(const Schedule& schedule) {
  if (schedule.kind == Schedule::Kind::reboot) return "once after each start of the machine";
  if (schedule.kind == Schedule::Kind::every) return every_words(schedule.every);
  const TimeWords time = time_words(schedule);
  const std::string days = day_words(schedule);
  const std::string season = season_words(schedule);
  if (!time.is_of_the_day) return time.text + (days.empty() ? "" : " " + days) + season;
  return (days.empty() ? "every day" : days) + season + " " + time.text;
}

}  // namespace kron
