#include "kron/env/host_lookup.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace kron {
namespace {

TEST(HostLookup, AnAddressIsFoundWithoutAsking) {
  const auto v4 = look_up_host("127.0.0.1", 7, deadline_after(Nanoseconds(0)));
  ASSERT_TRUE(v4.has_value()) << v4.error().message;
  EXPECT_EQ(v4->front().get()->sa_family, AF_INET);
  const auto v6 = look_up_host("::1", 7, deadline_after(Nanoseconds(0)));
  ASSERT_TRUE(v6.has_value()) << v6.error().message;
  EXPECT_EQ(v6->front().get()->sa_family, AF_INET6);
}

TEST(HostLookup, ANameIsFound) {
  const auto found = look_up_host("localhost", 7, deadline_after(Seconds(60)));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_FALSE(found->empty());
}

TEST(HostLookup, WaitsNoLongerThanItMay) {
  const auto found = look_up_host("kron-test.invalid", 7, deadline_after(Nanoseconds(0)));
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Code::unreachable);
}

}  // namespace
}  // namespace kron
