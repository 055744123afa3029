#include "kron/cluster/keys.h"

#include <gtest/gtest.h>

namespace kron::cluster {
namespace {

const Keys kKeys("{cronken}");

TEST(Keys, BeginWithTheNamespace) {
  EXPECT_EQ(kKeys.jobs(), "{cronken}:jobs");
  EXPECT_EQ(kKeys.output("4f"), "{cronken}:rundata:output:4f");
  EXPECT_EQ(kKeys.results("success"), "{cronken}:results:success");
  EXPECT_EQ(kKeys.results("nightly", "fail"), "{cronken}:results:nightly:fail");
  EXPECT_EQ(Keys("fleet").state(), "fleet:kron:state");
}

TEST(Keys, TheLockOfAJobIsTheSha1OfItsName) {
  EXPECT_EQ(kKeys.lock("sec"), "{cronken}:locks:920a25ef686c4f7ca6ad23dd109d3ad653161832");
}

TEST(Keys, LocksOfTheClusterItselfAreNotHashed) { EXPECT_EQ(kKeys.reaper_lock(), "{cronken}:locks:__reaper__"); }

}  // namespace
}  // namespace kron::cluster
