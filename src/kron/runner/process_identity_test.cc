#include "kron/runner/process_identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kron::runner {
namespace {

const std::string kRest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n";

TEST(ProcessIdentity, TheStartTimeIsField22WhateverTheName) {
  for (const std::string name : {"(sh)", "(a b)", "(a) S 1 (b)", "())"}) {
    EXPECT_EQ(start_time_in("77 " + name + kRest), 4711U) << name;
  }
}

TEST(ProcessIdentity, TextThatIsNoStatHasNone) {
  for (const char* text :
       {"", "77", "77 (sh", "77 (sh) S 1 2", "77 (sh) a b c d e f g h i j k l m n o p q r s t u v"}) {
    EXPECT_EQ(start_time_in(text), std::nullopt) << text;
  }
}

TEST(ProcessIdentity, AProcessKeepsItsStartTime) {
  ASSERT_TRUE(start_time_of(::getpid()));
  EXPECT_EQ(start_time_of(::getpid()), start_time_of(::getpid()));
  EXPECT_LE(start_time_of(::getppid()), start_time_of(::getpid()));
  EXPECT_EQ(start_time_of(0), std::nullopt);
}

}  // namespace
}  // namespace kron::runner
