#include "kron/cluster/output_shipper.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/cluster/fake/scripted_link.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/json/document.h"
#include "kron/testing/temporary_directory.h"

namespace kron::cluster {
namespace {

using kron::testing::CapturingLog;
using kron::testing::FakeClock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OutputShipperTest : public ::testing::Test {
 protected:
  OutputShipperTest() { start(Dialect::seed); }

  void start(Dialect dialect, std::size_t chunk = 65'536) {
    shipper_.emplace(runs_, link_, Keys("{c}"), clock_, log_,
                     OutputShipper::Options{.runs_directory = directory_.path() + "/runs",
                                            .host = "vm",
                                            .instance = [] { return "vm#2"; },
                                            .dialect = dialect,
                                            .chunk = chunk});
  }

  void add(const std::string& run_id, std::uint64_t lines = 0, std::uint64_t bytes = 0) {
    ActiveRun run;
    run.claim.grant = {.run_id = run_id,
                       .job = "nightly",
                       .period = instant_of(990),
                       .start_time = "1000.250000",
                       .fence = 3,
                       .lock_key = "the-lock",
                       .ttl = Seconds(10),
                       .least_hold = std::chrono::milliseconds(250)};
    run.claim.lines_shipped = lines;
    run.claim.bytes_shipped = bytes;
    run.file = runs_.claims().create(run.claim, Seconds(1)).value();
    runs_.add(std::move(run));
  }
  void write(const std::string& run_id, std::string_view text) {
    std::filesystem::create_directories(directory_.path() + "/runs/" + run_id);
    std::ofstream(directory_.path() + "/runs/" + run_id + "/output", std::ios::app | std::ios::binary) << text;
  }
  void tick() {
    while (shipper_->tick() == Nanoseconds(0)) continue;
  }
  void look_again() {
    clock_.advance(Seconds(1));
    tick();
  }

  // push: EVALSHA sha 1 key lines_there ttl kind, then lines.
  static std::vector<std::string> pushed(const ScriptedLink::Posted& posted) {
    EXPECT_EQ(posted.script(), "push");
    return {posted.command.begin() + 7, posted.command.end()};
  }
  static std::string lines_there(const ScriptedLink::Posted& posted) { return posted.command.at(4); }
  void accept_push(const std::string& now_there) {
    link_.answer("ok", {ScriptedLink::text_value(now_there)});
    tick();
  }
  // end: EVALSHA sha 9 keys(9) and 14 arguments, then lines.
  static std::string argument(const ScriptedLink::Posted& end, std::size_t number) {
    EXPECT_EQ(end.script(), "end");
    return end.command.at(2 + 9 + number);
  }
  static std::vector<std::string> lines_in_end(const ScriptedLink::Posted& end) {
    return {end.command.begin() + 3 + 9 + 14, end.command.end()};
  }
  bool has_claim_file(const std::string& run_id) {
    return std::filesystem::exists(directory_.path() + "/claims/" + run_id);
  }

  kron::testing::TemporaryDirectory directory_;
  FakeClock clock_{instant_of(1000)};
  CapturingLog log_;
  ScriptedLink link_{clock_};
  ActiveRuns runs_{Claims::open(directory_.path()).value()};
  std::optional<OutputShipper> shipper_;
};

TEST_F(OutputShipperTest, MoreThanAChunkGoesInSeveralAndNothingIsDropped) {
  start(Dialect::seed, 16);
  add("r1");
  write("r1", "aaaaaaa\nbbbbbbb\nccccccc\nlonger than a chunk\n");
  look_again();
  EXPECT_THAT(pushed(link_.posted.at(0)), ElementsAre("aaaaaaa", "bbbbbbb"));
  accept_push("2");
  EXPECT_THAT(pushed(link_.posted.at(0)), ElementsAre("ccccccc"));
  accept_push("3");
  EXPECT_THAT(pushed(link_.posted.at(0)), ElementsAre("longer than a chunk"));
}

TEST_F(OutputShipperTest, WholeLinesGoWithinTheCadence) {
  add("r1");
  write("r1", "one\ntwo\nthr");
  look_again();
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(link_.posted[0].urgency, Link::Urgency::bulk);
  EXPECT_EQ(lines_there(link_.posted[0]), "0");
  EXPECT_THAT(pushed(link_.posted[0]), ElementsAre("one", "two"));
  write("r1", "ee\n");
  look_again();
  EXPECT_EQ(link_.posted.size(), 1U) << "the next when this is answered";
  accept_push("2");
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(lines_there(link_.posted[0]), "2");
  EXPECT_THAT(pushed(link_.posted[0]), ElementsAre("three"));
  accept_push("3");
  EXPECT_TRUE(link_.posted.empty());
  Claim claim;
  runs_.with("r1", [&](const ActiveRun& run) { claim = run.claim; });
  EXPECT_EQ(claim.lines_shipped, 3U);
  EXPECT_EQ(claim.bytes_shipped, 14U);
  EXPECT_EQ(runs_.claims().read_all()->at(0).claim, claim) << "and the file says so";
}

TEST_F(OutputShipperTest, CronkensListHasLinesWithTheirNewline) {
  start(Dialect::cronken);
  add("r1");
  write("r1", "one\n\ntwo");
  runs_.end({"r1", 0, ""}, true);
  tick();
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(argument(link_.posted[0], 13), "list");
  EXPECT_THAT(lines_in_end(link_.posted[0]), ElementsAre("one\n", "\n", "two"));
}

TEST_F(OutputShipperTest, TheEndCarriesTheLastLinesAndTheClaimGoesWhenItIsAnswered) {
  add("r1");
  write("r1", "one\ntwo");
  RunExit exit{"r1", 143, "terminated"};
  exit.signal = 15;
  runs_.end(exit, true);
  tick();
  ASSERT_EQ(link_.posted.size(), 1U);
  const ScriptedLink::Posted& end = link_.posted[0];
  EXPECT_EQ(end.urgency, Link::Urgency::urgent);
  EXPECT_TRUE(end.names("{c}:results:nightly:fail"));
  EXPECT_TRUE(end.names("the-lock"));
  EXPECT_EQ(argument(end, 1), "r1");
  EXPECT_EQ(argument(end, 2), "1000.250000");
  EXPECT_EQ(argument(end, 3),
            R"({"job_name":"nightly","start_time":"1000.250000","host":"vm","status":"fail","retcode":-15,)"
            R"("output":"one\ntwo","duration":)");
  EXPECT_EQ(argument(end, 8), "250");
  EXPECT_THAT(lines_in_end(end), ElementsAre("one", "two"));
  const Node outcome = parse_json(argument(end, 10)).value();
  EXPECT_EQ(*outcome.find("host")->as<std::string>(), "vm#2");
  EXPECT_EQ(*outcome.find("state")->as<std::string>(), "ended");
  EXPECT_EQ(*outcome.find("exitCode")->as<std::int64_t>(), 143);
  EXPECT_EQ(*outcome.find("detail")->as<std::string>(), "terminated");
  EXPECT_TRUE(has_claim_file("r1"));
  look_again();
  EXPECT_EQ(link_.posted.size(), 1U);
  link_.answer("ended");
  tick();
  EXPECT_FALSE(has_claim_file("r1"));
  EXPECT_EQ(runs_.size(), 0U);
}

TEST_F(OutputShipperTest, AnEndThatIsAnsweredOverIsDoneToo) {
  add("r1");
  runs_.end({"r1", 0, ""}, true);
  tick();
  link_.answer("over");
  tick();
  EXPECT_FALSE(has_claim_file("r1"));
  EXPECT_EQ(log_.lines_of("run_was_over").size(), 1U);
}

TEST_F(OutputShipperTest, AllOutputGoesBeforeTheEndAndInPieces) {
  add("r1");
  std::string text;
  for (int i = 0; i < 1100; ++i) text += std::to_string(i) + "\n";
  write("r1", text);
  runs_.end({"r1", 0, ""}, true);
  tick();
  EXPECT_EQ(pushed(link_.posted.at(0)).size(), 500U);
  accept_push("500");
  EXPECT_EQ(pushed(link_.posted.at(0)).size(), 500U);
  accept_push("1000");
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(lines_in_end(link_.posted[0]).size(), 100U) << "so many ride in the end";
  EXPECT_EQ(argument(link_.posted[0], 14), "1000");
  EXPECT_NE(argument(link_.posted[0], 3).find(R"("output":"1090\n1091\n)"), std::string::npos);
}

TEST_F(OutputShipperTest, AChunkIsAtMost64KiB) {
  add("r1");
  const std::string line(20'000, 'x');
  write("r1", line + "\n" + line + "\n" + line + "\n" + line + "\n" + std::string(100'000, 'y') + "\n");
  look_again();
  EXPECT_EQ(pushed(link_.posted.at(0)).size(), 3U);
  accept_push("3");
  EXPECT_EQ(pushed(link_.posted.at(0)).size(), 1U);
  accept_push("4");
  EXPECT_EQ(pushed(link_.posted.at(0)).at(0).size(), 65'536U) << "a longer line comes in pieces";
  accept_push("5");
  EXPECT_EQ(pushed(link_.posted.at(0)).at(0).size(), 34'464U);
}

TEST_F(OutputShipperTest, AGapSendsTheSameLinesWithTheNumberThatIsThere) {
  add("r1", 7, 4);
  write("r1", "old\nnew\n");
  look_again();
  EXPECT_EQ(lines_there(link_.posted.at(0)), "7");
  EXPECT_THAT(pushed(link_.posted[0]), ElementsAre("new"));
  link_.answer("gap", {ScriptedLink::text_value("0")});
  tick();
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(lines_there(link_.posted[0]), "0");
  EXPECT_THAT(pushed(link_.posted[0]), ElementsAre("new"));
}

TEST_F(OutputShipperTest, AfterARestartItGoesOnWhereTheClaimSays) {
  add("r1", 2, 8);
  write("r1", "one\ntwo\nthree\n");
  runs_.end({"r1", 0, ""}, false);
  tick();
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(argument(link_.posted[0], 14), "2");
  EXPECT_THAT(lines_in_end(link_.posted[0]), ElementsAre("three"));
  EXPECT_NE(argument(link_.posted[0], 3).find(R"("output":"one\ntwo\nthree\n")"), std::string::npos);
}

TEST_F(OutputShipperTest, WhatRedisRefusesIsSentAgainLater) {
  add("r1");
  write("r1", "one\n");
  look_again();
  link_.answer(RedisReply{RedisReply::How::error, {}, "OOM command not allowed"});
  tick();
  EXPECT_TRUE(link_.posted.empty());
  look_again();
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_THAT(pushed(link_.posted[0]), ElementsAre("one"));
  EXPECT_EQ(log_.lines_of("output_refused").size(), 1U);
}

TEST_F(OutputShipperTest, ARunEndsEvenIfItsOutputIsRefused) {
  add("r1");
  std::string text;
  for (int i = 0; i < 200; ++i) text += "line\n";
  write("r1", text);
  runs_.end({"r1", 0, ""}, true);
  tick();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(link_.posted.size(), 1U);
    EXPECT_EQ(link_.posted[0].script(), "push");
    link_.answer(RedisReply{RedisReply::How::error, {}, "WRONGTYPE"});
    for (int second = 0; second < 10; ++second) look_again();
  }
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(link_.posted[0].script(), "end");
  EXPECT_THAT(lines_in_end(link_.posted[0]), IsEmpty());
  link_.answer(RedisReply{RedisReply::How::error, {}, "WRONGTYPE"});
  tick();
  EXPECT_TRUE(has_claim_file("r1"));
  for (int second = 0; second < 40; ++second) look_again();
  EXPECT_EQ(link_.posted.size(), 1U) << "an end is repeated until it is answered";
}

TEST_F(OutputShipperTest, WhenTheLinkEndsTheClaimStays) {
  add("r1");
  runs_.end({"r1", 0, ""}, true);
  tick();
  link_.answer(RedisReply{RedisReply::How::lost, {}, "the link has ended"});
  for (int second = 0; second < 40; ++second) look_again();
  EXPECT_TRUE(link_.posted.empty());
  EXPECT_TRUE(has_claim_file("r1"));
}

TEST_F(OutputShipperTest, WhileRedisIsAwayLittleIsHeldAndEndsDoNotWaitForOutput) {
  for (int i = 0; i < 100; ++i) {
    const std::string run_id = "busy" + std::to_string(i);
    add(run_id);
    write(run_id, std::string(60'000, 'x') + "\n");
  }
  look_again();
  std::size_t bytes = 0;
  for (const ScriptedLink::Posted& posted : link_.posted) bytes += posted.command.back().size();
  EXPECT_GT(bytes, 1'000'000U);
  EXPECT_LT(bytes, 1'200'000U);
  const std::size_t before = link_.posted.size();
  for (int second = 0; second < 5; ++second) look_again();
  EXPECT_EQ(link_.posted.size(), before);
  add("over");
  runs_.end({"over", 0, ""}, true);
  tick();
  ASSERT_EQ(link_.posted.size(), before + 1);
  EXPECT_EQ(link_.posted.back().script(), "end");
  // And when it answers, all of it comes.
  std::size_t answered = 0;
  while (!link_.posted.empty() && answered < 1000) {
    ++answered;
    if (link_.posted[0].script() == "end") {
      link_.answer("ended");
      tick();
    } else {
      accept_push("1");
    }
  }
  EXPECT_EQ(answered, 101U);
}

TEST_F(OutputShipperTest, ThousandsOfEndsGoInOneStepEach) {
  for (int i = 0; i < 1000; ++i) {
    add("r" + std::to_string(i));
    runs_.end({"r" + std::to_string(i), 0, ""}, true);
  }
  tick();
  EXPECT_EQ(link_.posted.size(), 1000U);
  while (!link_.posted.empty()) link_.answer("ended");
  tick();
  EXPECT_EQ(runs_.size(), 0U);
}

}  // namespace
}  // namespace kron::cluster
