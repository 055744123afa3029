#include "kron/cluster/hosts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/cluster/redis_rig.h"
#include "kron/env/real_file_system.h"
#include "kron/testing/temporary_directory.h"

namespace kron::cluster {
namespace {

std::string owner_of(char digit) { return std::string(32, digit); }

// A krond's place in the cluster.
struct Member {
  Member(testing::RedisRig& rig_, char digit, const std::string& host = "vm", Dialect mode = Dialect::seed)
      : rig(rig_),
        link(rig.link_of_its_own()),
        hosts({.link = *link,
               .keys = rig.keys,
               .log = rig.log,
               .aside = rig.aside(),
               .present = [this] { return present; },
               .on_name = [this](const std::string& name) { names.push_back(name); }},
              {.host = host, .ip = "127.0.0.1", .owner = owner_of(digit), .version = "1.0", .mode = mode}) {}

  Nanoseconds tick() { return hosts.tick(rig.clock.monotonic()); }

  testing::RedisRig& rig;
  std::unique_ptr<testing::DirectLink> link;
  Hosts::Present present;
  std::vector<std::string> names;
  Hosts hosts;
};

TEST(Hosts, EntriesReadBack) {
  HostEntry entry{.owner = owner_of('a'),
                  .host = "vm \"1\"",
                  .ip = "::1",
                  .version = "1.2.3",
                  .mode = Dialect::cronken,
                  .clock_offset = -0.25,
                  .is_draining = true,
                  .runs = 7};
  const HostEntryText text = text_of(entry);
  entry.beat = 1800000000.25;
  const Result<HostEntry> read = parse_host_entry(text.head + "1800000000.250000" + text.tail);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, entry);
  EXPECT_TRUE(parse_host_entry("{}"));
  EXPECT_FALSE(parse_host_entry("[]"));
  EXPECT_FALSE(parse_host_entry("junk"));
}

TEST(Hosts, TheMemberOfInstancesIsCronkens) {
  EXPECT_EQ(instance_member("vm", "127.0.0.1"), R"({"host":"vm","ip":"127.0.0.1"})");
  EXPECT_EQ(parse_instance_member(R"({"ip":"1.2.3.4","host":"x"})")->ip, "1.2.3.4");
  EXPECT_FALSE(parse_instance_member("x"));
}

TEST(Hosts, AnOwnerIsMadeOnceAndKept) {
  const kron::testing::TemporaryDirectory directory;
  RealFileSystem file_system;
  const Result<std::string> made = cluster_owner(file_system, directory.path());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 32U);
  EXPECT_EQ(*cluster_owner(file_system, directory.path()), *made);
  struct stat info {};
  ASSERT_EQ(::stat(directory.file("cluster-owner").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  ASSERT_EQ(::truncate(directory.file("cluster-owner").c_str(), 5), 0);
  EXPECT_EQ(cluster_owner(file_system, directory.path()).error().code, Code::invalid);
}

TEST(Hosts, BeatAtOnceAndThenEveryThirtySeconds) {
  testing::RedisRig rig;
  Member member(rig, 'a');
  member.present = {.clock_offset = 0.5, .is_draining = false, .runs = 3};
  member.tick();
  EXPECT_EQ(member.names, std::vector<std::string>{"vm"});
  EXPECT_EQ(member.hosts.instance(), "vm");
  EXPECT_EQ(rig.texts({"ZRANGE", rig.keys.instances(), "0", "-1", "WITHSCORES"}),
            (std::vector<std::string>{R"({"host":"vm","ip":"127.0.0.1"})", "1800000000"}));
  const Nanoseconds next = member.tick();
  EXPECT_EQ(next, rig.clock.monotonic() + std::chrono::seconds(30));
  rig.clock.advance(std::chrono::seconds(30));
  member.present.is_draining = true;
  member.tick();
  const Result<HostEntry> entry = parse_host_entry(rig.text({"HGET", rig.keys.hosts(), "vm"}));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->beat, 1800000030);
  EXPECT_EQ(entry->runs, 3U);
  EXPECT_TRUE(entry->is_draining);
  EXPECT_TRUE(rig.log.lines().empty());
  EXPECT_EQ(member.names.size(), 1U);
}

TEST(Hosts, ADrainIsSeenAtOnce) {
  testing::RedisRig rig;
  Member member(rig, 'a');
  member.tick();
  rig.clock.advance(std::chrono::seconds(5));
  member.tick();
  EXPECT_FALSE(parse_host_entry(rig.text({"HGET", rig.keys.hosts(), "vm"}))->is_draining);
  member.present.is_draining = true;
  member.tick();
  EXPECT_TRUE(parse_host_entry(rig.text({"HGET", rig.keys.hosts(), "vm"}))->is_draining);
  EXPECT_EQ(member.tick(), rig.clock.monotonic() + std::chrono::seconds(30));
}

TEST(Hosts, ASecondKrondOfAHostNameGetsANameOfItsOwn) {
  testing::RedisRig rig;
  Member first(rig, 'a');
  Member second(rig, 'b');
  Member third(rig, 'c');
  for (Member* member : {&first, &second, &third}) member->tick();
  EXPECT_EQ(first.hosts.instance(), "vm");
  EXPECT_EQ(second.hosts.instance(), "vm#2");
  EXPECT_EQ(third.hosts.instance(), "vm#3");
  EXPECT_EQ(rig.log.lines_of("cluster_instance_name").size(), 2U);
  // The same state directory is the same owner, also after a crash.
  Member again(rig, 'b');
  again.tick();
  EXPECT_EQ(again.hosts.instance(), "vm#2");
  // A clean stop frees the name.
  first.hosts.leave(std::chrono::seconds(1));
  Member next(rig, 'd');
  next.tick();
  EXPECT_EQ(next.hosts.instance(), "vm");
}

TEST(Hosts, ANameIsFreeWhenItsOwnerHasBeenSilentAndItsOwnerNoticesThat) {
  testing::RedisRig rig;
  Member first(rig, 'a');
  first.tick();
  rig.clock.advance(std::chrono::seconds(46));
  Member second(rig, 'b');
  second.tick();
  EXPECT_EQ(second.hosts.instance(), "vm");
  first.tick();
  EXPECT_EQ(first.names, (std::vector<std::string>{"vm", "vm#2"}));
}

TEST(Hosts, ACleanStopLeavesNothing) {
  testing::RedisRig rig;
  Member member(rig, 'a');
  member.tick();
  member.hosts.leave(std::chrono::seconds(1));
  EXPECT_EQ(rig.ask({"HLEN", rig.keys.hosts()}).integer, 0);
  EXPECT_EQ(rig.ask({"ZCARD", rig.keys.instances()}).integer, 0);
}

TEST(Hosts, AForeignInstanceIsAnErrorAtEveryBeatInSeedMode) {
  testing::RedisRig rig;
  rig.ask({"ZADD", rig.keys.instances(), "1800000000", R"({"host":"old","ip":"10.0.0.1"})"});
  Member seed(rig, 'a');
  Member other(rig, 'b', "vm2");
  Member compatible(rig, 'c', "vm3", Dialect::cronken);
  compatible.tick();
  EXPECT_EQ(compatible.hosts.foreign(), std::vector<std::string>{"old (10.0.0.1)"});
  EXPECT_TRUE(rig.log.lines_of("cluster_foreign_instance").empty());
  other.tick();
  seed.tick();
  EXPECT_EQ(seed.hosts.foreign(), std::vector<std::string>{"old (10.0.0.1)"});
  rig.clock.advance(std::chrono::seconds(30));
  seed.tick();
  EXPECT_EQ(rig.log.lines_of("cluster_foreign_instance").size(), 3U);
}

TEST(Hosts, ABeatThatFailsIsTriedAgainSoon) {
  testing::RedisRig rig;
  Member member(rig, 'a');
  rig.redis.refuse_connections(Error{Code::unreachable, "nobody there"});
  member.tick();
  EXPECT_EQ(member.hosts.instance(), "");
  EXPECT_EQ(member.tick(), rig.clock.monotonic() + std::chrono::seconds(1));
  rig.redis.refuse_connections(std::nullopt);
  rig.clock.advance(std::chrono::seconds(1));
  member.tick();
  EXPECT_EQ(member.hosts.instance(), "vm");
}

}  // namespace
}  // namespace kron::cluster
