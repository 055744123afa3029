#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "kron/base/text.h"
#include "kron/core/constraint_kinds.h"
#include "kron/core/constraints.h"
#include "kron/core/words.h"

namespace kron {
namespace {

constexpr std::size_t kLongestClause = 64 * 1024;

// All kinds, those of numbers first.
constexpr auto kConstraintKinds = [] {
  constexpr std::array<ConstraintKind, 4> kOthers{{
      {"between", "HH:MM-HH:MM, the end minute included; may wrap over midnight"},
      {"date", "YYYY-MM-DD"},
      {"dates", "YYYY-MM-DD..YYYY-MM-DD, both included"},
      {"calendar", "The name of a calendar"},
  }};
  std::array<ConstraintKind, kNumberKinds.size() + kOthers.size()> all;
  std::ranges::copy(kOthers, std::ranges::copy(kNumberKinds, all.begin()).out);
  return all;
}();

tl::unexpected<Error> unknown_kind(std::string_view kind) {
  std::array<std::string_view, kConstraintKinds.size()> words;
  std::ranges::transform(kConstraintKinds, words.begin(), &ConstraintKind::word);
  return unknown_word(kind, words, "constraint", std::string(kind.substr(0, 40)));
}

// Trimmed, and still a part of `text` when nothing is left, so that its place can be told.
std::string_view without_blanks(std::string_view text) {
  const std::string_view rest = trimmed(text);
  return rest.empty() ? text.substr(0, 0) : rest;
}

// A clause being read, cut at the commas.
class Items {
 public:
  explicit Items(std::string_view text) : text_(text) {}

  // The next item, trimmed; nothing after the last.
  std::optional<std::string_view> next() {
    if (done_) return std::nullopt;
    const std::size_t comma = std::min(text_.find(',', at_), text_.size());
    const std::string_view item = without_blanks(text_.substr(at_, comma - at_));
    done_ = comma == text_.size();
    start_ = static_cast<std::size_t>(item.data() - text_.data());
    at_ = comma + 1;
    return item;
  }
  // Column of the byte `offset` of the item last returned.
  [[nodiscard]] std::size_t column(std::size_t offset = 0) const { return start_ + offset + 1; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
  bool done_ = false;
};

std::optional<int> small_number(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<int> value_in(const NumberKind& kind, std::string_view text) {
  for (std::size_t i = 0; i < kind.names.size(); ++i) {
    if (equals_ignoring_case(text, kind.names[i])) return kind.low + static_cast<int>(i);
  }
  const std::optional<int> value = small_number(text);
  return value && *value >= kind.low && *value <= kind.high ? value : std::nullopt;
}

// Adds the values of `a` or `a-b`; a range whose end comes first wraps. Sunday as 7 ends a range, as 0 begins one.
Result<std::uint32_t> mask_of(const NumberKind& kind, std::string_view item, const Items& place) {
  const std::size_t dash = item.find('-');
  const std::string_view first_text = without_blanks(item.substr(0, dash));
  const std::string_view last_text =
      dash == std::string_view::npos ? first_text : without_blanks(item.substr(dash + 1));
  const auto bad = [&](std::string_view part) {
    return fail(Code::invalid, quoted(part) + " is not one of: " + std::string(kind.expected), std::string(kind.word),
                place.column(static_cast<std::size_t>(part.data() - item.data())));
  };
  const std::optional<int> first = value_in(kind, first_text);
  if (!first) return bad(first_text);
  const std::optional<int> last = value_in(kind, last_text);
  if (!last) return bad(last_text);
  std::uint32_t mask = 0;
  const int size = kind.last() - kind.low + 1;
  const int steps = *last >= *first ? *last - *first : *last - *first + size;
  for (int i = 0; i <= steps; ++i) mask |= 1U << (kind.low + (*first - kind.low + i) % size);
  return mask;
}

Result<std::uint32_t> mask_of(const NumberKind& kind, std::string_view text) {
  std::uint32_t mask = 0;
  Items items(text);
  while (const auto item = items.next()) {
    const Result<std::uint32_t> more = mask_of(kind, *item, items);
    if (!more) return more;
    mask |= *more;
  }
  return mask;
}

std::optional<std::int16_t> minute_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 2 || text.size() != colon + 3) return std::nullopt;
  const std::optional<int> hour = small_number(text.substr(0, colon));
  const std::optional<int> minute = small_number(text.substr(colon + 1));
  if (!hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  return static_cast<std::int16_t>(*hour * 60 + *minute);
}

Result<MinuteRange> minutes_of(std::string_view item, const Items& place) {
  const std::size_t dash = item.find('-');
  const std::string_view first_text = without_blanks(item.substr(0, dash));
  const std::string_view last_text =
      dash == std::string_view::npos ? item.substr(item.size()) : without_blanks(item.substr(dash + 1));
  const std::optional<std::int16_t> first = minute_of(first_text);
  const std::optional<std::int16_t> last = minute_of(last_text);
  if (first && last) return MinuteRange{*first, *last};
  const std::string_view part = first ? last_text : first_text;
  return fail(Code::invalid, quoted(item) + " is not a time span; expected HH:MM-HH:MM such as 22:00-06:00", "between",
              place.column(static_cast<std::size_t>(part.data() - item.data())));
}

std::optional<std::int32_t> parsed_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::optional<int> year = small_number(text.substr(0, 4));
  const std::optional<int> month = small_number(text.substr(5, 2));
  const std::optional<int> day = small_number(text.substr(8, 2));
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1 || *day > days_in_month(*year, *month)) {
    return std::nullopt;
  }
  return *year * 10000 + *month * 100 + *day;
}

// Keeps the list sorted and free of repeats, so that the same clauses make the same set in any order.
template <class Range>
void insert_sorted(std::vector<Range>& ranges, const Range& range) {
  const auto at = std::ranges::lower_bound(ranges, range);
  if (at == ranges.end() || *at != range) ranges.insert(at, range);
}

Status add_between(ConstraintSet& set, std::string_view value) {
  Items items(value);
  while (const auto item = items.next()) {
    const Result<MinuteRange> range = minutes_of(*item, items);
    if (!range) return fail(range.error());
    insert_sorted(set.between, *range);
  }
  return {};
}

Status add_dates(ConstraintSet& set, std::string_view kind, std::string_view value) {
  Items items(value);
  while (const auto item = items.next()) {
    const Result<DateRange> range = parse_date_range(*item);
    if (!range)
      return fail(Code::invalid, range.error().message, std::string(kind), items.column(range.error().column - 1));
    if (kind == "date" && item->find("..") != std::string_view::npos) {
      return fail(Code::invalid, quoted(*item) + " is a range of dates; write it as dates=" + std::string(*item),
                  "date", items.column());
    }
    insert_sorted(set.dates, *range);
  }
  return {};
}

Status add_calendars(ConstraintSet& set, std::string_view value,
                     const std::map<std::string, std::vector<DateRange>>& calendars) {
  Items items(value);
  while (const auto item = items.next()) {
    const auto found = calendars.find(std::string(*item));
    if (found == calendars.end()) {
      std::vector<std::string_view> known;
      for (const auto& [name, dates] : calendars) known.push_back(name);
      if (known.empty()) {
        return fail(Code::invalid, "no calendar is defined with the job", "calendar", items.column());
      }
      Error error = unknown_word(*item, known, "calendar", "calendar").value();
      error.column = items.column();
      return fail(std::move(error));
    }
    if (std::ranges::find(set.calendars, found->first, &Calendar::name) != set.calendars.end()) continue;
    const auto at = std::ranges::lower_bound(set.calendars, found->first, {}, &Calendar::name);
    set.calendars.insert(at, Calendar{found->first, found->second});
  }
  return {};
}

}  // namespace

