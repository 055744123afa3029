// Versions that never were, to see that one that comes is a function in a list.
#include "kron/state/migrate.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"

namespace kron::migrate_test {
namespace {

using state::Migration;

// "0.1" called the last period Last, …
Result<Node::Map> name_the_last_period(Node::Map members) {
  for (Node::Member& member : members) {
    if (member.key == "Last") member.key = "LastHandledPeriodID";
  }
  return members;
}

// … and "0.2" had its exit codes in a list of their own.
Result<Node::Map> join_history(Node::Map members) {
  const auto codes = std::ranges::find(members, "Codes", &Node::Member::key);
  if (codes == members.end()) return members;
  const auto* list = codes->value.as<Node::List>();
  if (list == nullptr) return fail(Code::invalid, "'Codes' must be a list", "Codes");
  Node::List history;
  for (const Node& code : *list) {
    history.emplace_back(Node::Map{{"CompletedAt", {}, Node(std::string("2026-03-01T00:00:09Z"))},
                                   {"Outcome", {}, Node(std::string("executed"))},
                                   {"ExitCode", {}, code}});
  }
  *codes = {"History", {}, Node(std::move(history))};
  return members;
}

constexpr std::array kOlder{Migration{.from = "0.1", .to = "0.2", .record = name_the_last_period},
                            Migration{.from = "0.2", .to = "1", .record = join_history}};

constexpr std::string_view kOldest =
    R"({"Version":"0.1","Identity":"a","Last":"2026-03-01T00:00:00Z","Codes":[0,3],"Kept":{"x":[1,2.5]}})";

TEST(Migrate, ARecordOfAnOlderVersionIsReadThroughEveryStep) {
  const StateRecord record = state::parse(kOldest, kOlder).value();
  EXPECT_EQ(record.periods.last_handled, parse_rfc3339("2026-03-01T00:00:00Z").value());
  ASSERT_EQ(record.history.size(), 2U);
  EXPECT_EQ(record.history[1].exit_code, 3);
  EXPECT_EQ(record.unknown_members, R"(,"Kept":{"x":[1,2.5]})");
}

TEST(Migrate, ARecordStartsAtItsOwnVersion) {
  const auto record = state::parse(R"({"Codes":[7],"Identity":"a","Last":"","Version":"0.2"})", kOlder);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->periods.last_handled, std::nullopt);
  EXPECT_EQ(record->history.at(0).exit_code, 7);
  EXPECT_EQ(record->unknown_members, R"(,"Last":"")") << "which was a word of 0.1 alone";
}

TEST(Migrate, WhatIsWrittenNextIsOfThePresentVersion) {
  const StateRecord record = state::parse(kOldest, kOlder).value();
  const std::string text = state::print(record);
  EXPECT_TRUE(text.starts_with(R"({"Version":"1",)")) << text;
  EXPECT_EQ(state::parse(text, {}).value(), record);
}

TEST(Migrate, ThePresentVersionTakesNoStep) {
  constexpr std::array kRefusesAll{Migration{.from = "0", .to = "1", .record = [](Node::Map) -> Result<Node::Map> {
                                               return fail(Code::internal, "it was asked");
                                             }}};
  EXPECT_TRUE(state::parse(R"({"Version":"1","Identity":"a"})", kRefusesAll));
  EXPECT_EQ(state::parse(R"({"Version":"0","Identity":"a"})", kRefusesAll).error().message, "it was asked");
}

TEST(Migrate, AVersionWithoutAWayToThePresentIsRefusedByName) {
  constexpr std::array kGap{Migration{.from = "0.1", .to = "0.2"}};
  for (const std::string_view version : {"2", "0.1", ""}) {
    const std::string text = R"({"Version":")" + std::string(version) + R"(","Identity":"a"})";
    const auto record = state::parse(text, kGap);
    ASSERT_FALSE(record) << version;
    EXPECT_EQ(record.error().code, Code::refused) << version;
    EXPECT_EQ(record.error().field, "Version");
    EXPECT_NE(record.error().message.find("'" + std::string(version) + "'"), std::string::npos);
    EXPECT_NE(record.error().message.find(R"((it knows "1", "0.1"))"), std::string::npos) << record.error().message;
  }
}

TEST(Migrate, AnOlderRecordThatIsDamagedIsSetAsideLikeAnyOther) {
  for (const std::string_view text :
       {R"({"Version":"0.1","Identity":"a","Codes":"none"})", R"({"Version":"0.1","Identity":"a","Last":"yesterday"})",
        R"({"Version":"0.1"})", R"({"Version":"0.1","Identity":"a","Identity":"b"})",
        R"({"Version":"0.1","Identity":"a","x":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]})"}) {
    const auto record = state::parse(text, kOlder);
    ASSERT_FALSE(record) << text;
    EXPECT_EQ(record.error().code, Code::invalid) << text;
  }
}

TEST(Migrate, AKindOfFileThatAVersionDidNotChangeStaysAsItIs) {
  const Node document = parse_json(R"({"Version":"0.1","FirstSeen":[{"At":"2026-03-01T00:00:00Z"}]})").value();
  const Node migrated = state::migrate(document, &Migration::first_seen, kOlder).value();
  EXPECT_EQ(JsonWriter().node(migrated).take(), R"({"Version":"1","FirstSeen":[{"At":"2026-03-01T00:00:00Z"}]})");
}

TEST(Migrate, EveryVersionOfTheProgramLeadsToThePresentOne) {
  for (const Migration& migration : state::migrations()) {
    Node::Map members;
    members.push_back({"Version", {}, Node(std::string(migration.from))});
    const auto migrated = state::migrate(Node(std::move(members)), &Migration::recorded);
    EXPECT_TRUE(migrated || migrated.error().code != Code::refused) << migration.from;
  }
}

}  // namespace
}  // namespace kron::migrate_test
