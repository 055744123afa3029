#include "kron/core/schedule_field.h"

#include <algorithm>
#include <optional>

#include "kron/base/sha256.h"
#include "kron/base/text.h"
#include "kron/core/schedule.h"

namespace kron {
namespace {

using Special = FieldRule::Special;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

constexpr int kDaysPerWeek = 7;

class FieldReader {
 public:
  FieldReader(const FieldText& field, const FieldRule& rule, std::string_view identity)
      : field_(field), rule_(rule), identity_(identity), at_(field.begin) {}

  Result<FieldValues> read() {
    if (read_items()) return values_;
    return fail(std::move(error_));
  }

 private:
  // The read_ functions answer false, or nothing, once bad() has noted the error. A Result for every small step would
  // cost more than the parsing.
  bool read_items() {
    values_.star = peek() == '*';
    if (peek() == '?') {
      if (rule_.special == Special::none) return bad("'?' stands for day-of-month and day-of-week only", at_);
      if (field_.end - field_.begin > 1) return bad("'?' must stand alone", at_);
      add_range(rule_.first, rule_.last, 1);
      values_.star = true;
      return true;
    }
    while (read_item()) {
      if (at_ == field_.end) return true;
      if (peek() != ',') return bad("unexpected " + quoted(rest_of_item()), at_);
      ++at_;
    }
    return false;
  }

  [[nodiscard]] char peek() const { return at_ < field_.end ? field_.expression[at_] : '\0'; }
  [[nodiscard]] bool at_letter(char upper) const { return lower(peek()) == lower(upper); }
  [[nodiscard]] bool at_item_end() const { return at_ == field_.end || peek() == ','; }
  bool take(char c) {
    if (!at_letter(c) || at_ == field_.end) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] std::string_view rest_of_item() const {
    const std::string_view rest = field_.expression.substr(at_, field_.end - at_);
    return rest.substr(0, rest.find(','));
  }

  [[nodiscard]] std::string expected() const {
    std::string text = std::to_string(rule_.first) + "-" + std::to_string(rule_.last);
    if (!rule_.names.empty()) text += " or " + std::string(rule_.names.front()) + "-" + std::string(rule_.names.back());
    return text;
  }

  bool bad(const std::string& problem, std::size_t at) {
    error_ = {Code::invalid, std::string(rule_.name) + ": " + problem + "; expected " + expected(),
              std::string(rule_.name), at + 1};
    return false;
  }
  std::nullopt_t none(const std::string& problem, std::size_t at) {
    bad(problem, at);
    return std::nullopt;
  }

  bool read_item() {
    if (at_item_end()) return bad("empty list item", at_);
    if (take('*')) return read_steps(rule_.first, rule_.last);
    if (peek() == '-' || peek() == '+') return bad("a sign is not allowed in " + quoted(rest_of_item()), at_);
    if (peek() == '?') return bad("'?' must stand alone", at_);
    if (at_letter('H')) return read_hashed();
    if (at_letter('L')) return read_last();
    return read_values();
  }

  // a, a-b, a-b/n, a/n, and what may follow a single value: W, L, #k.
  bool read_values() {
    const std::size_t start = at_;
    const std::optional<int> first = read_value();
    if (!first) return false;
    if (at_item_end()) {
      add(*first);
      return true;
    }
    if (peek() == '/') return read_steps(*first > top() ? rule_.first : *first, top());
    if (rule_.special == Special::dates && take('W')) {
      values_.near_weekday |= std::uint32_t{1} << *first;
      return true;
    }
    if (rule_.special == Special::weekdays && take('L')) {
      values_.last_weekdays |= static_cast<std::uint8_t>(1 << *first % kDaysPerWeek);
      return true;
    }
    if (rule_.special == Special::weekdays && take('#')) return read_nth(*first % kDaysPerWeek);
    if (!take('-')) return bad("unexpected " + quoted(rest_of_item()), at_);
    const std::optional<int> last = read_value();
    if (!last) return false;
    if (*first > *last && rule_.first == kFirstYear) {
      return bad("the range " + quoted(field_.expression.substr(start, at_ - start)) + " runs backwards", start);
    }
    return read_steps(*first, *last);
  }

