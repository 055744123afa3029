#include "kron/http/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kron::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Endpoint, UrlsAreASchemeAHostAndAPort) {
  const auto is = [](bool is_tls, const char* host, std::uint16_t port) {
    return Url{.is_tls = is_tls, .host = host, .port = port};
  };
  EXPECT_EQ(parse_url("https://kron.example.org:8126"), is(true, "kron.example.org", 8126));
  EXPECT_EQ(parse_url("https://kron.example.org/"), is(true, "kron.example.org", 443));
  EXPECT_EQ(parse_url("HTTPS://Kron.Example.ORG:8126/"), is(true, "kron.example.org", 8126));
  EXPECT_EQ(parse_url("https://[2001:DB8::1]:8126"), is(true, "2001:db8::1", 8126));
  EXPECT_FALSE(parse_url(std::string_view("https://[2001:db8::\0\n1]:8126", 28)));
  EXPECT_EQ(parse_url("https://10.0.0.7"), is(true, "10.0.0.7", 443));
  EXPECT_EQ(parse_url("http://localhost:8126"), is(false, "localhost", 8126));
  EXPECT_EQ(parse_url("http://127.0.0.1"), is(false, "127.0.0.1", 80));
  EXPECT_EQ(parse_url("http://127.8.9.1:1"), is(false, "127.8.9.1", 1));
  EXPECT_EQ(parse_url("http://[::1]:65535"), is(false, "::1", 65535));
}

TEST(Endpoint, OtherUrlsAreRefusedWithTheCure) {
  for (const char* text : {"",
                           "kron.example.org",
                           "kron.example.org:8126",
                           "//kron",
                           "ftp://kron",
                           "unix:///run/x",
                           "https://",
                           "https:///",
                           "https://:8126",
                           "https://kron:",
                           "https://kron:0",
                           "https://kron:65536",
                           "https://kron:-1",
                           "https://kron:8126x",
                           "https://kron:81 26",
                           "https://kr on",
                           "https://kron/api",
                           "https://kron?x",
                           "https://kron#x",
                           "https://[::1",
                           "https://[::1]8126",
                           "https://[kron]:8126",
                           "https://::1:8126",
                           "https://kron\r\nHost: evil",
                           "https:/kron",
                           "https://kr\xC3\xB6n"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Code::invalid) << text;
    EXPECT_THAT(url.error().message, HasSubstr("https://host:port")) << text;
  }
  EXPECT_FALSE(parse_url("https://" + std::string(300, 'a')));
  EXPECT_FALSE(parse_url("https://" + std::string(3000, 'a')));
}

TEST(Endpoint, InTheClearIsForThisMachineAlone) {
  for (const char* text : {"http://kron.example.org", "http://10.0.0.7:8126", "http://[2001:db8::1]", "http://127.1",
                           "http://localhost.example.org", "http://2130706433", "http://0.0.0.0"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message, HasSubstr("in the clear")) << text;
  }
}

TEST(Endpoint, APasswordInAUrlIsNotRepeated) {
  const auto url = parse_url("https://ada:kron_secret@kron.example.org");
  ASSERT_FALSE(url);
  EXPECT_THAT(url.error().message, Not(HasSubstr("kron_secret")));
}

TEST(Endpoint, ATokenIsOneWord) {
  EXPECT_EQ(parse_token("kron_abc_DEF123\n"), "kron_abc_DEF123");
  EXPECT_EQ(parse_token("  a.b-c~d+e/f==\r\n\n"), "a.b-c~d+e/f==");
  for (const std::string& text :
       {std::string(), std::string(" \n"), std::string("two words"), std::string("one\ntwo\n"), std::string("a\0b", 3),
        std::string("k\xC3\xA4"), std::string("a:b"), std::string(4097, 'a'), std::string("a\x1b[0m")}) {
    const auto token = parse_token(text);
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().code, Code::invalid);
    const bool is_telling = !text.empty() && token.error().message.find(text) != std::string::npos;
    EXPECT_FALSE(is_telling) << token.error().message;
  }
}

TEST(Endpoint, IsNamedForPeopleAndForServers) {
  EXPECT_EQ(Endpoint("/run/krond/krond.sock").text(), "/run/krond/krond.sock");
  EXPECT_EQ(Endpoint("/run/krond/krond.sock").host_header(), "localhost");
  Endpoint remote;
  remote.host = "2001:db8::1";
  remote.port = 8126;
  remote.tls = TlsContext::for_client().value();
  EXPECT_EQ(remote.text(), "https://[2001:db8::1]:8126");
  EXPECT_EQ(remote.host_header(), "[2001:db8::1]:8126");
  remote.port = 443;
  EXPECT_EQ(remote.text(), "https://[2001:db8::1]");
}

// What must be on this machine is not looked for elsewhere, whatever a resolver says.
TEST(Endpoint, NobodyElseIsConnectedToInTheClear) {
  Endpoint elsewhere;
  elsewhere.host = "192.0.2.1";
  elsewhere.port = 80;
  const auto socket = connect_tcp(elsewhere, deadline_after(Seconds(5)));
  ASSERT_FALSE(socket);
  EXPECT_THAT(socket.error().message, HasSubstr("is not this machine"));
}

}  // namespace
}  // namespace kron::http
