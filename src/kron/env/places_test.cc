#include "kron/env/places.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kron {
namespace {

TEST(Places, ThoseOfRootAreTheSystems) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  EXPECT_EQ(*default_config(), "/etc/krond.d");
  EXPECT_EQ(*default_state_directory(), "/var/lib/krond");
}

TEST(Places, TheSocketIsInTheStateDirectoryUnlessThatIsTheSystems) {
  EXPECT_EQ(default_socket("/var/lib/krond"), "/run/krond/krond.sock");
  EXPECT_EQ(default_socket("/home/a/.local/state/krond"), "/home/a/.local/state/krond/krond.sock");
}

TEST(Places, EachStateDirectoryHasAPlaceForCredentials) {
  const std::string one = default_credentials("/var/lib/a");
  EXPECT_EQ(one, default_credentials("/var/lib/a"));
  EXPECT_NE(one, default_credentials("/var/lib/b"));
  if (::geteuid() == 0) {
    EXPECT_EQ(default_credentials("/var/lib/krond"), "/run/krond-credentials");
    EXPECT_TRUE(one.starts_with("/run/krond-credentials-")) << one;
  }
}

TEST(Places, APathIsTakenFromTheDirectoryWeAreIn) {
  EXPECT_EQ(absolute_path("/a/../b"), "/b");
  EXPECT_TRUE(absolute_path("jobs").ends_with("/jobs"));
  EXPECT_TRUE(absolute_path("jobs").starts_with("/"));
}

TEST(Places, AUserIsShownTheSocketOfRootsKrondWhenItIsThere) {
  const auto there = [](const std::string& path) { return path == "/run/krond/krond.sock"; };
  const auto nowhere = [](const std::string&) { return false; };
  EXPECT_EQ(system_socket_instead_of("/home/a/krond.sock", 1000, there), "/run/krond/krond.sock");
  EXPECT_EQ(system_socket_instead_of("/home/a/krond.sock", 1000, nowhere), "");
  EXPECT_EQ(system_socket_instead_of("/run/krond/krond.sock", 1000, there), "");
  EXPECT_EQ(system_socket_instead_of("/root/krond.sock", 0, there), "");
}

}  // namespace
}  // namespace kron
