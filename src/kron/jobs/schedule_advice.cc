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

// The fields of an expression, by their index in kFields.
class FieldTexts {
 public:
  explicit FieldTexts(std::string_view expression) {
    constexpr std::string_view kBlank = " \t";
    for (std::size_t at = expression.find_first_not_of(kBlank);
         at != std::string_view::npos && count_ <= kFields.size();
         at = expression.find_first_not_of(kBlank, expression.find_first_of(kBlank, at))) {
      const std::size_t end = std::min(expression.find_first_of(kBlank, at), expression.size());
      if (count_ < kFields.size()) texts_[count_] = {expression.substr(at, end - at), at + 1};
      ++count_;
    }
    offset_ = count_ == 5 ? 1 : 0;
  }

  struct Text {
    std::string_view text;
    std::size_t column = 0;
  };
  [[nodiscard]] bool is_expression() const { return count_ >= 5 && count_ <= kFields.size(); }
  [[nodiscard]] bool has(std::size_t field) const { return field >= offset_ && field < count_ + offset_; }
  [[nodiscard]] const Text& operator[](std::size_t field) const { return texts_[field - offset_]; }

 private:
  std::array<Text, kFields.size()> texts_;
  std::size_t count_ = 0;
  std::size_t offset_ = 0;
};

constexpr std::size_t kSecond = 0, kMinute = 1, kHour = 2, kDate = 3, kWeekday = 5;

bool is_fixed(std::string_view text) { return text.find_first_not_of("0123456789,") == std::string_view::npos; }
bool is_star(std::string_view text) { return text == "*" || text == "?" || text == "*/1"; }
bool is_stepped_star(std::string_view text) { return text.starts_with("*/") && text != "*/1"; }

// `* 3 * * *`: sixty times where once was meant.
void advise_on_star(const FieldTexts& fields, std::size_t finer, std::vector<ScheduleAdvice>& out) {
  if (!fields.has(finer) || fields[finer].text != "*" || !is_fixed(fields[finer + 1].text)) return;
  const std::string unit(kFields[finer].name);
  const std::string longer(kFields[finer + 1].name);
  out.push_back(
      {fields[finer].column,
       unit + ": * runs 60 times, in every " + unit + " of " + longer + " " + std::string(fields[finer + 1].text),
       "write 0 for one run at the beginning of the " + longer});
}

// `*/45 * * * *`: 0, 45, and 0 again after a quarter of an hour. A last distance that is nearly as long as the others,
// as that of */7, surprises nobody.
void advise_on_uneven_step(const FieldTexts& fields, std::size_t index, std::vector<ScheduleAdvice>& out) {
  if (!fields.has(index) || !is_stepped_star(fields[index].text)) return;
  const Field& field = kFields[index];
  const int span = field.last - field.first + 1;
  const std::optional<int> step = number(fields[index].text.substr(2));
  if (!step || *step >= span || span % *step == 0) return;
  if (*step * 2 <= span && span % *step * 2 >= *step) return;
  const char unit = field.name.front();
  out.push_back({fields[index].column,
                 std::string(field.name) + ": a step of " + std::to_string(*step) + " does not divide " +
                     std::to_string(span) + ": the last distance is only " + std::to_string(span % *step),
                 "use @every " + std::to_string(*step) + unit + " for a fixed distance, or a step that divides " +
                     std::to_string(span)});
}

// `0 0 13 * 5` and `0 0 */2 * 1`: the day fields are alternatives, unless one of them begins with a star.
void advise_on_days(const FieldTexts& fields, std::vector<ScheduleAdvice>& out) {
  const FieldTexts::Text& date = fields[kDate];
  const FieldTexts::Text& weekday = fields[kWeekday];
  if (is_star(date.text) || is_star(weekday.text)) return;
  if (!date.text.starts_with('*') && !weekday.text.starts_with('*')) {
    out.push_back({date.column,
                   "day-of-month and day-of-week are both given: it runs on days that match either of them",
                   "for days that match both, keep one field and put the other into @only (dow=… or dom=…)"});
  } else {
    const FieldTexts::Text& star = date.text.starts_with('*') ? date : weekday;
    out.push_back({star.column,
                   "a day field begins with *: it runs only on days that match day-of-month and day-of-week",
                   "for days that match either, write the step as a list, such as 1-31/2"});
  }
}

}  // namespace

std::vector<ScheduleAdvice> advice_on(std::string_view expression) {
  std::vector<ScheduleAdvice> advice;
  const FieldTexts fields(expression);
  if (!fields.is_expression() || expression.find('@') != std::string_view::npos) return advice;
  // Without a step there is nothing to look for in the fields themselves; that is almost every expression.
  const bool has_step = expression.find('/') != std::string_view::npos;
  for (std::size_t i = 0; has_step && i < kFields.size(); ++i) {
    if (!fields.has(i)) continue;
    advise_on_field(fields[i].text, fields[i].column, kFields[i], advice);
    if (i <= kHour) advise_on_uneven_step(fields, i, advice);
  }
  advise_on_star(fields, kSecond, advice);
  advise_on_star(fields, kMinute, advice);
  advise_on_days(fields, advice);
  return advice;
}

}  // namespace kron::jobs
