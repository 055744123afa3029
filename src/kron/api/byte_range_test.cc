#include "kron/api/byte_range.h"

#include <gtest/gtest.h>

namespace kron::api {
namespace {

using Kind = ByteRange::Kind;

TEST(ByteRange, IsReadAsTheRfcHasIt) {
  struct Case {
    const char* header;
    ByteRange range;
  };
  for (const auto& [header, range] : {
           Case{"bytes=0-9", {Kind::part, 0, 10}},
           Case{"bytes=90-", {Kind::part, 90, 100}},
           Case{"bytes=-10", {Kind::part, 90, 100}},
           Case{"bytes=-1000", {Kind::part, 0, 100}},
           Case{"bytes=99-5000", {Kind::part, 99, 100}},
           Case{"bytes=0-99999999999999999999999999", {Kind::part, 0, 100}},
           Case{"bytes=100-", {Kind::none, 0, 0}},
           Case{"bytes=99999999999999999999999999-", {Kind::none, 0, 0}},
           Case{"bytes=-0", {Kind::none, 0, 0}},
           Case{"bytes=5-4", {Kind::whole, 0, 100}},
           Case{"bytes=0-1,4-5", {Kind::whole, 0, 100}},
           Case{"bytes=a-b", {Kind::whole, 0, 100}},
           Case{"bytes=-", {Kind::whole, 0, 100}},
           Case{"bytes=+1-2", {Kind::whole, 0, 100}},
           Case{"lines=0-9", {Kind::whole, 0, 100}},
       }) {
    EXPECT_EQ(byte_range(header, 100), range) << header;
  }
  EXPECT_EQ(byte_range(std::nullopt, 100), (ByteRange{Kind::whole, 0, 100}));
  EXPECT_EQ(byte_range("bytes=-5", 0).kind, Kind::none);
}

}  // namespace
}  // namespace kron::api
