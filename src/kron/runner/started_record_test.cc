#include "kron/runner/started_record.h"

#include <gtest/gtest.h>

namespace kron::runner {
namespace {

TEST(StartedRecord, NamesTheSessionAndWhenItBegan) {
  EXPECT_EQ(parse_started_record("kron-started 1\nsession=4711\ntick=123456\nend\n"), (Session{4711, 123456}));
  EXPECT_EQ(parse_started_record("kron-started 1\nsession=4711\ntick=1\ncgroup=/sys/fs/cgroup/a=b/kron-r1-3\nend\n"),
            (Session{4711, 1, "/sys/fs/cgroup/a=b/kron-r1-3"}));
  EXPECT_EQ(parse_started_record("kron-started 1\nsession=4711\nlater=known\ntick=1\nend\n"), (Session{4711, 1}));
}

TEST(StartedRecord, OneThatIsNotWholeNamesNone) {
  for (const char* text :
       {"", "kron-started 1\n", "kron-started 1\nsession=4711\ntick=1\n", "kron-started 1\nsession=4711\ntick=1\nen",
        "kron-started 2\nsession=4711\ntick=1\nend\n", "kron-started 1\nsession=x\ntick=1\nend\n",
        "kron-started 1\nsession=4711\ntick=-1\nend\n", "kron-started 1\nend\n"}) {
    EXPECT_EQ(parse_started_record(text), std::nullopt) << text;
  }
}

TEST(StartedRecord, NeverNamesWhatIsNoCommands) {
  for (const char* session : {"-1", "0", "1"}) {
    EXPECT_EQ(parse_started_record(std::string("kron-started 1\nsession=") + session + "\ntick=1\nend\n"), std::nullopt)
        << session;
  }
}

}  // namespace
}  // namespace kron::runner
