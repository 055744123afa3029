#include "kron/http/network.h"

#include <gtest/gtest.h>

namespace kron::http {
namespace {

TEST(NetworkOf, IsTheAddressOrTheNetworkOfIPv6) {
  EXPECT_EQ(network_of("10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_of("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_NE(network_of("2001:db8:1:3::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_of("::ffff:10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(network_of("fe80::1%eth0"), "fe80::/64");
  EXPECT_EQ(network_of("nonsense"), "nonsense");
}

}  // namespace
}  // namespace kron::http
