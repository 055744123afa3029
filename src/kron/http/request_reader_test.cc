#include "kron/http/request_reader.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kron/http/fake/hostile_requests.h"
#include "kron/testing/property.h"

namespace kron::http {
namespace {

using Stage = RequestReader::Stage;

class RequestReaderTest : public ::testing::Test {
 protected:
  // The bytes in pieces of that size, as far as the reader takes them; what became of the last one.
  static Stage feed(RequestReader& reader, std::string_view bytes, std::size_t piece = std::string_view::npos) {
    while (!bytes.empty() && (reader.stage() == Stage::head || reader.stage() == Stage::body)) {
      const std::span<char> room = reader.room();
      EXPECT_FALSE(room.empty());
      const std::size_t size = std::min({room.size(), bytes.size(), piece});
      std::copy_n(bytes.data(), size, room.data());
      bytes.remove_prefix(size);
      reader.received(size);
    }
    return reader.stage();
  }

  Limits limits_;
  RequestReader::BodyLimit body_limit_ = [](const Request&) { return std::size_t{1} << 20U; };
};

constexpr std::string_view kChunked =
    "POST /tasks?x=1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-Y:  b c \r\n\r\n"
    "3\r\nabc\r\n4;a=\"b\"\r\ndefg\r\n0\r\nHost: trailer\r\n\r\n";

TEST_F(RequestReaderTest, HostileRequestsAreRefusedHoweverTheyAreCut) {
  for (const testing::HostileRequest& hostile : testing::hostile_requests()) {
    for (const std::size_t piece : {std::string_view::npos, std::size_t{1}, std::size_t{7}}) {
      RequestReader reader(limits_, body_limit_);
      ASSERT_EQ(feed(reader, hostile.bytes, piece), Stage::refused) << hostile.what << " in pieces of " << piece;
      EXPECT_EQ(reader.refusal().status, hostile.status) << hostile.what << ": " << reader.refusal().body;
    }
  }
}

TEST_F(RequestReaderTest, ARequestIsTheSameHoweverItIsCut) {
  for (std::size_t piece = 1; piece <= kChunked.size(); ++piece) {
    RequestReader reader(limits_, body_limit_, Principal{.name = "uid 7"});
    ASSERT_EQ(feed(reader, kChunked, piece), Stage::complete) << piece;
    EXPECT_FALSE(reader.is_last());
    EXPECT_TRUE(reader.allows_chunks());
    const Request request = reader.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/tasks?x=1");
    EXPECT_EQ(request.segments, std::vector<std::string>{"tasks"});
    EXPECT_EQ(request.query, (Fields{{"x", "1"}}));
    EXPECT_EQ(request.headers, (Fields{{"host", "a"}, {"transfer-encoding", "chunked"}, {"x-y", "b c"}}));
    EXPECT_EQ(request.body, "abcdefg");
    EXPECT_EQ(request.principal.name, "uid 7");
    EXPECT_TRUE(reader.is_idle());
  }
}

TEST_F(RequestReaderTest, AQuotedValueOfAChunkExtensionEndsOnItsLine) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string_view body : {
           "2;a=\"b\r\nhi\"\r\n0\r\n\r\n",
           "2;a=\"b\\\"\r\nhi\r\n0\r\n\r\n",
           "2;a=\"\\\r\nhi\r\n0\r\n\r\n",
           "1\r\n;\r\n4A;a=\"\r\n",
           "1\r\nx\r\n0;a=\"\r\n\r\n",
       }) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::string_view::npos}) {
      RequestReader reader(limits_, body_limit_);
      ASSERT_EQ(feed(reader, head + std::string(body), piece), Stage::refused) << body << " by " << piece;
      EXPECT_EQ(reader.refusal().status, 400);
    }
  }
}

TEST_F(RequestReaderTest, WhatIsQuotedInAChunkExtensionAndWhatIsNoExtensionMeansNothing) {
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1;a=\"b\\\"c\\\\\"\r\n\"\r\n4\r\n\r\n\"\"\r\n0\r\nX: \"\r\n\r\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    RequestReader reader(limits_, body_limit_);
    ASSERT_EQ(feed(reader, bytes, piece), Stage::complete) << piece;
    EXPECT_EQ(reader.take().body, "\"\r\n\"\"");
  }
}

TEST_F(RequestReaderTest, RequestsInARowAreReadOneByOne) {
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    bytes += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    bytes += "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi\r\n";  // and a line end that is not asked for
  }
  RequestReader reader(limits_, body_limit_);
  ASSERT_EQ(feed(reader, bytes), Stage::complete);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(reader.take().target, "/" + std::to_string(i));
    ASSERT_EQ(reader.next(), Stage::complete);
    EXPECT_EQ(reader.take().body, "hi");
    ASSERT_EQ(reader.next(), i < 49 ? Stage::complete : Stage::head);
  }
  EXPECT_TRUE(reader.is_idle());
}

