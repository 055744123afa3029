#include "web_service.h"

#include "command_rig.h"

namespace kron::cli::web_service_test {
namespace {

std::string why_not(const ServiceOptions& options, bool is_local) {
  const auto site = site_of(options, is_local);
  EXPECT_FALSE(site);
  return site ? "" : site.error().message;
}

TEST(WebService, KnowsWhichAddressesAreThisMachinesAlone) {
  for (const char* address : {"127.0.0.1:8126", "127.3.2.1:0", "[::1]:8126"}) EXPECT_TRUE(is_local_address(address));
  for (const char* address : {"0.0.0.0:8126", "[::]:8126", "10.0.0.1:8126", "localhost:8126", "", ":8126", "x"}) {
    EXPECT_FALSE(is_local_address(address)) << address;
  }
}

TEST(WebService, SendsNoTokenInTheClear) {
  EXPECT_THAT(why_not({}, false), AllOf(HasSubstr("--tls-cert"), HasSubstr("127.0.0.1"), HasSubstr("proxy")));
  EXPECT_THAT(why_not({.public_urls = {"https://a"}}, false), HasSubstr("--tls-cert"));
  EXPECT_THAT(why_not({.public_urls = {"http://a"}, .plain_http_behind_proxy = true}, false), HasSubstr("https://"));
}

TEST(WebService, MustKnowItsName) {
  EXPECT_THAT(why_not({.plain_http_behind_proxy = true}, true), HasSubstr("--public-url"));
  EXPECT_THAT(why_not({.tls_certificate = "c", .tls_key = "k"}, false), HasSubstr("--public-url"));
  EXPECT_THAT(why_not({.public_urls = {"kron.example.org"}}, true), HasSubstr("no address of a site"));
}

TEST(WebService, TakesACertificateAndItsKey) {
  EXPECT_THAT(why_not({.tls_certificate = "c"}, true), HasSubstr("belong together"));
  EXPECT_THAT(why_not({.tls_key = "k"}, true), HasSubstr("belong together"));
  EXPECT_THAT(
      why_not({.public_urls = {"https://a"}, .plain_http_behind_proxy = true, .tls_certificate = "c", .tls_key = "k"},
              true),
      HasSubstr("leave it out"));
}

TEST(WebService, IsAskedByTheSchemeThatIsSpoken) {
  EXPECT_EQ(site_of({}, true).value().scheme, "http");
  EXPECT_EQ(site_of({.tls_certificate = "c", .tls_key = "k"}, true).value().scheme, "https");
  const auto behind = site_of({.public_urls = {"https://a.example"}, .plain_http_behind_proxy = true}, false).value();
  EXPECT_EQ(behind.scheme_of("a.example"), "https");
  EXPECT_EQ(behind.scheme_of("127.0.0.1"), "http");
}

TEST(WebService, RefusesToStartWithTheCure) {
  const Ran ran = kron({"web", "--service", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("--tls-cert"));
  EXPECT_EQ(kron({"web", "--public-url", "https://a"}).status, 2) << "of a service alone";
}

}  // namespace
}  // namespace kron::cli::web_service_test
