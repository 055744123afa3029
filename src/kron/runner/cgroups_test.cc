#include "kron/runner/cgroups.h"

#include <gtest/gtest.h>

namespace kron::runner {
namespace {

constexpr char kUnified[] =
    "22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kHybrid[] =
    "30 22 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "32 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(Cgroups, OursIsFoundFromItsPathAndTheMountTable) {
  EXPECT_EQ(cgroup_directory("0::/system.slice/krond.service\n", kUnified),
            "/sys/fs/cgroup/system.slice/krond.service");
  EXPECT_EQ(cgroup_directory("9:name=systemd:/a\n4:memory:/b\n0::/c\n", kHybrid), "/sys/fs/cgroup/unified/c");
  EXPECT_EQ(cgroup_directory("0::/\n", kHybrid), "/sys/fs/cgroup/unified");
}

TEST(Cgroups, AMountMayShowAPartOnly) {
  constexpr char kPart[] = "30 22 0:26 /docker/4711 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cgroup_directory("0::/docker/4711/init\n", kPart), "/sys/fs/cgroup/init");
  EXPECT_EQ(cgroup_directory("0::/docker/4711\n", kPart), "/sys/fs/cgroup");
  EXPECT_EQ(cgroup_directory("0::/docker/47110\n", kPart), std::nullopt);
  EXPECT_EQ(cgroup_directory("0::/other\n", kPart), std::nullopt);
}

TEST(Cgroups, AMountPointMayHaveBlanks) {
  EXPECT_EQ(cgroup_directory("0::/x\n", "30 22 0:26 / /my\\040cgroups rw - cgroup2 none rw\n"), "/my cgroups/x");
}

TEST(Cgroups, ThereMayBeNone) {
  for (const char* cgroup : {"", "0::/x", "4:memory:/x\n", "0::/../x\n", "0::/x (deleted)\n"}) {
    EXPECT_EQ(cgroup_directory(cgroup, kUnified), std::nullopt) << cgroup;
  }
  for (const char* mounts : {"", "31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", " - cgroup2 \n"}) {
    EXPECT_EQ(cgroup_directory("0::/x\n", mounts), std::nullopt) << mounts;
  }
}

TEST(Cgroups, WhatIsNoCgroupIsUnknownAndStays) {
  DyingCgroup dying;
  EXPECT_EQ(end_cgroup("/nonexistent", dying), CgroupEnd::unknown);
  EXPECT_EQ(end_cgroup("/proc", dying), CgroupEnd::unknown);
  EXPECT_EQ(remove_empty_cgroups("/nonexistent"), 0U);
  EXPECT_EQ(remove_empty_cgroups(""), 0U);
}

TEST(Cgroups, ControllersAreFoundByTheirWholeNames) {
  EXPECT_EQ(controllers_in("cpuset cpu io memory hugetlb pids\n"), (Controllers{true, true, true}));
  EXPECT_EQ(controllers_in("cpuset memory_x ppids pidss\n"), Controllers{});
  EXPECT_EQ(controllers_in("cpuset cpu\n"), (Controllers{false, false, true}));
  EXPECT_EQ(controllers_in("memory"), (Controllers{true, false, false}));
  EXPECT_EQ(controllers_in(""), Controllers{});
}

TEST(Cgroups, WithoutADirectoryThereAreNoControllers) {
  EXPECT_EQ(enable_controllers(""), Controllers{});
  EXPECT_EQ(enable_controllers("/nonexistent"), Controllers{});
}

}  // namespace
}  // namespace kron::runner
