#include "kron/base/rfc3339.h"

#include <algorithm>

#include "kron/base/text.h"

namespace kron {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::year_month;
using std::chrono::year_month_day;

// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z. An offset or a leap second may lead out of them.
constexpr Instant kFirstWritable = std::chrono::sys_days(std::chrono::year(0) / 1 / 1);
constexpr Instant kLastWritable = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1) - Seconds(1);

void put_digits(char* at, int width, unsigned value) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// Reads fixed-width numbers and single characters off the front of a text, remembering where it stopped.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool number(int width, int low, int high, int& value) {
    value = 0;
    const std::size_t start = at_;
    for (int i = 0; i < width; ++i, ++at_) {
      if (at_ == text_.size() || text_[at_] < '0' || text_[at_] > '9') return false;
      value = value * 10 + (text_[at_] - '0');
    }
    if (value >= low && value <= high) return true;
    at_ = start;
    return false;
  }

  bool one_of(std::string_view set) {
    if (at_ >= text_.size() || set.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  bool digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > start;
  }

  [[nodiscard]] char last() const { return text_[at_ - 1]; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] std::size_t column() const { return at_ + 1; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Rfc3339Text rfc3339_text(Instant t) {
  const auto day = floor<days>(t);
  const year_month_day date(day);
  const auto second_of_day = static_cast<unsigned>((t - day).count());
  Rfc3339Text text{'0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0', '0', ':', '0', '0', ':', '0', '0', 'Z'};
  put_digits(text.data(), 4, static_cast<unsigned>(std::clamp(static_cast<int>(date.year()), 0, 9999)));
  put_digits(&text[5], 2, static_cast<unsigned>(date.month()));
  put_digits(&text[8], 2, static_cast<unsigned>(date.day()));
  put_digits(&text[11], 2, second_of_day / 3600);
  put_digits(&text[14], 2, second_of_day / 60 % 60);
  put_digits(&text[17], 2, second_of_day % 60);
  return text;
}

std::string rfc3339(Instant t) {
  const Rfc3339Text text = rfc3339_text(t);
  return {text.data(), text.size()};
}

Result<Instant> parse_rfc3339(std::string_view text) {
  Reader in(text);
  const auto bad = [&](const char* expected) {
    return fail(Code::invalid,
                std::string("expected ") + expected + " of a time like 2026-03-01T00:00:00Z, got " + quoted(text), "",
                in.column());
  };
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!in.number(4, 0, 9999, year)) return bad("the year");
  if (!in.one_of("-") || !in.number(2, 1, 12, month)) return bad("-month");
  const year_month this_month{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month))};
  const auto last_day = static_cast<int>(static_cast<unsigned>((this_month / std::chrono::last).day()));
  if (!in.one_of("-") || !in.number(2, 1, last_day, day)) return bad("-day (one that exists in the month)");
  const year_month_day date = this_month / day;
  if (!in.one_of("Tt ") || !in.number(2, 0, 23, hour)) return bad("T and the hour");
  if (!in.one_of(":") || !in.number(2, 0, 59, minute)) return bad(":minute");
  if (!in.one_of(":") || !in.number(2, 0, 60, second)) return bad(":second");
  if (in.one_of(".") && !in.digits()) return bad("digits of a fraction");
  int offset = 0;
  if (!in.one_of("Zz+-")) return bad("Z or an offset such as +01:00");
  if (const char sign = in.last(); sign == '+' || sign == '-') {
    int offset_hours = 0;
    int offset_minutes = 0;
    if (!in.number(2, 0, 23, offset_hours) || !in.one_of(":") || !in.number(2, 0, 59, offset_minutes)) {
      return bad("an offset such as +01:00");
    }
    offset = (offset_hours * 60 + offset_minutes) * (sign == '-' ? -60 : 60);
  }
  if (!in.at_end()) return bad("the end");
  const Instant t = Instant(std::chrono::sys_days(date)) + Seconds(hour * 3600 + minute * 60 + second - offset);
  if (t < kFirstWritable || t > kLastWritable) {
    return fail(Code::invalid, quoted(text) + " is outside the years 0000 to 9999 in UTC", "", 1);
  }
  return t;
}

}  // namespace kron
