#include "kron/core/alarm.h"

#include <gtest/gtest.h>
#include <set>

#include "kron/base/rfc3339.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

constexpr Instant kFirst{Seconds(1'772'323'200)};
Instant period(int number) { return kFirst + std::chrono::hours(number); }

AlarmTerms terms(std::uint32_t after = 1) { return {.on = all_alarm_kinds(), .after = after, .to = {"ops"}}; }

// A row of outcomes, an hour apart: x failed, m missed, n no time, l late, + well.
AlarmSign sign(char letter, int number) {
  AlarmSign sign{.kind = AlarmKind::recovered, .period = period(number), .at = period(number) + Seconds(60)};
  if (letter == 'x') sign.kind = AlarmKind::failed;
  if (letter == 'm') sign.kind = AlarmKind::missed;
  if (letter == 'n') sign.kind = AlarmKind::unschedulable;
  if (letter == 'l') sign.kind = AlarmKind::late;
  return sign;
}

// What is told: the kind and the number of its first period, as "failed@2 recovered@2".
std::string told(std::string_view letters, const AlarmTerms& terms) {
  Alarm alarm;
  int number = 0;
  for (const char letter : letters) note(alarm, terms, sign(letter, number++));
  std::string text;
  for (const AlarmMessage& message : alarm.owed) {
    if (!text.empty()) text += ' ';
    text += std::string(name_of(message.sign.kind)) + "@" + std::to_string((message.first - kFirst).count() / 3600);
    if (message.number != 0) text += "#" + std::to_string(message.number);
  }
  return text;
}

TEST(Alarm, IsToldOfOnceWhenItOpensAndOnceWhenItCloses) {
  EXPECT_EQ(told("+++", terms()), "");
  EXPECT_EQ(told("x", terms()), "failed@0");
  EXPECT_EQ(told("+xxx", terms()), "failed@1");
  EXPECT_EQ(told("+xmn++", terms()), "failed@1 recovered@1");
  EXPECT_EQ(told("m+x+n", terms()), "missed@0 recovered@0 failed@2 recovered@2 unschedulable@4");
}

TEST(Alarm, OpensAfterSoManyInARow) {
  EXPECT_EQ(told("xx+xx+", terms(3)), "");
  EXPECT_EQ(told("xxx", terms(3)), "failed@0");
  EXPECT_EQ(told("x+xmx+", terms(3)), "failed@2 recovered@2");
  EXPECT_EQ(told("xxm", terms(3)), "missed@0") << "the kind is that of the one that opens it";
}

TEST(Alarm, WhatIsNotToldOfChangesNothing) {
  AlarmTerms failures{.on = {AlarmKind::failed, AlarmKind::recovered}, .after = 2, .to = {"ops"}};
  EXPECT_EQ(told("xmx+", failures), "failed@0 recovered@0");
  EXPECT_EQ(told("mmmm+", failures), "");
  failures.on = {AlarmKind::failed};
  EXPECT_EQ(told("xx+xx", failures), "failed@0 failed@3") << "recovered is not asked for";
}

TEST(Alarm, ALateRunOpensItAtOnceAndItsEndClosesIt) {
  Alarm alarm;
  note(alarm, terms(3), sign('l', 4));
  ASSERT_EQ(alarm.owed.size(), 1U);
  EXPECT_EQ(alarm.owed[0].sign.kind, AlarmKind::late);
  note(alarm, terms(3), sign('+', 4));
  ASSERT_EQ(alarm.owed.size(), 2U);
  EXPECT_EQ(alarm.owed[1].sign.kind, AlarmKind::recovered);
  EXPECT_EQ(alarm.owed[1].opened_as, AlarmKind::late);
}

TEST(Alarm, ARunThatIsLateAndThenFailsIsOneBadPeriod) {
  Alarm alarm;
  note(alarm, terms(), sign('l', 4));
  note(alarm, terms(), sign('x', 4));
  note(alarm, terms(), sign('x', 4));
  EXPECT_EQ(alarm.bad, 1U);
  EXPECT_EQ(alarm.owed.size(), 1U);
}

TEST(Alarm, IsRepeatedNoFasterThanWasSaid) {
  AlarmTerms often = terms();
  often.repeat = Seconds(3 * 3600);
  EXPECT_EQ(told("xxxxxxx+", often), "failed@0 failed@0#1 failed@0#2 recovered@0");
  often.repeat = Seconds(3 * 3600 + 1);
  EXPECT_EQ(told("xxxxxxx", often), "failed@0 failed@0#1");
}

TEST(Alarm, KeepsNoMoreMessagesThanItMay) {
  AlarmTerms often = terms();
  often.repeat = Seconds(0);
  Alarm alarm;
  for (int i = 0; i < static_cast<int>(kMostOwed); ++i) note(alarm, often, sign('x', i));
  EXPECT_EQ(alarm.owed.size(), kMostOwed);
  EXPECT_EQ(alarm.owed.front().number, 0U);
  note(alarm, often, sign('x', static_cast<int>(kMostOwed)));
  EXPECT_EQ(alarm.owed.size(), kMostOwed);
  EXPECT_EQ(alarm.owed.front().number, 1U);
}

TEST(Alarm, IsQuietOnlyWhenNothingIsBadAndNothingIsOwed) {
  Alarm alarm;
  EXPECT_TRUE(alarm.is_quiet());
  note(alarm, terms(2), sign('x', 0));
  EXPECT_FALSE(alarm.is_quiet());
  note(alarm, terms(2), sign('+', 1));
  EXPECT_TRUE(alarm.is_quiet());
  note(alarm, terms(), sign('x', 2));
  note(alarm, terms(), sign('+', 3));
  EXPECT_FALSE(alarm.is_quiet());
  pay(alarm, {key_of(alarm.owed[0]), key_of(alarm.owed[1])});
  EXPECT_TRUE(alarm.is_quiet());
}

TEST(Alarm, TheTaskOfAMessageHasOneIdForEachDestination) {
  Alarm alarm;
  note(alarm, terms(), sign('x', 0));
  note(alarm, terms(), sign('+', 1));
  const AlarmMessage& opens = alarm.owed[0];
  const AlarmMessage& closes = alarm.owed[1];
  EXPECT_EQ(notify_task_id("a", opens, "ops"), notify_task_id("a", opens, "ops"));
  EXPECT_NE(notify_task_id("a", opens, "ops"), notify_task_id("a", opens, "me"));
  EXPECT_NE(notify_task_id("a", opens, "ops"), notify_task_id("b", opens, "ops"));
  EXPECT_NE(notify_task_id("a", opens, "ops"), notify_task_id("a", closes, "ops"));
  EXPECT_EQ(opening_task_id("a", closes, "ops"), notify_task_id("a", opens, "ops"));
  EXPECT_EQ(notify_task_id("a", opens, "ops"), "notify-" + notify_task_id("a", opens, "ops").substr(7));
  EXPECT_EQ(notify_task_id("a", opens, "ops").size(), 39U);
}

TEST(Alarm, NamesOfDestinations) {
  for (const char* good : {"ops", "a", "team-a.pager_2", "0"}) EXPECT_TRUE(is_destination_name(good)) << good;
  for (const char* bad : {"", "Ops", "-a", "a-", "a b", "a/b", "a+b", "é"})
    EXPECT_FALSE(is_destination_name(bad)) << bad;
  EXPECT_TRUE(is_destination_name(std::string(kMostDestinationBytes, 'a')));
  EXPECT_FALSE(is_destination_name(std::string(kMostDestinationBytes + 1, 'a')));
}

// What the words of the contract say, without any state: which messages a row of outcomes makes, looked at as a whole.
std::set<std::string> model(const std::string& letters, std::uint32_t after) {
  std::set<std::string> keys;
  std::size_t at = 0;
  while (at < letters.size()) {
    const std::size_t end = std::min(letters.find('+', at), letters.size());
    if (end - at >= after) {
      const char opens = letters[at + after - 1];
      const std::string first = rfc3339(period(static_cast<int>(at)));
      keys.insert(std::string(name_of(sign(opens, 0).kind)) + " " + first);
      if (end < letters.size()) keys.insert("recovered " + first + " " + rfc3339(period(static_cast<int>(end))));
    }
    at = end + 1;
  }
  return keys;
}

// The record is what is durable; whoever submits may die before and after each of his two steps, and begin anew from
// the record. Every message is in the queue once, whatever happened.
TEST(Alarm, EachMessageIsSubmittedWhateverDies) {
  testing::for_all(300, [](const std::vector<std::uint8_t>& draws, std::uint8_t drawn_after) {
    const std::uint32_t after = 1 + drawn_after % 3;
    const AlarmTerms all = terms(after);
    Alarm durable;
    std::set<std::string> queue;
    std::vector<AlarmMessage> in_memory;
    std::string letters;
    const auto submit_and_pay = [&](bool dies_between) {
      std::vector<std::string> keys;
      for (const AlarmMessage& message : in_memory) {
        queue.insert(key_of(message));
        keys.push_back(key_of(message));
      }
      in_memory.clear();
      if (!dies_between) pay(durable, keys);
    };
    for (const std::uint8_t draw : draws) {
      if (draw % 4 != 0) {
        constexpr std::string_view kLetters = "xxm++n";
        letters += kLetters[draw / 4 % kLetters.size()];
        const std::vector<AlarmMessage> before = durable.owed;
        note(durable, all, sign(letters.back(), static_cast<int>(letters.size()) - 1));
        in_memory.insert(in_memory.end(), durable.owed.begin() + static_cast<std::ptrdiff_t>(before.size()),
                         durable.owed.end());
      } else if (draw % 3 == 0) {
        in_memory = durable.owed;  // dies, and begins anew
      } else {
        submit_and_pay(draw % 3 == 1);
      }
    }
    in_memory = durable.owed;
    submit_and_pay(false);
    RC_ASSERT(durable.owed.empty());
    RC_ASSERT(queue == model(letters, after));
  });
}

}  // namespace
}  // namespace kron