TEST_F(RequestReaderTest, TheConnectionClosesBehindARequestThatSaysSo) {
  const struct {
    const char* bytes;
    bool is_last;
    bool allows_chunks;
  } table[] = {
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", false, true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Close\r\n\r\n", true, true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", false, true},
      {"GET / HTTP/1.0\r\n\r\n", true, false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true, false},
  };
  for (const auto& row : table) {
    RequestReader reader(limits_, body_limit_);
    ASSERT_EQ(feed(reader, row.bytes), Stage::complete) << row.bytes;
    EXPECT_EQ(reader.is_last(), row.is_last) << row.bytes;
    EXPECT_EQ(reader.allows_chunks(), row.allows_chunks) << row.bytes;
  }
}

TEST_F(RequestReaderTest, AClientThatWaitsForAContinueIsKnown) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
  RequestReader reader(limits_, body_limit_);
  ASSERT_EQ(feed(reader, head), Stage::body);
  EXPECT_TRUE(reader.expects_continue());
  feed(reader, "h");
  EXPECT_FALSE(reader.expects_continue());

  RequestReader impatient(limits_, body_limit_);
  ASSERT_EQ(feed(impatient, head + "h"), Stage::body);
  EXPECT_FALSE(impatient.expects_continue());
}

TEST_F(RequestReaderTest, TheBodyLimitIsAskedWithTheHeadAndOnlyForABody) {
  int asked = 0;
  body_limit_ = [&](const Request& head) {
    ++asked;
    EXPECT_TRUE(head.body.empty());
    return head.segments == std::vector<std::string>{"large"} ? 5U : 2U;
  };
  const auto stage_of = [&](const std::string& path, const std::string& rest) {
    RequestReader reader(limits_, body_limit_);
    return feed(reader, "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + rest);
  };
  EXPECT_EQ(stage_of("/large", "Content-Length: 5\r\n\r\n12345"), Stage::complete);
  EXPECT_EQ(stage_of("/large", "Content-Length: 6\r\n\r\n"), Stage::refused);
  EXPECT_EQ(stage_of("/small", "Content-Length: 3\r\n\r\n"), Stage::refused);
  EXPECT_EQ(stage_of("/small", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"), Stage::complete);
  EXPECT_EQ(stage_of("/small", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\n"), Stage::refused);
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(stage_of("/small", "\r\n"), Stage::complete);
  EXPECT_EQ(stage_of("/small", "Content-Length: 0\r\n\r\n"), Stage::complete);
  EXPECT_EQ(asked, 5);
}

TEST_F(RequestReaderTest, TheLargestHeadIsTakenAndOneByteMoreIsNot) {
  limits_.header_bytes = 100;
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  const std::string largest = start + std::string(100 - start.size() - 4, 'x') + "\r\n\r\n";
  RequestReader taken(limits_, body_limit_);
  EXPECT_EQ(feed(taken, largest + largest), Stage::complete);
  RequestReader refused(limits_, body_limit_);
  ASSERT_EQ(feed(refused, largest.substr(0, largest.size() - 4) + "x\r\n\r\n"), Stage::refused);
  EXPECT_EQ(refused.refusal().status, 431);
}

TEST_F(RequestReaderTest, TheLongestTargetIsTakenAndOneByteMoreIsNot) {
  limits_.target_bytes = 20;
  for (const std::size_t piece : {std::string_view::npos, std::size_t{1}}) {
    RequestReader taken(limits_, body_limit_);
    EXPECT_EQ(feed(taken, std::string(32, 'M') + " /" + std::string(19, 't') + " HTTP/1.1\r\nHost: a\r\n\r\n", piece),
              Stage::complete);
    RequestReader refused(limits_, body_limit_);
    ASSERT_EQ(feed(refused, "GET /" + std::string(20, 't') + " HTTP/1.1\r\nHost: a\r\n\r\n", piece), Stage::refused);
    EXPECT_EQ(refused.refusal().status, 414);
  }
}

TEST_F(RequestReaderTest, AnyBytesInAnyPiecesAreTakenOrRefused) {
  testing::for_all(500, [&](std::vector<std::string> pieces, bool starts_right) {
    RequestReader reader(limits_, body_limit_);
    if (starts_right) feed(reader, kChunked.substr(0, *rc::gen::inRange<std::size_t>(0, kChunked.size())));
    for (const std::string& piece : pieces) {
      if (feed(reader, piece) == Stage::complete) (void)reader.take();
    }
  });
}

}  // namespace
}  // namespace kron::http
