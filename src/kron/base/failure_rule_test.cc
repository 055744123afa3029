#include "kron/base/failure_rule.h"

#include <gtest/gtest.h>

namespace kron {
namespace {

ExitCodes codes(std::initializer_list<int> all) {
  ExitCodes set;
  for (const int code : all) set.add(code);
  return set;
}

TEST(FailureRule, WithoutOneEveryExitCodeButZeroIsAFailure) {
  EXPECT_FALSE(has_failed({0}, {}, {}));
  for (const int code : {1, 2, 126, 137, 255}) EXPECT_TRUE(has_failed({code}, {}, {})) << code;
  EXPECT_FALSE(has_failed({0, false, true}, {}, {})) << "what it wrote to standard error does not matter";
}

TEST(FailureRule, ExitCodesThatAreFineAreThoseNamedAndNoOthers) {
  const auto fine = codes({0, 2, 143});
  for (const int code : {0, 2, 143}) EXPECT_FALSE(has_failed({code}, {}, fine)) << code;
  for (const int code : {1, 3, 128, 255}) EXPECT_TRUE(has_failed({code}, FailsOn::exit_code, fine)) << code;
  EXPECT_TRUE(has_failed({0}, {}, codes({2})));
}

TEST(FailureRule, StandardErrorFailsARunWhateverItsExitCode) {
  EXPECT_TRUE(has_failed({0, false, true}, FailsOn::standard_error, {}));
  EXPECT_FALSE(has_failed({0, false, false}, FailsOn::standard_error, {}));
  EXPECT_TRUE(has_failed({1, false, false}, FailsOn::standard_error, {}));
  EXPECT_TRUE(has_failed({2, false, true}, FailsOn::standard_error, codes({2})));
}

TEST(FailureRule, WhatKronEndedOrCouldNotExecuteIsNoChoiceOfTheJobs) {
  for (const auto on : {FailsOn::exit_code, FailsOn::standard_error, FailsOn::nothing}) {
    EXPECT_TRUE(has_failed({143, true, false}, on, codes({0, 143})));
    EXPECT_FALSE(has_failed({0, true, false}, on, codes({0, 143})));
  }
  EXPECT_FALSE(has_failed({139, false, true}, FailsOn::nothing, {}));
}

TEST(FailureRule, ARecordThatSaysNothingGoesByTheExitCode) {
  EXPECT_TRUE(counts_as_failed({}, 1));
  EXPECT_FALSE(counts_as_failed({}, 0));
  EXPECT_TRUE(counts_as_failed(true, 0));
  EXPECT_FALSE(counts_as_failed(false, 1));
  for (const int code : {0, 1}) {
    for (const bool decided : {false, true}) {
      EXPECT_EQ(counts_as_failed(unlike_exit_code(decided, code), code), decided);
      EXPECT_EQ(unlike_exit_code(decided, code).has_value(), decided != (code != 0));
    }
  }
  EXPECT_EQ(unlike_exit_code(true, {}), std::nullopt);
}

TEST(ExitCodes, HoldEveryCodeAndNothingElse) {
  for (int code = 0; code <= 255; ++code) {
    const auto set = codes({code});
    for (int other = -1; other <= 256; ++other) EXPECT_EQ(set.has(other), other == code);
  }
  EXPECT_EQ(codes({-1, 256}), ExitCodes());
}

}  // namespace
}  // namespace kron
