#include "kron/history/day_totals.h"

#include <algorithm>
#include <cmath>

#include "kron/base/rfc3339.h"
#include "kron/json/fields.h"

namespace kron::history {
namespace {

constexpr std::size_t kDayTextLength = 10;
constexpr double kMostSeconds = 1e12;

std::size_t place_of(const Entry& entry) { return kLetters.find(letter_of(entry)); }

void write_members(JsonWriter& out, const DayTotals& totals) {
  out.member("day", day_text(totals.day)).key("counts").begin_map();
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    if (totals.counts[i] != 0) out.key(kLetters.substr(i, 1)).integer(totals.counts[i]);
  }
  out.end_map().key("runs").integer(totals.runs());
  out.key("sumSeconds").real(std::chrono::duration<double>(totals.sum).count());
  out.key("maxSeconds").real(std::chrono::duration<double>(totals.longest).count());
}

void read_length(Fields& fields, std::string_view key, Length& target) {
  const Node* node = fields.find(key);
  const auto* real = node == nullptr ? nullptr : node->as<double>();
  const auto* whole = node == nullptr ? nullptr : node->as<std::int64_t>();
  const double seconds = real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : -1;
  if (!(seconds >= 0 && seconds < kMostSeconds)) return fields.report(std::string(key), "expected a number of seconds");
  target = std::chrono::round<Length>(std::chrono::duration<double>(seconds));
}

}  // namespace

void DayTotals::add(const Entry& entry) {
  ++counts[place_of(entry)];
  const Length length = length_of(entry).value_or(Length(0));
  sum += length;
  longest = std::max(longest, length);
}

void DayTotals::take_back(const Entry& entry) {
  std::int64_t& count = counts[place_of(entry)];
  count = std::max<std::int64_t>(count - 1, 0);
  sum = std::max(sum - length_of(entry).value_or(Length(0)), Length(0));
}

std::int64_t DayTotals::runs() const {
  std::int64_t runs = 0;
  for (const char letter : {'+', 'x', 't', '?'}) runs += counts[kLetters.find(letter)];
  return runs;
}

std::chrono::sys_days day_of(const Entry& entry) { return std::chrono::floor<std::chrono::days>(time_of(entry)); }

std::string day_text(std::chrono::sys_days day) { return rfc3339(Instant(day)).substr(0, kDayTextLength); }

Result<std::chrono::sys_days> parse_day(std::string_view text) {
  const Result<Instant> midnight = parse_rfc3339(std::string(text) + "T00:00:00Z");
  if (text.size() != kDayTextLength || !midnight) {
    return fail(Code::invalid, "a day is written 2026-03-01");
  }
  return std::chrono::floor<std::chrono::days>(*midnight);
}

void write(JsonWriter& out, const DayTotals& totals) {
  out.begin_map();
  write_members(out, totals);
  out.end_map();
}

std::string day_line(const DayTotals& totals) {
  JsonWriter out;
  out.begin_map().member("job", totals.job);
  write_members(out, totals);
  return out.end_map().take() + '\n';
}

Result<DayTotals> parse_day_line(std::string_view line) {
  const Result<Node> document = parse_json(line);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  DayTotals totals;
  totals.job = fields.text("job").value_or("");
  if (totals.job.empty()) fields.report("job", "expected the job's name");
  fields.take(totals.day, "day", parse_day(fields.text("day").value_or("")));
  if (auto counts = fields.map("counts")) {
    for (std::size_t i = 0; i < kLetters.size(); ++i) {
      totals.counts[i] = std::max<std::int64_t>(counts->integer(kLetters.substr(i, 1)).value_or(0), 0);
    }
  } else {
    fields.report("counts", "expected the number of entries of each letter");
  }
  read_length(fields, "sumSeconds", totals.sum);
  read_length(fields, "maxSeconds", totals.longest);
  if (!errors.empty()) return fail(errors.front());
  return totals;
}

}  // namespace kron::history