std::span<const ConstraintKind> constraint_kinds() { return kConstraintKinds; }

Result<DateRange> parse_date_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  const std::string_view first_text = without_blanks(text.substr(0, dots));
  const std::string_view last_text =
      dots == std::string_view::npos ? first_text : without_blanks(text.substr(dots + 2));
  const std::optional<std::int32_t> first = parsed_date(first_text);
  const std::optional<std::int32_t> last = parsed_date(last_text);
  if (!first || !last) {
    const std::string_view part = first ? last_text : first_text;
    return fail(Code::invalid,
                quoted(part) + " is not a date that exists; expected YYYY-MM-DD or YYYY-MM-DD..YYYY-MM-DD", "",
                static_cast<std::size_t>(part.data() - text.data()) + 1);
  }
  if (*last < *first) {
    return fail(Code::invalid, "the range " + quoted(text) + " ends before it begins; swap its dates", "", 1);
  }
  return DateRange{*first, *last};
}

Status add_clause(ConstraintSet& set, std::string_view kind, std::string_view value,
                  const std::map<std::string, std::vector<DateRange>>& calendars) {
  if (std::ranges::find(kConstraintKinds, kind, &ConstraintKind::word) == kConstraintKinds.end()) {
    return unknown_kind(kind);
  }
  if (value.size() > kLongestClause) {
    return fail(Code::invalid, "longer than " + std::to_string(kLongestClause) + " bytes", std::string(kind));
  }
  if (kind == "between") return add_between(set, value);
  if (kind == "date" || kind == "dates") return add_dates(set, kind, value);
  if (kind == "calendar") return add_calendars(set, value, calendars);
  const NumberKind& numbers = *std::ranges::find(kNumberKinds, kind, &NumberKind::word);
  const Result<std::uint32_t> mask = mask_of(numbers, value);
  if (!mask) return fail(mask.error());
  set.*numbers.mask |= *mask;
  return {};
}

}  // namespace kron
