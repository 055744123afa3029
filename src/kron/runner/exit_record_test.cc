#include "kron/runner/exit_record.h"

#include <gtest/gtest.h>

#include "kron/runner/exec/exit_writer.h"
#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner {
namespace {

std::string record(const std::string& pairs) { return "kron-exit 1\nrun=r1\n" + pairs + "end\n"; }

TEST(ExitRecord, TellsHowARunEnded) {
  const std::optional<RunExit> exit =
      parse_exit_record(record("code=137\nsignal=9\nreason=timed out after 2s\nstarted=1700000000.000000001\n"
                               "ended=1700000002.999999999\noutput=12345\nlost=0\nlater=unknown\n"),
                        "r1");
  ASSERT_TRUE(exit);
  EXPECT_EQ(*exit, (RunExit{"r1", 137, "timed out after 2s", false, instant_of(1700000002), 12345, 9,
                            WallTime(instant_of(1700000000)) + Nanoseconds(1), Nanoseconds(2'999'999'998)}));
}

TEST(ExitRecord, TheOrderOfItsLinesDoesNotMatterForHowLongItTook) {
  const auto took = [](const std::string& pairs) { return parse_exit_record(record("code=0\n" + pairs), "r1")->took; };
  EXPECT_EQ(took("ended=12.5\nstarted=10.25\n"), std::chrono::milliseconds(2250));
  EXPECT_EQ(took("started=10\nended=10\n"), Nanoseconds(0));
  EXPECT_EQ(took("ended=12.5\n"), std::nullopt);
  EXPECT_EQ(took("started=10.0\n"), std::nullopt);
  EXPECT_EQ(took("started=10.0\nended=9.9\n"), std::nullopt) << "the clock was set back";
}

TEST(ExitRecord, TellsHowManyAttemptsThereWere) {
  EXPECT_EQ(parse_exit_record(record("code=0\nattempts=4\n"), "r1")->attempts, 4U);
  EXPECT_EQ(parse_exit_record(record("code=0\n"), "r1")->attempts, 1U) << "as records of earlier programs";
  EXPECT_FALSE(parse_exit_record(record("code=0\nattempts=0\n"), "r1"));
  EXPECT_FALSE(parse_exit_record(record("code=0\nattempts=many\n"), "r1"));
}

TEST(ExitRecord, TellsWhatWasDecidedOfTheEnd) {
  EXPECT_EQ(parse_exit_record(record("code=0\nfailed=yes\n"), "r1")->failed, true);
  EXPECT_EQ(parse_exit_record(record("code=2\nfailed=no\n"), "r1")->failed, false);
  EXPECT_EQ(parse_exit_record(record("code=2\n"), "r1")->failed, std::nullopt) << "as records of earlier programs";
  EXPECT_FALSE(parse_exit_record(record("code=2\nfailed=maybe\n"), "r1"));
}

TEST(ExitRecord, TellsWhatTheRunUsed) {
  const std::string used = "user_us=1250000\nsystem_us=20\nmemory=4096\nread=512\nwritten=1024\n";
  EXPECT_EQ(parse_exit_record(record("code=0\n" + used), "r1")->used,
            (RunUsage{std::chrono::microseconds(1'250'000), std::chrono::microseconds(20), 4096, 512, 1024}));
  EXPECT_EQ(parse_exit_record(record("code=0\n"), "r1")->used, std::nullopt) << "as records of earlier programs";
  for (const char* wrong : {"user_us=-1\n", "system_us=x\n", "memory=-5\n", "read=1k\n", "written=\n"}) {
    EXPECT_FALSE(parse_exit_record(record("code=0\n" + std::string(wrong)), "r1")) << wrong;
  }
}

TEST(ExitRecord, WithoutACodeNothingHasRun) {
  const std::optional<RunExit> exit = parse_exit_record(record("reason=why\nended=1.0\noutput=0\n"), "r1");
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->never_ran);
  EXPECT_EQ(exit->code, std::nullopt);
}

TEST(ExitRecord, WhatIsNotWholeIsNoRecord) {
  const std::string whole = record("code=0\nended=1.0\n");
  ASSERT_TRUE(parse_exit_record(whole, "r1"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_exit_record(whole.substr(0, size), "r1")) << size;
  }
  for (const std::string& bad :
       {record("code=x\n"), record("code=1x\n"), record("code=99999999999\n"), record("ended=soon\n"),
        record("started=soon\n"), record("ended=1.x\n"), record("ended=1.-5\n"), record("output=-1\n"),
        record("signal=x\n"), record("signal=0\n"), record("no pair\n"),
        std::string("kron-exit 2\nrun=r1\ncode=0\nend\n"), std::string(5000, 'x')}) {
    EXPECT_FALSE(parse_exit_record(bad, "r1")) << bad;
  }
}

TEST(ExitRecord, OfAnotherRunIsNotOurs) { EXPECT_FALSE(parse_exit_record(record("code=0\n"), "r2")); }

TEST(ExitRecord, WhatKronExecWritesIsRead) {
  const TemporaryDirectory directory;
  const Descriptor opened(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  exec::RunDirectory run(opened.get(), "r1");
  exec::Ending ending;
  ending.code = 126;
  ending.ended = {1700000000, 5};
  ending.output_bytes = 7;
  ending.output_error = ENOSPC;
  std::snprintf(ending.reason, sizeof ending.reason, "cannot execute a\nb=\tc");
  ASSERT_TRUE(exec::write_exit(run, "r1", ending));
  const std::string text = contents(directory.file("r1/exit"));
  const std::optional<RunExit> exit = parse_exit_record(text, "r1");
  ASSERT_TRUE(exit) << text;
  EXPECT_EQ(*exit, (RunExit{"r1", 126, "cannot execute a?b=?c", false, instant_of(1700000000), 7}));
}

}  // namespace
}  // namespace kron::runner
