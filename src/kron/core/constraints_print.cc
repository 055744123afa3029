#include <algorithm>

#include "kron/core/constraint_kinds.h"
#include "kron/core/constraints.h"

namespace kron {
namespace {

// The set bits as `a,b-c`, never wrapped.
std::string text_of(const NumberKind& kind, std::uint32_t mask) {
  const auto name = [&](int value) {
    return kind.names.empty() ? std::to_string(value)
                              : std::string(kind.names[static_cast<std::size_t>(value - kind.low)]);
  };
  std::string text;
  for (int value = kind.low; value <= kind.last(); ++value) {
    if ((mask >> value & 1U) == 0) continue;
    int end = value;
    while (end < kind.last() && (mask >> (end + 1) & 1U) != 0) ++end;
    if (!text.empty()) text += ',';
    text += name(value);
    if (end > value) text += '-' + name(end);
    value = end;
  }
  return text;
}

void put_number(std::string& text, int value, int width) {
  const std::string digits = std::to_string(value);
  text.append(static_cast<std::size_t>(std::max(0, width - static_cast<int>(digits.size()))), '0');
  text += digits;
}

std::string text_of(const MinuteRange& range) {
  std::string text;
  for (const int minute : {range.first, range.last}) {
    if (!text.empty()) text += '-';
    put_number(text, minute / 60, 2);
    text += ':';
    put_number(text, minute % 60, 2);
  }
  return text;
}

std::string date_text(std::int32_t date) {
  std::string text;
  put_number(text, date / 10000, 4);
  text += '-';
  put_number(text, date / 100 % 100, 2);
  text += '-';
  put_number(text, date % 100, 2);
  return text;
}

void append_item(std::string& list, const std::string& item) {
  if (!list.empty()) list += ',';
  list += item;
}

}  // namespace

std::string to_string(const DateRange& range) {
  return range.first == range.last ? date_text(range.first) : date_text(range.first) + ".." + date_text(range.last);
}

std::vector<std::pair<std::string, std::string>> clauses_of(const ConstraintSet& set) {
  std::vector<std::pair<std::string, std::string>> clauses;
  const auto add = [&](std::string_view kind, std::string value) {
    if (!value.empty()) clauses.emplace_back(kind, std::move(value));
  };
  for (const NumberKind& kind : kNumberKinds) add(kind.word, text_of(kind, set.*kind.mask));
  std::string between;
  for (const MinuteRange& range : set.between) append_item(between, text_of(range));
  add("between", between);
  std::string single;
  std::string spans;
  for (const DateRange& range : set.dates) append_item(range.first == range.last ? single : spans, to_string(range));
  add("date", single);
  add("dates", spans);
  std::string calendars;
  for (const Calendar& calendar : set.calendars) append_item(calendars, calendar.name);
  add("calendar", calendars);
  return clauses;
}

std::string summary_of(const Constraints& constraints) {
  std::string summary;
  const auto add_side = [&](std::string_view side, const ConstraintSet& set) {
    if (set.empty()) return;
    if (!summary.empty()) summary += "; ";
    summary += side;
    for (const auto& [kind, value] : clauses_of(set)) summary += ' ' + kind + '=' + value;
  };
  add_side("only", constraints.only);
  add_side("avoid", constraints.avoid);
  return summary.empty() ? "none" : summary;
}

}  // namespace kron