  bool read_nth(int weekday) {
    const std::size_t start = at_;
    const std::optional<std::uint64_t> nth = read_number();
    if (!nth) return false;
    if (*nth < 1 || *nth > 5) {
      return bad("'#' takes which one of the month, 1-5, and found " + quoted(taken_since(start)), start);
    }
    values_.nth_weekdays |= std::uint64_t{1} << (kDaysPerWeek * (static_cast<int>(*nth) - 1) + weekday);
    return true;
  }

  bool read_last() {
    const std::size_t start = at_;
    ++at_;
    if (rule_.special == Special::weekdays && at_item_end()) {
      return bad(
          "'L' alone means different days to different systems; write 6L for the last Saturday of the month, or "
          "SAT for every Saturday",
          start);
    }
    if (rule_.special != Special::dates) return bad("'L' does not belong here", start);
    if (take('W')) {
      values_.last_weekday = true;
      return true;
    }
    std::uint64_t back = 0;
    if (take('-')) {
      const std::optional<std::uint64_t> number = read_number();
      if (!number) return false;
      if (*number < 1 || *number > 30) {
        return bad("'L-n' takes 1-30 days before the last, and found " + quoted(taken_since(start)), start);
      }
      back = *number;
    }
    values_.days_from_end |= std::uint32_t{1} << back;
    return true;
  }

  // H, H(a-b), H/n, H(a-b)/n.
  bool read_hashed() {
    const std::size_t start = at_;
    ++at_;
    if (rule_.hashed_last == 0) return bad("'H' cannot choose this field", start);
    int first = rule_.first;
    int last = rule_.hashed_last;
    if (take('(')) {
      const std::optional<int> from = read_value();
      if (!from) return false;
      if (!take('-')) return bad("'H(' takes a range such as H(1-5), and found " + quoted(taken_since(start)), start);
      const std::optional<int> to = read_value();
      if (!to) return false;
      if (!take(')')) return bad("'H(' is not closed in " + quoted(taken_since(start)), start);
      if (*from > *to || *to > top()) {
        return bad("'H(a-b)' takes a range that does not wrap, and found " + quoted(taken_since(start)), start);
      }
      first = *from;
      last = *to;
    }
    int step = 0;
    if (peek() == '/') {
      const std::optional<int> every = read_step();
      if (!every) return false;
      step = *every;
    }
    if (identity_.empty()) return bad("'H' is chosen by the job's identity, and none was given", start);
    const std::uint64_t hash = leading_u64(sha256({identity_, "\n", rule_.name}));
    const int size = last - first + 1;
    const int slots = step == 0 ? size : std::min(step, size);
    const int chosen = first + static_cast<int>(hash % static_cast<std::uint64_t>(slots));
    add_range(chosen, step == 0 ? chosen : last, std::max(step, 1));
    return true;
  }

  // An optional /n after a range.
  bool read_steps(int first, int last) {
    int step = 1;
    if (peek() == '/') {
      const std::optional<int> given = read_step();
      if (!given) return false;
      step = *given;
    }
    add_range(first, last, step);
    return true;
  }

  // A step beyond the field's size matches the first value alone, whatever its number.
  std::optional<int> read_step() {
    ++at_;
    const std::size_t start = at_;
    if (peek() == '-' || peek() == '+') return none("a step has no sign, and found " + quoted(rest_of_item()), start);
    const std::optional<std::uint64_t> number = read_number();
    if (!number) return std::nullopt;
    if (*number == 0) return none("a step is at least 1, and found 0", start);
    constexpr std::uint64_t kBeyondAnyField = 1'000;
    return static_cast<int>(std::min(*number, kBeyondAnyField));
  }

