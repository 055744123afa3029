#include "kron/jobs/ping_url.h"

#include <gtest/gtest.h>

namespace kron::jobs {
namespace {

TEST(PingUrl, IsHttpsOrOfThisMachine) {
  for (const char* url :
       {"https://hc-ping.com/2f9aa1b4-1d6e-4c4f-9c55-9f3a1cf1a0aa", "https://checks.example.org:8443/ping/key/slug",
        "https://[2001:db8::1]/x", "http://127.0.0.1:8000/ping/x", "http://127.8.9.1/x", "http://localhost/x",
        "http://[::1]:80/x", "https://10.0.0.1/a%20b"}) {
    const Result<std::string> read = parse_ping_url(url);
    ASSERT_TRUE(read) << url << ": " << read.error().message;
    EXPECT_EQ(*read, url);
  }
}

TEST(PingUrl, SlashesAtItsEndAreLeftOut) {
  EXPECT_EQ(parse_ping_url("https://a.example/x//").value(), "https://a.example/x");
}

TEST(PingUrl, MessagesSayWhatIsWrongAndRepeatNothing) {
  struct Wrong {
    std::string url;
    std::string_view message;
  };
  for (const auto& [url, message] : std::vector<Wrong>{
           {"", "no URL of a check"},
           {"hunter2", "no URL of a check"},
           {"ftp://hunter2.example/x", "no URL of a check"},
           {"HTTPS://hunter2.example/x", "no URL of a check"},
           {"https://hunter2.example/a b", "no URL of a check"},
           {"https://hunter2.example/\xC3\xA4", "no URL of a check"},
           {"https://", "no host"},
           {"https:///hunter2", "no host"},
           {"https://[::hunter2]/x", "no host"},
           {"https://[::1/hunter2", "no host"},
           {"https://[/hunter2", "no host"},
           {"https://[]/hunter2", "no host"},
           {"https://hunter2%20/x", "no host"},
           {"https://" + std::string(254, 'h') + "/hunter2", "no host"},
           {"https://hunter2.example:/x", "no port"},
           {"https://hunter2.example:0/x", "no port"},
           {"https://hunter2.example:65536/x", "no port"},
           {"https://[::1]hunter2/x", "no port"},
           {"https://me:hunter2@h.example/x", "no password"},
           {"http://hc.example/hunter2", "in the clear"},
           {"http://128.0.0.1/hunter2", "in the clear"},
           {"http://127.0.0.1.example/hunter2", "in the clear"},
           {"http://[::2]/hunter2", "in the clear"},
           {"https://h.example/hunter2?x=1", "a ? or a #"},
           {"https://h.example?hunter2", "a ? or a #"},
           {"https://h.example/hunter2#x", "a ? or a #"},
           {"https://hunter2.example", "names no check"},
           {"https://hunter2.example//", "names no check"},
       }) {
    const Result<std::string> read = parse_ping_url(url);
    ASSERT_FALSE(read) << url;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_NE(read.error().message.find(message), std::string::npos) << url << ": " << read.error().message;
    EXPECT_EQ(read.error().message.find("hunter2"), std::string::npos) << read.error().message;
  }
}

TEST(PingUrl, IsNoLongerThanItMayBe) {
  const std::string longest = "https://h.example/" + std::string(kMostPingUrl - 18, 'x');
  EXPECT_TRUE(parse_ping_url(longest));
  EXPECT_FALSE(parse_ping_url(longest + "x"));
}

TEST(PingUrl, OnlyItsSchemeAndHostAreShown) {
  EXPECT_EQ(place_of_url("https://hc-ping.com/hunter2"), "https://hc-ping.com");
  EXPECT_EQ(place_of_url("http://[::1]:80/hunter2"), "http://[::1]:80");
  EXPECT_EQ(place_of_url("https://h.example?hunter2"), "https://h.example");
  EXPECT_EQ(place_of_url("hunter2"), "");
}

}  // namespace
}  // namespace kron::jobs
