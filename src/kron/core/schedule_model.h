#pragma once

#include <functional>
#include <rapidcheck.h>
#include <set>
#include <string>
#include <vector>

#include "kron/core/civil.h"
#include "kron/core/schedule.h"

namespace kron::testing {

// A second, slow reading of cron for tests: sets and predicates instead of bits, every second asked by itself, and the
// DST rule put in terms of TimeZone::resolve. It is drawn together with its text, so it needs no parser.
struct ModelSchedule {
  using DatePredicate = std::function<bool(const CivilDate&)>;

  std::string text;
  std::set<int> seconds, minutes, hours, months;
  std::vector<DatePredicate> dates, weekdays;  // the items of each list
  bool both_days_must_match = false;
  DstRule dst;

  [[nodiscard]] bool matches_date(const CivilDate& date) const {
    if (!months.contains(date.month) || date.year < kFirstYear || date.year > kLastYear) return false;
    const auto any = [&](const std::vector<DatePredicate>& items) {
      for (const DatePredicate& item : items) {
        if (item(date)) return true;
      }
      return false;
    };
    return both_days_must_match ? any(dates) && any(weekdays) : any(dates) || any(weekdays);
  }

  [[nodiscard]] bool matches(LocalSeconds local) const {
    const auto second_of_day = static_cast<int>(((local % 86400) + 86400) % 86400);
    if (!seconds.contains(second_of_day % 60) || !minutes.contains(second_of_day / 60 % 60)) return false;
    if (!hours.contains(second_of_day / 3600)) return false;
    const CivilTime civil = civil_of(local);
    return matches_date({civil.year, civil.month, civil.day});
  }

  [[nodiscard]] bool is_nominal(Instant t, const TimeZone& zone) const {
    using Kind = TimeZone::Resolution::Kind;
    if (t < kFirstInstant || t > kLastInstant) return false;
    const LocalSeconds local = zone.to_local(t);
    if (matches(local)) {
      const TimeZone::Resolution at = zone.resolve(local);
      if (at.kind == Kind::unique || dst.overlap == DstRule::Overlap::both) return true;
      if (t == (dst.overlap == DstRule::Overlap::first ? at.first : at.second)) return true;
    }
    if (dst.gap == DstRule::Gap::skip) return false;
    for (LocalSeconds skipped = zone.to_local(t - Seconds(1)) + 1; skipped < local; ++skipped) {
      if (matches(skipped) && zone.resolve(skipped).kind == Kind::skipped) return true;
    }
    return false;
  }
};

namespace model {

struct Field {
  std::string text;
  std::set<int> values;
};

// At full size always: a small range would begin every field near its first value.
inline std::int64_t draw_wide(std::int64_t first, std::int64_t last) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(first, last + 1));
}
inline int draw(int first, int last) { return static_cast<int>(draw_wide(first, last)); }

// first, first+step … up to last; a range that ends before it begins goes round.
inline std::set<int> stepped(int first, int last, int step, int low, int high) {
  std::set<int> values;
  int value = first;
  for (int count = 0;; ++count) {
    if (count % step == 0) values.insert(value);
    if (value == last) return values;
    value = value == high ? low : value + 1;
  }
}

// One list item of a numeric field; `starred` asks for one that begins with `*`.
inline Field draw_item(int low, int high, bool starred) {
  const auto number = [](int value) { return std::to_string(value); };
  const int step = draw(1, high - low + 5);
  if (starred) {
    if (draw(0, 1) == 0) return {"*", stepped(low, high, 1, low, high)};
    return {"*/" + number(step), stepped(low, high, step, low, high)};
  }
  const int first = draw(low, high);
  const int last = draw(low, high);
  switch (draw(0, 5)) {
    case 0:
      return {number(first) + "-" + number(last), stepped(first, last, 1, low, high)};
    case 1:
      return {number(first) + "-" + number(last) + "/" + number(step), stepped(first, last, step, low, high)};
    case 2:
      return {number(first) + "/" + number(step), stepped(first, high, step, low, high)};
    default:
      return {number(first), {first}};
  }
}

inline Field draw_field(int low, int high, bool starred) {
  Field field = draw_item(low, high, starred);
  for (int more = draw(0, 3); more > 1; --more) {
    const Field item = draw_item(low, high, false);
    field.text += "," + item.text;
    field.values.insert(item.values.begin(), item.values.end());
  }
  return field;
}

inline bool is_working_day(const CivilDate& date, int day) {
  const int weekday = weekday_of(days_from_civil(date.year, date.month, day));
  return weekday != 0 && weekday != 6;
}

inline bool is_nearest_working_day(const CivilDate& date, int wanted) {
  const int length = days_in_month(date.year, date.month);
  if (wanted > length) return false;
  for (int distance = 0; distance < 3; ++distance) {
    for (const int day : {wanted - distance, wanted + distance}) {
      if (day >= 1 && day <= length && is_working_day(date, day)) return date.day == day;
    }
  }
  return false;
}

inline bool is_last_working_day(const CivilDate& date) {
  int day = days_in_month(date.year, date.month);
  while (!is_working_day(date, day)) --day;
  return date.day == day;
}

struct DayItem {
  std::string text;
  ModelSchedule::DatePredicate matches;
};

