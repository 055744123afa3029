#include "kron/web/site.h"

#include <gtest/gtest.h>

namespace kron::web {
namespace {

TEST(PublicUrl, IsASchemeAndAHost) {
  EXPECT_EQ(parse_public_url("https://Kron.Example.org")->host, "kron.example.org");
  EXPECT_EQ(parse_public_url("https://kron.example.org:443/")->host, "kron.example.org");
  EXPECT_EQ(parse_public_url("https://kron.example.org:8126")->host, "kron.example.org:8126");
  EXPECT_EQ(parse_public_url("https://[2001:db8::1]:8126")->host, "[2001:db8::1]:8126");
  EXPECT_EQ(parse_public_url("http://10.0.0.7")->scheme, "http");
  for (const char* url : {"", "kron.example.org", "https://", "ftp://a", "https://a/b", "https://a:x", "https://a:",
                          "https://a b", "https://a@b", "javascript://x", "https://:8126", "https://a:123456"}) {
    EXPECT_FALSE(parse_public_url(url)) << url;
  }
}

TEST(Site, KnowsItsNamesAndNoOthers) {
  const Site site{.scheme = "http", .names = {*parse_public_url("https://kron.example.org")}};
  EXPECT_EQ(site.scheme_of("kron.example.org"), "https");
  EXPECT_EQ(site.scheme_of("KRON.example.org:443"), "https");
  EXPECT_EQ(site.scheme_of("localhost:9999"), "http");
  EXPECT_EQ(site.scheme_of("[::1]:8126"), "http");
  for (const char* host : {"", "evil.example", "kron.example.org.evil", "kron.example.org:8126", "10.0.0.1",
                           "localhost.evil", "127.0.0.1.evil:80", "localhost:", "localhost:x", "0.0.0.0"}) {
    EXPECT_EQ(site.scheme_of(host), "") << host;
  }
}

}  // namespace
}  // namespace kron::web
