#include "kron/api/access.h"

#include <gtest/gtest.h>

namespace kron::api {
namespace {

TEST(Access, RootAndTheDaemonsUserAdministerAndAGroupDoesAsConfigured) {
  const Access closed{.own = 500};
  EXPECT_EQ(right_of({.uid = 0}, closed), Right::own);
  EXPECT_EQ(right_of({.uid = 500}, closed), Right::own);
  EXPECT_EQ(right_of({.uid = 501, .gid = 500}, closed), Right::none);
  const Access reading{.own = 500, .group = 70};
  EXPECT_EQ(right_of({.uid = 501, .gid = 70}, reading), Right::read) << "its own group";
  EXPECT_EQ(right_of({.uid = 501, .gid = 9, .groups = {8, 70}}, reading), Right::read) << "one of its groups";
  EXPECT_EQ(right_of({.uid = 501, .gid = 9, .groups = {8, 7}}, reading), Right::none);
  const Access operating{.own = 500, .group = 70, .of_group = Right::operate};
  EXPECT_EQ(right_of({.uid = 501, .gid = 70}, operating), Right::operate);
  const Access all{.own = 500, .group = 70, .of_group = Right::admin};
  EXPECT_EQ(right_of({.uid = 501, .gid = 70}, all), Right::operate) << "no group administers";
}

TEST(Access, APrincipalCarriesHisRightAndStrangersAreTurnedAway) {
  const Access access{.own = 500, .group = 70};
  const auto own = std::get<http::Principal>(principal_of({.uid = 500}, access));
  EXPECT_EQ(own, (http::Principal{.name = "uid 500", .permissions = own.permissions, .is_preferred = true}));
  EXPECT_EQ(right_of(own), Right::own);
  const auto reader = std::get<http::Principal>(principal_of({.uid = 501, .gid = 70}, access));
  EXPECT_EQ(right_of(reader), Right::read);
  EXPECT_FALSE(reader.is_preferred);
  const auto stranger = principal_of({.uid = 502, .gid = 9}, access);
  EXPECT_EQ(std::get<http::Response>(stranger).status, 403);
  EXPECT_EQ(right_of(http::Principal{}), Right::none);
}

}  // namespace
}  // namespace kron::api
