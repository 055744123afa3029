#include "kron/core/cron_args_field.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/schedule_days.h"
#include "kron/core/schedule_field.h"

namespace kron {
namespace {

constexpr std::array<std::string_view, 7> kFromMonday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::array<std::string_view, 6> kPositions{"1st", "2nd", "3rd", "4th", "5th", "last"};
constexpr std::uint32_t kEveryDay = 0xFFFF'FFFE;
constexpr std::uint64_t kWeeks1To53 = ((std::uint64_t{1} << 53) - 1) << 1;

struct Rule {
  std::string_view name;
  int first;
  int last;
  std::span<const std::string_view> names;
};
// Years run to 9999 as they do elsewhere; those past kLastYear are simply never reached.
constexpr std::array kRules{
    Rule{"year", kFirstYear, 9999, {}},
    Rule{"month", 1, 12, kMonthNames},
    Rule{"day", 1, 31, {}},
    Rule{"week", 1, 53, {}},
    Rule{"day_of_week", 0, 6, kFromMonday},
    Rule{"hour", 0, 23, {}},
    Rule{"minute", 0, 59, {}},
    Rule{"second", 0, 59, {}},
};

const Rule& rule_of(ArgsField field) { return kRules[static_cast<std::size_t>(field)]; }

// Sunday is 6 in cron_args and 0 in a Schedule.
int from_sunday(int from_monday) { return (from_monday + 1) % 7; }

class ArgsFieldReader {
 public:
  ArgsFieldReader(ArgsField field, std::string_view text, ArgsValues& values)
      : field_(field), rule_(rule_of(field)), text_(text), values_(values) {}

  Status read() {
    for (std::size_t at = 0; at <= text_.size();) {
      const std::size_t end = std::min(text_.find(',', at), text_.size());
      item_ = trimmed(text_.substr(at, end - at));
      if (item_.empty()) {
        item_ = text_.substr(at, 0);
        return bad("empty list item");
      }
      if (Status item = read_item(); !item) return item;
      at = end + 1;
    }
    return {};
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& problem) const {
    std::string expected = std::to_string(rule_.first) + "-" + std::to_string(rule_.last);
    if (!rule_.names.empty()) {
      expected += " or " + std::string(rule_.names.front()) + "-" + std::string(rule_.names.back());
    }
    if (field_ == ArgsField::day_of_week) expected += " (0 is Monday)";
    if (field_ == ArgsField::day) expected += ", 'last', or a weekday such as '2nd tue' or 'last fri'";
    return fail(Code::invalid, std::string(rule_.name) + ": " + problem + "; expected " + expected,
                std::string(rule_.name), static_cast<std::size_t>(item_.data() - text_.data()) + 1);
  }

  Status read_item() {
    if (item_.front() == '*') return read_all();
    if (item_.front() >= '0' && item_.front() <= '9' && !is_position()) return read_range();
    if (field_ == ArgsField::day) return read_position();
    return read_names();
  }

  // * and */n.
  Status read_all() {
    if (item_ == "*") return add(rule_.first, rule_.last, 1);
    const std::optional<int> step = item_.starts_with("*/") ? number(item_.substr(2)) : std::nullopt;
    if (!step) return bad("cannot read " + quoted(item_));
    if (*step > rule_.last - rule_.first) return bad(too_long(*step));
    return add(rule_.first, rule_.last, *step);
  }

  // a, a-b, a/n, a-b/n in numbers.
  Status read_range() {
    const std::size_t slash = std::min(item_.find('/'), item_.size());
    const std::string_view range = item_.substr(0, slash);
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::optional<int> first = number(range.substr(0, dash));
    const std::optional<int> last = dash < range.size() ? number(range.substr(dash + 1)) : first;
    const std::optional<int> step = slash < item_.size() ? number(item_.substr(slash + 1)) : 1;
    if (!first || !last || !step) return bad("cannot read " + quoted(item_));
    if (*first < rule_.first || *last > rule_.last) return bad(quoted(item_) + " is out of range");
    if (*first > *last) return bad("the range " + quoted(item_) + " runs backwards");
    if (slash == item_.size()) return add(*first, *last, 1);
    // The range that a step may not exceed is measured to the field's end when its own end is missing or 0: jobs
    // written for cronken rely on `0-0/1`.
    const bool open = dash == range.size();
    const int measured = (open || *last == 0 ? rule_.last : *last) - *first;
    if (*step > measured) return bad(too_long(*step));
    return add(*first, open ? rule_.last : *last, *step);
  }

  // jan, jan-mar, mon-fri. A step after names has never had an effect in cronken, so it is not accepted as one.
  Status read_names() {
    const std::size_t dash = std::min(item_.find('-'), item_.size());
    const int first = index_of_name(item_.substr(0, dash), rule_.names);
    const int last = dash < item_.size() ? index_of_name(item_.substr(dash + 1), rule_.names) : first;
    if (first < 0 || last < 0) return bad("unknown name in " + quoted(item_));
    if (first > last) return bad("the range " + quoted(item_) + " runs backwards");
    return add(rule_.first + first, rule_.first + last, 1);
  }

  [[nodiscard]] bool is_position() const {
    return field_ == ArgsField::day && index_of_name(first_word(), kPositions) >= 0;
  }
  [[nodiscard]] std::string_view first_word() const { return item_.substr(0, item_.find(' ')); }

