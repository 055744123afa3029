#include "web_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kron::cli {
namespace {

http::Listener::Identified anybody(const http::Request& head) { return head.principal; }

TEST(WebAddress, IsOnThisMachine) {
  EXPECT_EQ(loopback_port("127.0.0.1:9000").value(), 9000);
  EXPECT_EQ(loopback_port("[::1]:9000").value(), 9000);
  EXPECT_EQ(loopback_port("localhost:0").value(), 0);
  for (const char* address : {"0.0.0.0:8126", "[::]:8126", "example.org:80", "192.0.2.1:1", "*:8126"}) {
    const auto port = loopback_port(address);
    ASSERT_FALSE(port) << address;
    EXPECT_EQ(port.error().code, Code::refused) << address;
    EXPECT_THAT(port.error().message, ::testing::HasSubstr("ssh -L")) << address;
  }
  for (const char* address : {"", "8126", ":8126", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:70000"}) {
    const auto port = loopback_port(address);
    ASSERT_FALSE(port) << address;
    EXPECT_EQ(port.error().code, Code::invalid) << address;
  }
}

TEST(WebAddress, APortThatIsTakenIsAnErrorOrTheNextIsTaken) {
  const auto first = open_loopback(0, false, anybody);
  ASSERT_TRUE(first) << first.error().message;
  const auto again = open_loopback(first->port, false, anybody);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::conflict);
  EXPECT_THAT(again.error().message, ::testing::HasSubstr("a program of ")) << "who has it";
  const auto next = open_loopback(first->port, true, anybody);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->port, first->port);
}

// Who has half of a port could be taken for us.
TEST(WebAddress, APortOfWhichAnotherHasHalfIsTaken) {
  const auto half = http::TcpListener::open("[::1]:0", anybody);
  if (!half) GTEST_SKIP() << "no IPv6 here: " << half.error().message;
  const auto opened = open_loopback(half->port(), false, anybody);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::conflict);
}

TEST(WebAddress, WhoListensIsInTheTableOfTheKernel) {
  constexpr std::string_view kTable =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1FBE 0100007F:A0B2 01 00000000:00000000 00:00000000 00000000  1001        0 1 1 0 20 4 30 10 -1\n"
      "   1: 0100007F:1FBE 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 100 0 0 10 0\n";
  EXPECT_EQ(user_listening(kTable, 8126), 1000U);
  EXPECT_EQ(user_listening(kTable, 8127), std::nullopt);
  EXPECT_EQ(user_listening("", 8126), std::nullopt);
  EXPECT_EQ(user_listening("a b c 0A e f g h i\n", 8126), std::nullopt);
}

}  // namespace
}  // namespace kron::cli
