#include <gtest/gtest.h>

#include "kron/queue/queue_rig.h"

// How long a lease lasts when the daemon restarts, the machine does, or the file of renewals is damaged.
namespace kron::testing {
namespace {

class LeaseDeadlines : public ::testing::Test {
 protected:
  LeaseDeadlines() {
    NewTask task = task_named("a");
    task.retry.backoff = Seconds(0);
    rig.submit(task);
    lease = rig.lease_one("lost");
  }

  // Restarts again and again, half a second apart, and says after how many seconds the task was leased to another.
  int seconds_until_leased_again(int most = 200) {
    for (int half_seconds = 0; half_seconds < 2 * most; ++half_seconds) {
      rig.restart();
      EXPECT_TRUE(rig.queue().expire());
      if (!rig.lease({.worker = "next"}).empty()) return half_seconds / 2;
      rig.clock.advance(std::chrono::milliseconds(500));
    }
    return most;
  }

  FileRig rig;
  Lease lease;
};

TEST_F(LeaseDeadlines, RestartsWithinOneBootDoNotProlongALease) {
  EXPECT_EQ(seconds_until_leased_again(), 60);
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::lease_lost);
}

TEST_F(LeaseDeadlines, ARenewalIsKeptOverARestart) {
  rig.clock.advance(Seconds(50));
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  rig.restart();
  rig.clock.advance(Seconds(59));
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  rig.clock.advance(Seconds(20));
  EXPECT_EQ(seconds_until_leased_again(), 40);
}

TEST_F(LeaseDeadlines, ALeaseThatRanOutWhileNobodyWasThereIsLost) {
  rig.clock.advance(Seconds(61));
  rig.restart();
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::lease_lost);
  EXPECT_EQ(rig.lease_one("next").attempt, 2);
}

TEST_F(LeaseDeadlines, AReBootGivesOneFullTermHoweverOftenTheDaemonRestartsAfterIt) {
  rig.clock.advance(Seconds(50));
  rig.clock.reboot(Seconds(10));
  EXPECT_EQ(seconds_until_leased_again(), 60);
}

TEST_F(LeaseDeadlines, WithoutTheFileOfRenewalsALeaseLastsAsLongAsItWasGranted) {
  rig.clock.advance(Seconds(50));
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  ASSERT_EQ(rig.names("").size(), 6U) << "effects, lock, renewals, staging, tasks, tokens.json";
  ASSERT_TRUE(rig.disk.open_directory("/data").value()->remove("renewals"));
  rig.clock.advance(Seconds(5));
  EXPECT_EQ(seconds_until_leased_again(), 5);
}

TEST_F(LeaseDeadlines, WhatIsNoRenewalIsPassedOver) {
  rig.clock.advance(Seconds(30));
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  const std::string good = rig.contents("renewals");
  ASSERT_TRUE(rig.disk.open_directory("/data").value()->remove("renewals"));
  rig.disk.plant_file("/data/renewals", "\x01\n{\"exec_id\":\"a.1\"}\nnonsense\n[1]\n" + good + R"({"exec_id":")" +
                                            lease.key.exec_id +
                                            R"(","boot_id":"boot-7",)"
                                            R"("deadline":99999999999999})"
                                            "\n"
                                            R"({"exec_id":")" +
                                            lease.key.exec_id + R"(","boot_id":"boo)");
  EXPECT_EQ(seconds_until_leased_again(), 60);
}

TEST_F(LeaseDeadlines, ADeadlineFurtherAwayThanATermIsNotBelieved) {
  rig.disk.plant_file("/data/renewals", R"({"exec_id":")" + lease.key.exec_id +
                                            R"(","boot_id":"boot-1","deadline":9000000000000000})"
                                            "\n");
  EXPECT_EQ(seconds_until_leased_again(), 60);
}

TEST_F(LeaseDeadlines, AFullDiskRefusesNoRenewalAndIsSaidOnce) {
  rig.disk.fail_when([](const CallRecord& call) {
    const bool needs_room = call.call == Call::create || call.call == Call::write;
    return needs_room ? Fault::no_space : Fault::none;
  });
  for (int i = 0; i < 3; ++i) {
    rig.clock.advance(Seconds(30));
    EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  }
  EXPECT_EQ(rig.log.lines_of("queue.renewals_not_noted").size(), 1U);
  rig.disk.fail_when(nullptr);
  rig.clock.advance(Seconds(30));
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  EXPECT_EQ(seconds_until_leased_again(), 60);
}

TEST_F(LeaseDeadlines, RenewalsAreNotSynced) {
  const std::uint64_t before = rig.queue().syncs();
  const auto syncs = [&] {
    std::size_t count = 0;
    for (const CallRecord& call : rig.disk.calls()) {
      count += call.call == Call::sync_file || call.call == Call::sync_directory ? 1 : 0;
    }
    return count;
  };
  const std::size_t calls = syncs();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  EXPECT_EQ(rig.queue().syncs(), before);
  EXPECT_EQ(syncs(), calls);
}

// Somebody renews for days; the file holds what is needed and not what has been.
TEST_F(LeaseDeadlines, TheFileOfRenewalsStaysSmall) {
  for (int i = 0; i < 20'000; ++i) {
    rig.clock.advance(Seconds(1));
    ASSERT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  }
  EXPECT_LT(rig.contents("renewals").size(), 256U << 10);
  EXPECT_EQ(seconds_until_leased_again(), 60);
}

}  // namespace
}  // namespace kron::testing
