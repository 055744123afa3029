// Answers that go on.
#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <thread>

#include "kron/http/client.h"
#include "kron/http/fake/server_rig.h"
#include "kron/testing/scale.h"

namespace kron::http {
namespace {

using testing::get;
using testing::RawClient;
using testing::ServerRig;
using testing::status_of;

using StreamOverEachWay = testing::OverEachWay;
INSTANTIATE_TEST_SUITE_P(Stream, StreamOverEachWay,
                         ::testing::Values(testing::Way::unix_socket, testing::Way::tcp, testing::Way::tls),
                         testing::name_of_way);

const Response kEvents{200, "text/event-stream", {{"Cache-Control", "no-store"}}, "first "};

TEST_P(StreamOverEachWay, SendsWhatIsWrittenAndTheConnectionGoesOn) {
  const ServerRig rig([](const Request& request, Reply reply) {
    if (request.target == "/plain") return reply.send({200, "", {}, "plain"});
    const auto stream = reply.begin(kEvents);
    EXPECT_TRUE(stream->write("second "));
    EXPECT_TRUE(stream->write("third"));
    stream->end();
    EXPECT_FALSE(stream->write("never"));
  });
  RawClient client(rig);
  client.send(get("/events") + get("/plain", "Connection: close\r\n"));
  const std::string answers = client.read_to_end();
  EXPECT_NE(answers.find("Transfer-Encoding: chunked\r\n\r\n6\r\nfirst \r\nc\r\nsecond third\r\n0\r\n\r\nHTTP/1.1 200"),
            std::string::npos)
      << answers;
  EXPECT_TRUE(answers.ends_with("plain"));
}

TEST_P(StreamOverEachWay, EndsWhenItsWriterLetsGo) {
  const ServerRig rig([](const Request&, Reply reply) { reply.begin(kEvents); });
  RawClient client(rig);
  client.send(get("/"));
  EXPECT_TRUE(client.read_until("0\r\n\r\n").ends_with("6\r\nfirst \r\n0\r\n\r\n"));
}

TEST_P(StreamOverEachWay, OneThatIsCutDoesNotLookWhole) {
  const ServerRig rig([](const Request&, Reply reply) {
    const auto stream = reply.begin(kEvents);
    stream->cut();
    EXPECT_FALSE(stream->write("never"));
    stream->end();
  });
  Client client(rig.endpoint());
  const Status status = client.stream("/", {}, [](std::string_view) { return true; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::unreachable);
}

TEST_P(StreamOverEachWay, OneThatHasEndedIsNotCutAnyMore) {
  const ServerRig rig([](const Request&, Reply reply) {
    const auto stream = reply.begin(kEvents);
    stream->end();
    stream->cut();
  });
  Client client(rig.endpoint());
  EXPECT_TRUE(client.stream("/", {}, [](std::string_view) { return true; }));
}

TEST_P(StreamOverEachWay, WhatTheEndOfTheServerInterruptsDoesNotLookWhole) {
  std::promise<std::shared_ptr<Stream>> begun;
  ServerRig rig([&](const Request&, Reply reply) { begun.set_value(reply.begin(kEvents)); });
  RawClient client(rig);
  client.send(get("/"));
  const auto stream = begun.get_future().get();
  stream->counts_as_whole();
  client.read_until("first");
  rig.stop();
  EXPECT_FALSE(client.read_to_end().ends_with("0\r\n\r\n"));
}

TEST_P(StreamOverEachWay, OfHttp10EndsWithTheConnection) {
  const ServerRig rig([](const Request&, Reply reply) { reply.begin(kEvents)->write("second"); });
  RawClient client(rig);
  client.send("GET / HTTP/1.0\r\n\r\n");
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(answer.ends_with("\r\n\r\nfirst second")) << answer;
  EXPECT_EQ(answer.find("chunked"), std::string::npos);
}

TEST_P(StreamOverEachWay, OfHeadHasNoBody) {
  const ServerRig rig([](const Request&, Reply reply) { EXPECT_FALSE(reply.begin(kEvents)->write("second")); });
  RawClient client(rig);
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.read_to_end().ends_with("\r\n\r\n"));
}

TEST_P(StreamOverEachWay, AReaderThatDoesNotKeepUpIsCutOffAndHoldsNobodyUp) {
  Server::Options options;
  options.limits.stream_backlog = std::size_t{256} << 10U;
  std::promise<std::shared_ptr<Stream>> begun;
  std::promise<void> gone;
  const ServerRig rig(
      [&](const Request& request, Reply reply) {
        if (request.target != "/events") return reply.send({});
        reply.on_gone([&] { gone.set_value(); });
        begun.set_value(reply.begin(kEvents));
      },
      options);
  RawClient client(rig);
  client.send(get("/events"));
  const auto stream = begun.get_future().get();
  std::size_t written = 0;
  while (stream->write(std::string(1024, 'x'))) written += 1024;
  // The backlog, and what the kernel keeps for a socket.
  EXPECT_LT(written, std::size_t{4} << 20U);
  EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
  EXPECT_FALSE(client.read_to_end().ends_with("0\r\n\r\n")) << "an end that is none";
  EXPECT_EQ(status_of(testing::ask(rig, "/")), 200);
}

// More than a socket takes: sending is stuck until somebody reads.
const Response kStuck{200, "text/plain", {}, std::string(std::size_t{4} << 20U, 'x')};

TEST_P(StreamOverEachWay, AReaderIsCutOffEvenWhenSendingIsStuck) {
  std::promise<std::shared_ptr<Stream>> begun;
  std::promise<void> gone;
  const ServerRig rig([&](const Request&, Reply reply) {
    reply.on_gone([&] { gone.set_value(); });
    begun.set_value(reply.begin(kStuck));
  });
  RawClient client(rig);
  client.send(get("/events"));
  const auto stream = begun.get_future().get();
  EXPECT_TRUE(stream->write(std::string(1000, 'y')));
  EXPECT_FALSE(stream->write(std::string(std::size_t{1} << 20U, 'y')));
  EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
  EXPECT_TRUE(client.sees_hangup());
}

TEST_P(StreamOverEachWay, TheRestOfOneThatHasEndedIsNotOfferedForEver) {
  Server::Options options;
  options.limits.write_time = std::chrono::milliseconds(50);
  const ServerRig rig([&](const Request&, Reply reply) { reply.begin(kStuck); }, options);
  RawClient client(rig);
  client.send(get("/events"));
  EXPECT_TRUE(client.sees_hangup());
}

TEST_P(StreamOverEachWay, AReaderThatGoesIsReportedAndNothingMoreIsTaken) {
  std::promise<std::shared_ptr<Stream>> begun;
  std::promise<void> gone;
  const ServerRig rig([&](const Request&, Reply reply) {
    reply.on_gone([&] { gone.set_value(); });
    begun.set_value(reply.begin(kEvents));
  });
  std::shared_ptr<Stream> stream;
  {
    RawClient client(rig);
    client.send(get("/events"));
    stream = begun.get_future().get();
    client.read_until("first");
  }
  ASSERT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
  EXPECT_FALSE(stream->write("x"));
}

// Writes a large answer in pieces, each when the one before it has gone.
class Pieces : public std::enable_shared_from_this<Pieces> {
 public:
  Pieces(std::shared_ptr<Stream> stream, int count) : stream_(std::move(stream)), left_(count) {}
  void next() {
    if (left_-- == 0) return stream_->end();
    ASSERT_TRUE(stream_->write(std::string(100'000, 'x')));
    stream_->on_drained([self = shared_from_this()] { self->next(); });
  }

 private:
  std::shared_ptr<Stream> stream_;
  int left_;
};

TEST_P(StreamOverEachWay, WhatIsLargerThanTheBacklogIsSentAsItDrains) {
  Server::Options options;
  options.limits.stream_backlog = 100'000;
  const ServerRig rig(
      [](const Request&, Reply reply) {
        std::make_shared<Pieces>(reply.begin({200, "", {}, ""}), 50)->next();
      },
      options);
  Client client(rig.endpoint());
  std::size_t size = 0;
  const Status status = client.stream("/", {}, [&](std::string_view bytes) {
    size += bytes.size();
    return true;
  });
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_EQ(size, 5'000'000U);
}

TEST_P(StreamOverEachWay, ManyWritersAndReadersGetEveryByteInOrder) {
  constexpr int kStreams = 20;
  constexpr int kLines = 500;
  std::vector<std::thread> writers;
  std::mutex mutex;
  const ServerRig rig([&](const Request&, Reply reply) {
    const std::lock_guard lock(mutex);
    writers.emplace_back([reply = std::move(reply)]() mutable {
      const auto stream = reply.begin({});
      for (int i = 0; i < kLines; ++i) ASSERT_TRUE(stream->write(std::to_string(i) + "\n"));
    });
  });
  std::string expected;
  for (int i = 0; i < kLines; ++i) expected += std::to_string(i) + "\n";
  std::atomic<int> right = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < kStreams; ++i) {
    readers.emplace_back([&] {
      Client client(rig.endpoint());
      std::string all;
      const Status status = client.stream("/", {}, [&](std::string_view bytes) {
        all += bytes;
        return true;
      });
      if (status && all == expected) ++right;
    });
  }
  for (std::thread& reader : readers) reader.join();
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(right, kStreams);
}

}  // namespace
}  // namespace kron::http
