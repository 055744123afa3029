#include "kron/core/alarm.h"

#include <algorithm>
#include <array>

#include "kron/base/rfc3339.h"
#include "kron/base/sha256.h"
#include "kron/core/words.h"

namespace kron {
namespace {

constexpr std::array<Word<AlarmKind>, kAlarmKinds> kKinds{
    Word{AlarmKind::failed, "failed"},
    Word{AlarmKind::missed, "missed"},
    Word{AlarmKind::unschedulable, "unschedulable"},
    Word{AlarmKind::late, "late"},
    Word{AlarmKind::recovered, "recovered"},
};

std::string task_id(std::string_view identity, std::string_view key, std::string_view destination) {
  return "notify-" + hex(sha256({identity, "\n", key, "\n", destination})).substr(0, 32);
}

std::string opening_key(AlarmKind kind, Instant first) { return std::string(name_of(kind)) + " " + rfc3339(first); }

void owe(Alarm& alarm, const AlarmTerms& terms, const AlarmSign& sign, std::uint32_t number) {
  ++alarm.told;
  alarm.told_at = sign.at;
  if (alarm.owed.size() == kMostOwed) alarm.owed.erase(alarm.owed.begin());
  alarm.owed.push_back({sign, *alarm.first, alarm.bad, number, alarm.kind, terms.to});
}

void go_well(Alarm& alarm, const AlarmTerms& terms, const AlarmSign& sign) {
  // A job that was told nothing of is not told of again.
  if (alarm.is_open && alarm.told > 0 && terms.tells(AlarmKind::recovered)) owe(alarm, terms, sign, 0);
  std::vector<AlarmMessage> owed = std::move(alarm.owed);
  alarm = Alarm{};
  alarm.owed = std::move(owed);
}

}  // namespace

std::string_view name_of(AlarmKind kind) { return word_of(kind, kKinds); }
Result<AlarmKind> parse_alarm_kind(std::string_view text) { return parse_word(text, kKinds, "kind of alarm", "on"); }

std::vector<AlarmKind> all_alarm_kinds() {
  std::vector<AlarmKind> all;
  for (const auto& word : kKinds) all.push_back(word.value);
  return all;
}

bool AlarmTerms::tells(AlarmKind kind) const { return std::ranges::find(on, kind) != on.end(); }

bool is_destination_name(std::string_view name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto is_inner = [&](char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= kMostDestinationBytes && is_plain(name.front()) && is_plain(name.back()) &&
         std::ranges::all_of(name, is_inner);
}

std::string key_of(const AlarmMessage& message) {
  std::string key = opening_key(message.sign.kind, message.first);
  if (message.number != 0) key += " " + std::to_string(message.number);
  // Where runs overlap, a period can make bad again what a later one has made good: that is closed a second time.
  if (message.sign.kind == AlarmKind::recovered) key += " " + rfc3339(message.sign.period);
  return key;
}

std::string notify_task_id(std::string_view identity, const AlarmMessage& message, std::string_view destination) {
  return task_id(identity, key_of(message), destination);
}

std::string opening_task_id(std::string_view identity, const AlarmMessage& message, std::string_view destination) {
  return task_id(identity, opening_key(message.opened_as, message.first), destination);
}

bool Alarm::is_quiet() const { return *this == Alarm{}; }

void note(Alarm& alarm, const AlarmTerms& terms, const AlarmSign& sign) {
  if (sign.kind == AlarmKind::recovered) return go_well(alarm, terms, sign);
  if (!terms.tells(sign.kind)) return;
  // A run that was late and then failed is one bad period.
  if (alarm.last != sign.period) {
    ++alarm.bad;
    alarm.last = sign.period;
  }
  if (!alarm.first) alarm.first = sign.period;
  if (!alarm.is_open) {
    // A late run that ends well would begin the count anew, so that the second in a row were never late.
    if (alarm.bad < terms.after && sign.kind != AlarmKind::late) return;
    alarm.is_open = true;
    alarm.kind = sign.kind;
    return owe(alarm, terms, sign, 0);
  }
  if (terms.repeat && sign.at - alarm.told_at >= *terms.repeat) owe(alarm, terms, sign, alarm.told);
}

void pay(Alarm& alarm, const std::vector<std::string>& keys) {
  std::erase_if(alarm.owed,
                [&](const AlarmMessage& message) { return std::ranges::find(keys, key_of(message)) != keys.end(); });
}

}  // namespace kron