  // last, 2nd tue, last fri.
  Status read_position() {
    const std::string_view word = first_word();
    const int position = index_of_name(word, kPositions);
    if (position < 0) return bad("cannot read " + quoted(item_));
    const bool is_last = position + 1 == static_cast<int>(kPositions.size());
    if (is_last && word.size() == item_.size()) {
      values_.last_day = true;
      return {};
    }
    const int weekday = index_of_name(trimmed(item_.substr(word.size())), kFromMonday);
    if (weekday < 0) return bad("cannot read a weekday in " + quoted(item_));
    if (is_last) {
      values_.last_weekdays |= static_cast<std::uint8_t>(1 << from_sunday(weekday));
    } else {
      values_.nth_weekdays |= std::uint64_t{1} << (7 * position + from_sunday(weekday));
    }
    return {};
  }

  static std::string too_long(int step) {
    return "the step " + std::to_string(step) + " is longer than the range it divides";
  }

  // Digits only; what is beyond any field's range stays beyond it.
  static std::optional<int> number(std::string_view digits) {
    constexpr int kBeyond = 100'000;
    if (digits.empty()) return std::nullopt;
    int value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      value = std::min(value * 10 + (c - '0'), kBeyond);
    }
    return value;
  }

  Status add(int first, int last, int step) {
    if (step == 0) return bad("a step is at least 1, found 0 in " + quoted(item_));
    if (field_ == ArgsField::year) {
      for (int year = first; year <= std::min(last, kLastYear); year += step) {
        const auto place = static_cast<std::size_t>(year - kFirstYear);
        values_.years[place / 64] |= std::uint64_t{1} << place % 64;
      }
      return {};
    }
    for (int value = first; value <= last; value += step) bits() |= std::uint64_t{1} << value;
    return {};
  }

  std::uint64_t& bits() {
    switch (field_) {
      case ArgsField::month:
        return values_.months;
      case ArgsField::day:
        return values_.days;
      case ArgsField::week:
        return values_.weeks;
      case ArgsField::day_of_week:
        return values_.weekdays;
      case ArgsField::hour:
        return values_.hours;
      case ArgsField::minute:
        return values_.minutes;
      default:
        return values_.seconds;
    }
  }

  ArgsField field_;
  const Rule& rule_;
  std::string_view text_;
  std::string_view item_;
  ArgsValues& values_;
};

}  // namespace

std::string name_of(ArgsField field) { return std::string(rule_of(field).name); }

Status read_args_field(ArgsField field, std::string_view text, ArgsValues& values) {
  const bool star = trimmed(text).starts_with('*');
  if (field == ArgsField::minute) values.star_minute = star;
  if (field == ArgsField::hour) values.star_hour = star;
  return ArgsFieldReader(field, text, values).read();
}

Schedule schedule_of(const ArgsValues& values) {
  Schedule schedule;
  schedule.years = values.years;
  schedule.months = static_cast<std::uint16_t>(values.months);
  schedule.hours = static_cast<std::uint32_t>(values.hours);
  schedule.minutes = values.minutes;
  schedule.seconds = values.seconds;
  schedule.star_minute = values.star_minute;
  schedule.star_hour = values.star_hour;
  schedule.days = static_cast<std::uint32_t>(values.days);
  schedule.days_from_end = values.last_day ? 1 : 0;
  schedule.nth_weekdays = values.nth_weekdays;
  schedule.last_weekdays = values.last_weekdays;
  if (values.weeks != kWeeks1To53) schedule.week_filter = values.weeks;
  const auto weekdays =
      static_cast<std::uint8_t>((values.weekdays << 1 | values.weekdays >> 6) & kEveryWeekday);  // Sunday first
  const bool weekday_positions = values.nth_weekdays != 0 || values.last_weekdays != 0;
  if (!weekday_positions && (schedule.days == kEveryDay || weekdays == kEveryWeekday)) {
    // What a cron expression can say too, in its terms.
    schedule.star_day = schedule.days == kEveryDay;
    schedule.weekdays = weekdays;
    schedule.star_weekday = weekdays == kEveryWeekday;
  } else {
    schedule.combine = Schedule::Combine::any;
    schedule.weekday_filter = weekdays;
  }
  schedule.months = possible_months(schedule);
  schedule.dst = default_dst_rule(schedule);
  return schedule;
}

Result<Instant> parse_args_date(std::string_view text, const std::string& key, const TimeZone& zone, bool round_up) {
  constexpr std::size_t kDateLength = 10;      // 2026-12-01
  constexpr std::size_t kDateTimeLength = 19;  // 2026-12-01 00:00:00
  const std::string_view date = trimmed(text);
  const std::size_t fraction_end =
      date.size() > kDateTimeLength && date[kDateTimeLength] == '.'
          ? std::min(date.find_first_not_of("0123456789", kDateTimeLength + 1), date.size())
          : std::min(kDateTimeLength, date.size());
  const bool has_zone = fraction_end < date.size();
  const std::string missing = date.size() == kDateLength ? "T00:00:00Z" : has_zone ? "" : "Z";
  const Result<Instant> parsed = parse_rfc3339(std::string(date) + missing);
  if (!parsed) {
    return fail(Code::invalid,
                key + ": expected a date such as 2026-12-01 or 2026-12-01 08:30:00, found " + quoted(text), key,
                parsed.error().column == 0 ? 1 : parsed.error().column);
  }
  const bool has_fraction =
      date.substr(0, fraction_end).find_first_of("123456789", kDateTimeLength) != std::string_view::npos;
  const Instant whole = has_zone ? *parsed : zone.resolve(epoch_seconds(*parsed)).first;
  return round_up && has_fraction ? whole + Seconds(1) : whole;
}

}  // namespace kron
