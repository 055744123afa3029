#include <bit>
#include <span>
#include <vector>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/core/schedule_expression.h"
#include "kron/core/schedule_field.h"

namespace kron {
namespace {

// A field while it is printed: its list items in order.
class PrintedItems {
 public:
  void add(const std::string& item) {
    if (!text_.empty()) text_ += ',';
    text_ += item;
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::vector<int> values_of(std::uint64_t bits) {
  std::vector<int> values;
  for (; bits != 0; bits &= bits - 1) values.push_back(std::countr_zero(bits));
  return values;
}

std::vector<int> values_of(const YearSet& years) {
  std::vector<int> values;
  for (std::size_t i = 0; i < years.size(); ++i) {
    for (const int bit : values_of(years[i])) values.push_back(kFirstYear + static_cast<int>(i) * 64 + bit);
  }
  return values;
}

std::string range(int first, int last) { return std::to_string(first) + "-" + std::to_string(last); }

bool is_evenly_spaced(std::span<const int> values) {
  if (values.size() < 3) return false;
  for (std::size_t i = 2; i < values.size(); ++i) {
    if (values[i] - values[i - 1] != values[1] - values[0]) return false;
  }
  return values[1] - values[0] > 1;
}

void add_values(PrintedItems& items, std::span<const int> values) {
  if (is_evenly_spaced(values)) {
    items.add(range(values.front(), values.back()) + "/" + std::to_string(values[1] - values[0]));
    return;
  }
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) ++end;
    if (end - i >= 3) {
      items.add(range(values[i], values[end - 1]));
      i = end;
    } else {
      items.add(std::to_string(values[i++]));
    }
  }
}

// A field that began with `*` began with `*/n` for some n; the smallest n whose values are all there comes first, and
// what it leaves over follows.
void add_starred(PrintedItems& items, std::uint64_t bits, int first, int last) {
  for (int step = 1;; ++step) {
    std::uint64_t covered = 0;
    for (int value = first; value <= last; value += step) covered |= std::uint64_t{1} << value;
    if ((covered & ~bits) != 0 && step <= last - first) continue;
    items.add(step == 1 ? "*" : "*/" + std::to_string(step));
    add_values(items, values_of(bits & ~covered));
    return;
  }
}

void add_bits(PrintedItems& items, std::uint64_t bits, int first, int last, bool star) {
  if (star) {
    add_starred(items, bits, first, last);
  } else {
    add_values(items, values_of(bits));
  }
}

// Every nth value from the first on. Nothing but the values counts in seconds and months, so they may begin with `*`.
bool is_every_nth(std::uint64_t bits, int first, int last) {
  const std::vector<int> values = values_of(bits);
  return is_evenly_spaced(values) && values.front() == first && values.back() + (values[1] - values[0]) > last;
}

std::string field_text(std::uint64_t bits, int first, int last, bool star) {
  PrintedItems items;
  add_bits(items, bits, first, last, star);
  return std::move(items).text();
}

std::string date_field(const Schedule& s) {
  PrintedItems items;
  add_bits(items, s.days, 1, 31, s.star_day);
  for (const int day : values_of(s.near_weekday)) items.add(std::to_string(day) + "W");
  for (const int back : values_of(s.days_from_end)) items.add(back == 0 ? "L" : "L-" + std::to_string(back));
  if (s.last_weekday) items.add("LW");
  return std::move(items).text();
}

std::string weekday_field(const Schedule& s) {
  PrintedItems items;
  add_bits(items, s.weekdays, 0, 6, s.star_weekday);
  for (const int place : values_of(s.nth_weekdays)) {
    items.add(std::to_string(place % 7) + "#" + std::to_string(place / 7 + 1));
  }
  for (const int weekday : values_of(s.last_weekdays)) items.add(std::to_string(weekday) + "L");
  return std::move(items).text();
}

// What only the cron_args form can say, in words.
std::string restrictions(const Schedule& s) {
  std::string text;
  if (s.weekday_filter != kEveryWeekday) {
    PrintedItems names;
    for (const int weekday : values_of(s.weekday_filter)) {
      names.add(std::string(kWeekdayNames[static_cast<std::size_t>(weekday)]));
    }
    text += " only on " + std::move(names).text();
  }
  if (s.week_filter != kEveryWeek) text += " in weeks " + field_text(s.week_filter, 1, 53, false);
  if (s.not_before) text += " from " + rfc3339(*s.not_before);
  if (s.not_after) text += " until " + rfc3339(*s.not_after);
  return text;
}

std::string time_fields(const Schedule& s) {
  return field_text(s.minutes, 0, 59, s.star_minute) + " " + field_text(s.hours, 0, 23, s.star_hour);
}

std::string printed(const Schedule& s, bool with_stars) {
  if (s.kind == Schedule::Kind::reboot) return "@reboot";
  if (s.kind == Schedule::Kind::every) return "@every " + duration_text(s.every);
  if (s.hours == 0 || s.months == 0) return "@never";
  constexpr std::uint16_t kEveryMonth = 0x1FFE;
  constexpr std::uint64_t kEverySecond = (std::uint64_t{1} << 60) - 1;
  const bool star_seconds = s.seconds == kEverySecond || (with_stars && is_every_nth(s.seconds, 0, 59));
  const bool star_months = s.months == kEveryMonth || (with_stars && is_every_nth(s.months, 1, 12));
  const bool has_years = s.years != kAllYears;
  std::string text;
  if (s.seconds != 1 || has_years) text = field_text(s.seconds, 0, 59, star_seconds) + " ";
  // A day field without values, which only cron_args makes, leaves the choice to the other one.
  const std::string dates = date_field(s);
  const std::string weekdays = weekday_field(s);
  text += time_fields(s) + " " + (dates.empty() ? "*" : dates) + " " + field_text(s.months, 1, 12, star_months) + " " +
          (weekdays.empty() ? "*" : weekdays);
  if (has_years) {
    PrintedItems years;
    add_values(years, values_of(s.years));
    text += " " + std::move(years).text();
  }
  return text + restrictions(s);
}

}  // namespace

std::string to_string(const Schedule& s) { return printed(s, false); }

std::string expression_of(const Schedule& s) { return printed(s, true); }

}  // namespace kron
