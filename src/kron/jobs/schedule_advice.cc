#include "kron/jobs/schedule_advice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

struct Field {
  std::string_view name;
  int first;
  int last;
};
constexpr std::array kFields{Field{"second", 0, 59},       Field{"minute", 0, 59}, Field{"hour", 0, 23},
                             Field{"day-of-month", 1, 31}, Field{"month", 1, 12},  Field{"day-of-week", 0, 6},
                             Field{"year", 1970, 2199}};
constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
constexpr std::string_view kWeekdays = "sunmontuewedthufrisat";

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> value_of(std::string_view text, const Field& field) {
  if (const std::optional<int> digits = number(text)) return digits;
  const std::string_view names = field.name == "month" ? kMonths : field.name == "day-of-week" ? kWeekdays : "";
  const std::size_t at = text.size() == 3 ? names.find(lower(text)) : std::string_view::npos;
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<int>(at / 3) + field.first;
}

// How many values the part before the `/` spans; nothing when it is of no form that has a span.
std::optional<int> span_of(std::string_view range, const Field& field) {
  const int all = field.last - field.first + 1;
  if (range == "*" || range == "?" || range == "H") return all;
  if (range.starts_with("H(") && range.ends_with(')')) range = range.substr(2, range.size() - 3);
  const std::size_t dash = range.find('-');
  const std::optional<int> first = value_of(range.substr(0, dash), field);
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return field.last - *first + 1;
  const std::optional<int> last = value_of(range.substr(dash + 1), field);
  if (!last) return std::nullopt;
  return *last >= *first ? *last - *first + 1 : *last - *first + 1 + all;
}

void advise_on_field(std::string_view text, std::size_t column, const Field& field, std::vector<ScheduleAdvice>& out) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, comma - at);
    const std::size_t slash = item.find('/');
    if (slash != std::string_view::npos) {
      const std::optional<int> step = number(item.substr(slash + 1));
      const std::optional<int> span = span_of(item.substr(0, slash), field);
      if (step && span && *step >= *span && *step > 1) {
        out.push_back({column + at + slash + 1,
                       std::string(field.name) + ": a step of " + std::to_string(*step) +
                           " is larger than its range of " + std::to_string(*span) +
                           ", so only the first value matches",
                       "write that value alone, or use @every for a fixed distance"});
      }
    }
    at = comma + 1;
  }
}

}  // namespace

std::vector<ScheduleAdvice> advice_on(std::string_view expression) {
  std::vector<ScheduleAdvice> advice;
  // Without a step there is nothing to look for; that is almost every expression.
  if (expression.find('/') == std::string_view::npos) return advice;
  constexpr std::string_view kBlank = " \t";
  std::vector<std::size_t> starts;
  for (std::size_t at = expression.find_first_not_of(kBlank); at != std::string_view::npos;
       at = expression.find_first_not_of(kBlank, expression.find_first_of(kBlank, at))) {
    starts.push_back(at);
  }
  if (starts.size() < 5 || starts.size() > 7) return advice;
  const std::size_t first_field = starts.size() == 5 ? 1 : 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t end = std::min(expression.find_first_of(kBlank, starts[i]), expression.size());
    advise_on_field(expression.substr(starts[i], end - starts[i]), starts[i] + 1, kFields[first_field + i], advice);
  }
  return advice;
}

}  // namespace kron::jobs
