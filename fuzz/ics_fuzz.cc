#include "kron/core/civil.h"
#include "kron/jobs/ics_read.h"

// Whatever a calendar file holds is read or refused. What is read lies in the years, in order and apart, and read again
// for later years the same dates are in those that both have.
namespace {

using kron::DateRange;
using Dates = std::vector<DateRange>;

bool is_date(std::int32_t number) {
  const int month = number / 100 % 100;
  const int day = number % 100;
  return month >= 1 && month <= 12 && day >= 1 && day <= kron::days_in_month(number / 10000, month);
}

void check(const Dates& dates, const kron::jobs::CalendarYears& years) {
  std::int32_t before = 0;
  for (const DateRange& range : dates) {
    if (range.first <= before || range.last < range.first) __builtin_trap();
    if (!is_date(range.first) || !is_date(range.last)) __builtin_trap();
    if (range.first / 10000 < years.first || range.last / 10000 > years.last) __builtin_trap();
    before = range.last;
  }
}

// Of 2027 alone.
Dates in_2027(const Dates& dates) {
  Dates some;
  for (const DateRange& range : dates) {
    const DateRange part{std::max(range.first, 20270101), std::min(range.last, 20271231)};
    if (part.first <= part.last) some.push_back(part);
  }
  return some;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr kron::jobs::CalendarYears kNow{2025, 2032};
  constexpr kron::jobs::CalendarYears kLater{2027, 2034};
  const auto read = kron::jobs::read_ics(text, kNow);
  const auto again = kron::jobs::read_ics(text, kLater);
  if (read) check(read->dates, kNow);
  if (again) check(again->dates, kLater);
  if (read && again && in_2027(read->dates) != in_2027(again->dates)) __builtin_trap();
  if (!read && read.error().message.empty()) __builtin_trap();
  return 0;
}
