#pragma once

#include <string>
#include <vector>

// What an attacker, or a bug in a client, sends, and what it gets. Limits as they are by default.
namespace kron::testing {

struct HostileRequest {
  const char* what;
  std::string bytes;
  int status;
};

inline std::string with_header(const std::string& lines) { return "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n"; }
inline std::string with_target(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"; }
inline std::string with_body(const std::string& headers, const std::string& body) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
}

inline std::vector<HostileRequest> hostile_requests() {
  std::string many_headers;
  for (int i = 0; i < 100'000; ++i) many_headers += "X: y\r\n";
  std::string some_headers;
  for (int i = 0; i < 101; ++i) some_headers += "X: y\r\n";
  const std::string kMebibyte(std::size_t{1} << 20U, 'x');
  return {
      {"length and coding", with_body("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {"coding and length", with_body("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n"), 400},
      {"two lengths", with_body("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400},
      {"the same length twice", with_body("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400},
      {"a list of lengths", with_body("Content-Length: 3, 3\r\n", "abc"), 400},
      {"a signed length", with_body("Content-Length: +3\r\n", "abc"), 400},
      {"a negative length", with_body("Content-Length: -3\r\n", "abc"), 400},
      {"a length in hexadecimal", with_body("Content-Length: 0x3\r\n", "abc"), 400},
      {"no length at all", with_body("Content-Length:\r\n", ""), 400},
      {"a length beyond 64 bits", with_body("Content-Length: 99999999999999999999\r\n", ""), 400},
      {"a length of a petabyte", with_body("Content-Length: 999999999999999\r\n", ""), 413},
      {"chunks under another name", with_body("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501},
      {"chunked, and not last", with_body("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), 501},
      {"chunked twice", with_body("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"a vertical tab before chunked", with_body("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n"), 400},
      {"a chunk size that is none", with_body("Transfer-Encoding: chunked\r\n", "xyz\r\nabc\r\n0\r\n\r\n"), 400},
      {"a chunk longer than it says", with_body("Transfer-Encoding: chunked\r\n", "2\r\nabc\r\n0\r\n\r\n"), 400},
      {"a chunk size beyond 64 bits", with_body("Transfer-Encoding: chunked\r\n", "10000000000000000\r\n"), 400},
      {"a chunk of a terabyte", with_body("Transfer-Encoding: chunked\r\n", "fffffffffff\r\n"), 413},
      {"a chunk with a bare line feed", with_body("Transfer-Encoding: chunked\r\n", "3\nabc\r\n0\r\n\r\n"), 400},
      {"an endless chunk extension", with_body("Transfer-Encoding: chunked\r\n", "3;" + kMebibyte), 431},
      {"an endless trailer", with_body("Transfer-Encoding: chunked\r\n", "0\r\nX: " + kMebibyte), 431},
      {"chunks that add up",
       with_body("Transfer-Encoding: chunked\r\n", "fffff\r\n" + kMebibyte.substr(1) + "\r\nff\r\n"), 413},
      {"a folded header", with_header("X: a\r\n b\r\n"), 400},
      {"a folded first header", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"a space before the colon", with_header("X : a\r\n"), 400},
      {"a header without a name", with_header(": a\r\n"), 400},
      {"a header without a colon", with_header("X\r\n"), 400},
      {"a bare carriage return in a value", with_header("X: a\rb\r\n"), 400},
      {"a bare line feed in a value", with_header("X: a\nEvil: b\r\n"), 400},
      {"line feeds only", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"a NUL in a value", with_header(std::string("X: a\0b\r\n", 8)), 400},
      {"an escape in a value", with_header("X: a\x1b[0m\r\n"), 400},
      {"a NUL in a name", with_header(std::string("X\0Y: a\r\n", 8)), 400},
      {"bytes above ASCII in a name", with_header("X\xC3\xA9: a\r\n"), 400},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"an expectation nobody has", with_header("Expect: the-spanish-inquisition\r\n"), 417},
      {"a hundred thousand headers", with_header(many_headers), 431},
      {"a few headers too many", with_header(some_headers), 431},
      {"an endless header", with_header("X: " + kMebibyte + "\r\n"), 431},
      {"an endless name", with_header(kMebibyte), 431},
      {"an endless method", kMebibyte, 414},
      {"an endless target", with_target("/" + kMebibyte), 414},
      {"a long method", std::string(33, 'M') + " / HTTP/1.1\r\n", 400},
      {"no method", " / HTTP/1.1\r\n\r\n", 400},
      {"a method that is no word", "GE(T / HTTP/1.1\r\n\r\n", 400},
      {"HTTP/0.9", "GET /\r\n", 400},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"HTTP/1.2", "GET / HTTP/1.2\r\n\r\n", 400},
      {"another protocol", "GET / ICAP/1.0\r\n\r\n", 400},
      {"a TLS client", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
      {"an absolute target", with_target("http://a/"), 400},
      {"an asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"an authority", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"a target with a space", with_target("/a b"), 400},
      {"a target with a tab", with_target("/a\tb"), 400},
      {"a fragment", with_target("/a#b"), 400},
      {"a byte above ASCII", with_target("/\xC3\xA9"), 400},
      {"an escaped NUL", with_target("/a%00b"), 400},
      {"a broken escape", with_target("/a%2"), 400},
      {"an escape that is none", with_target("/a%zz"), 400},
      {"invalid UTF-8", with_target("/%FF"), 400},
      {"an overlong slash", with_target("/%C0%AF"), 400},
      {"up", with_target("/jobs/../../etc/passwd"), 400},
      {"up, escaped", with_target("/jobs/%2e%2E/etc"), 400},
      {"up at the end", with_target("/jobs/.."), 400},
      {"a dot", with_target("/./jobs"), 400},
      {"a broken escape in the query", with_target("/a?b=%"), 400},
      {"a NUL in the query", with_target("/a?b=%00"), 400},
      {"nonsense in Connection", with_header("Connection: \"\r\n"), 400},
      {"a body beyond the limit", with_body("Content-Length: 1048577\r\n", ""), 413},
      {"a body beyond the limit that waits", with_body("Content-Length: 1048577\r\nExpect: 100-continue\r\n", ""), 413},
  };
}

}  // namespace kron::testing