  std::optional<int> read_value() {
    const std::size_t start = at_;
    if (is_letter(peek())) return read_name();
    const std::optional<std::uint64_t> number = read_number();
    if (!number) return std::nullopt;
    if (*number < static_cast<std::uint64_t>(rule_.first) || *number > static_cast<std::uint64_t>(rule_.last)) {
      return none(quoted(taken_since(start)) + " is out of range", start);
    }
    return static_cast<int>(*number);
  }

  // Names have three letters; an L may follow one at once (FRIL).
  std::optional<int> read_name() {
    constexpr std::size_t kLetters = 3;
    const std::size_t start = at_;
    while (at_ < field_.end && is_letter(peek())) ++at_;
    const std::string_view word = taken_since(start);
    const bool has_suffix = word.size() == kLetters + 1 && lower(word.back()) == 'l';
    if (has_suffix) --at_;
    const int index = index_of_name(taken_since(start), rule_.names);
    if (index < 0) return none("unknown name " + quoted(word), start);
    return rule_.first + index;
  }

  std::optional<std::uint64_t> read_number() {
    const std::size_t start = at_;
    if (!is_digit(peek())) {
      return none(at_item_end() ? "a number is missing" : "a number cannot begin with " + quoted(rest_of_item()), at_);
    }
    std::uint64_t value = 0;
    for (; at_ < field_.end && is_digit(peek()); ++at_) {
      const auto digit = static_cast<std::uint64_t>(peek() - '0');
      if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) || __builtin_add_overflow(value, digit, &value)) {
        return none("the number " + quoted(rest_of_item()) + " does not fit 64 bits", start);
      }
    }
    return value;
  }

  [[nodiscard]] std::string_view taken_since(std::size_t start) const {
    return field_.expression.substr(start, at_ - start);
  }

  // The greatest value that is not a second name for another: 7 is Sunday again.
  [[nodiscard]] int top() const { return rule_.special == Special::weekdays ? kDaysPerWeek - 1 : rule_.last; }

  void add(int value) {
    if (rule_.special == Special::weekdays) value %= kDaysPerWeek;
    const auto position = static_cast<std::size_t>(rule_.first == kFirstYear ? value - kFirstYear : value);
    values_.bits[position / 64] |= std::uint64_t{1} << position % 64;
  }

  // A range that ends before it begins goes on from the field's first value.
  void add_range(int first, int last, int step) {
    if (step == 1 && first <= last && last < 64) {
      values_.bits[0] |= ~std::uint64_t{0} >> (63 - (last - first)) << first;
      if (rule_.special == Special::weekdays) values_.bits[0] = (values_.bits[0] | values_.bits[0] >> 7) & 0x7F;
      return;
    }
    if (first > last && first > top()) first -= kDaysPerWeek;
    const int size = top() - rule_.first + 1;
    const int length = first <= last ? last - first : last - first + size;
    for (int done = 0; done <= length; done += step) {
      const int value = first + done;
      add(first <= last || value <= top() ? value : value - size);
    }
  }

  const FieldText& field_;
  const FieldRule& rule_;
  std::string_view identity_;
  std::size_t at_;
  FieldValues values_;
  Error error_;
};

constexpr std::array<std::string_view, 7> kMacros{"@yearly", "@annually", "@monthly", "@weekly",
                                                  "@daily",  "@midnight", "@hourly"};
constexpr std::array<std::string_view, 7> kExpansions{"0 0 1 1 *", "0 0 1 1 *", "0 0 1 * *", "0 0 * * 0",
                                                      "0 0 * * *", "0 0 * * *", "0 * * * *"};

}  // namespace

std::string_view expansion_of_macro(std::string_view name) {
  const int index = index_of_name(name, kMacros);
  return index < 0 ? std::string_view{} : kExpansions[static_cast<std::size_t>(index)];
}

std::span<const std::string_view> macro_names() { return kMacros; }

Result<FieldValues> parse_field(const FieldText& field, const FieldRule& rule, std::string_view identity) {
  return FieldReader(field, rule, identity).read();
}

int index_of_name(std::string_view word, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (equals_ignoring_case(word, names[i])) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace kron