inline DayItem draw_date_item() {
  const int day = draw(1, 31);
  switch (draw(0, 6)) {
    case 0:
      return {"L", [](const CivilDate& date) { return date.day == days_in_month(date.year, date.month); }};
    case 1: {
      const int back = draw(1, 30);
      return {"L-" + std::to_string(back),
              [back](const CivilDate& date) { return date.day == days_in_month(date.year, date.month) - back; }};
    }
    case 2:
      return {std::to_string(day) + "W", [day](const CivilDate& date) { return is_nearest_working_day(date, day); }};
    case 3:
      return {"LW", is_last_working_day};
    default: {
      const Field field = draw_item(1, 31, false);
      return {field.text, [values = field.values](const CivilDate& date) { return values.contains(date.day); }};
    }
  }
}

inline int weekday_on(const CivilDate& date) { return weekday_of(days_from_civil(date.year, date.month, date.day)); }

inline DayItem draw_weekday_item() {
  const int named = draw(0, 7);  // 0 and 7 are Sunday
  const int weekday = named % 7;
  switch (draw(0, 5)) {
    case 0: {
      const int nth = draw(1, 5);
      return {std::to_string(named) + "#" + std::to_string(nth), [weekday, nth](const CivilDate& date) {
                return weekday_on(date) == weekday && (date.day - 1) / 7 + 1 == nth;
              }};
    }
    case 1:
      return {std::to_string(named) + "L", [weekday](const CivilDate& date) {
                return weekday_on(date) == weekday && date.day + 7 > days_in_month(date.year, date.month);
              }};
    case 2: {
      const int first = draw(0, 6);
      return {std::to_string(first) + "-7",
              [first](const CivilDate& date) { return weekday_on(date) == 0 || weekday_on(date) >= first; }};
    }
    default: {
      const Field field = draw_item(0, 6, false);
      return {field.text, [values = field.values](const CivilDate& date) { return values.contains(weekday_on(date)); }};
    }
  }
}

// A list of day items; `plain` the numeric item it begins with when starred.
inline std::string draw_days(bool starred, const Field& plain, bool by_weekday,
                             std::vector<ModelSchedule::DatePredicate>& items) {
  std::string text;
  if (starred) {
    text = plain.text;
    items.emplace_back([values = plain.values, by_weekday](const CivilDate& date) {
      return values.contains(by_weekday ? weekday_on(date) : date.day);
    });
  }
  for (int more = starred ? draw(0, 1) * draw(0, 2) : draw(1, 3); more > 0; --more) {
    const DayItem item = by_weekday ? draw_weekday_item() : draw_date_item();
    text += (text.empty() ? "" : ",") + item.text;
    items.push_back(item.matches);
  }
  return text;
}

}  // namespace model

// A random schedule with five fields, or six.
inline ModelSchedule draw_model(bool with_seconds) {
  using model::draw;
  ModelSchedule schedule;
  if (with_seconds) {
    const model::Field seconds = model::draw_field(0, 59, draw(0, 1) == 0);
    schedule.seconds = seconds.values;
    schedule.text = seconds.text + " ";
  } else {
    schedule.seconds = {0};
  }
  const bool star_minute = draw(0, 2) == 0;
  const bool star_hour = draw(0, 1) == 0;
  const bool star_date = draw(0, 1) == 0;
  const bool star_weekday = draw(0, 1) == 0;
  const model::Field minutes = model::draw_field(0, 59, star_minute);
  const model::Field hours = model::draw_field(0, 23, star_hour);
  const model::Field months = model::draw_field(1, 12, draw(0, 1) == 0);
  schedule.minutes = minutes.values;
  schedule.hours = hours.values;
  schedule.months = months.values;
  schedule.text += minutes.text + " " + hours.text + " ";
  schedule.text += model::draw_days(star_date, model::draw_item(1, 31, true), false, schedule.dates);
  schedule.text += " " + months.text + " ";
  schedule.text += model::draw_days(star_weekday, model::draw_item(0, 6, true), true, schedule.weekdays);
  schedule.both_days_must_match = star_date || star_weekday;
  const bool interval = star_minute || star_hour;
  schedule.dst = interval ? DstRule{DstRule::Gap::skip, DstRule::Overlap::both}
                          : DstRule{DstRule::Gap::run, DstRule::Overlap::first};
  return schedule;
}

inline DstRule draw_dst_rule() {
  return {static_cast<DstRule::Gap>(model::draw(0, 1)), static_cast<DstRule::Overlap>(model::draw(0, 2))};
}

// A time that tells something: half of them within hours of one of the zone's clock changes.
inline Instant draw_instant(const TimeZone& zone) {
  const auto segments = zone.segments();
  const bool near_change = segments.size() > 1 && model::draw(0, 1) == 0;
  if (near_change) {
    const auto index = static_cast<std::size_t>(model::draw(1, static_cast<int>(segments.size()) - 1));
    const std::int64_t change = segments[index].start;
    if (change > 0 && change < epoch_seconds(kLastInstant)) return instant_of(change + model::draw(-14'400, 14'400));
  }
  return instant_of(model::draw_wide(0, epoch_seconds(kLastInstant)));
}

}  // namespace kron::testing
