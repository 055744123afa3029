#include "kron/ledger/record_facts.h"

#include <gtest/gtest.h>

#include "kron/env/fake/power_cut_file_system.h"
#include "kron/state/names.h"

namespace kron {
namespace {

class RecordFactsTest : public ::testing::Test {
 protected:
  RecordFactsTest() {
    files_.plant_directory("/state");
    directory_ = files_.open_directory("/state").value();
  }
  RecordFacts facts_of(const std::string& text) {
    static_cast<void>(directory_->remove(state_file_name(hash_)));
    files_.plant_file("/state/" + state_file_name(hash_), text);
    return look_at_record(*directory_, hash_).value();
  }

  const Sha256 hash_ = sha256({"a \"b\""});
  testing::PowerCutFileSystem files_;
  std::unique_ptr<Directory> directory_;
};

TEST_F(RecordFactsTest, ARecordThatIsThereIsRead) {
  EXPECT_EQ(look_at_record(*directory_, hash_).error().code, Code::not_found);
  const RecordFacts facts = facts_of(R"({"Version":"1","Identity":"a \"b\"","LastHandledPeriodID":""})");
  EXPECT_EQ(facts.fault, RecordFault::none);
  EXPECT_EQ(facts.identity, "a \"b\"");
  EXPECT_TRUE(facts.record);
}

TEST_F(RecordFactsTest, WhatCannotBeUsedIsNamedAndToldWhy) {
  const std::string large = R"({"Version":"1","Identity":"a \"b\""})" + std::string(kMostRecordBytes, ' ');
  const struct {
    std::string text;
    RecordFault fault;
    const char* identity;
  } cases[] = {
      {"", RecordFault::damaged, ""},
      {R"({"Version":"1","Identity":"a \"b\"","LastHan)", RecordFault::damaged, "a \"b\""},
      {R"({"Version":"1","Identity":"a \")", RecordFault::damaged, ""},
      {R"({"Version":"1","Identity":"someone else"})", RecordFault::damaged, ""},
      {R"({"Version":"2","Identity" : 7, "Identity": "a \"b\""})", RecordFault::other_version, "a \"b\""},
      {large, RecordFault::too_large, "a \"b\""},
      {std::string(kMostRecordBytes + 1, ' '), RecordFault::too_large, ""},
  };
  for (const auto& one : cases) {
    const RecordFacts facts = facts_of(one.text);
    EXPECT_EQ(facts.fault, one.fault) << one.text.substr(0, 60);
    EXPECT_EQ(facts.identity, one.identity) << one.text.substr(0, 60);
    EXPECT_EQ(facts.bytes, one.text.size());
    EXPECT_FALSE(facts.reason.empty());
    EXPECT_FALSE(facts.record);
  }
}

}  // namespace
}  // namespace kron
