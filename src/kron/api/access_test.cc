#include "kron/api/access.h"

#include <gtest/gtest.h>

namespace kron::api {
namespace {

TEST(Access, RootAndTheDaemonsUserOperateAndAGroupDoesAsConfigured) {
  const Access closed{.own = 500};
  EXPECT_EQ(right_of({.uid = 0}, closed), Right::operate);
  EXPECT_EQ(right_of({.uid = 500}, closed), Right::operate);
  EXPECT_EQ(right_of({.uid = 501, .gid = 500}, closed), Right::none);
  const Access reading{.own = 500, .group = 70};
  EXPECT_EQ(right_of({.uid = 501, .gid = 70}, reading), Right::read) << "its own group";
  EXPECT_EQ(right_of({.uid = 501, .gid = 9, .groups = {8, 70}}, reading), Right::read) << "one of its groups";
  EXPECT_EQ(right_of({.uid = 501, .gid = 9, .groups = {8, 7}}, reading), Right::none);
  const Access operating{.own = 500, .group = 70, .of_group = Right::operate};
  EXPECT_EQ(right_of({.uid = 501, .gid = 70}, operating), Right::operate);
}

}  // namespace
}  // namespace kron::api
