// What is different for a server over TLS.
#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

#include "kron/http/fake/server_rig.h"
#include "kron/http/handshakes.h"

namespace kron::http {
namespace {

using std::chrono::milliseconds;
using testing::get;
using ::testing::HasSubstr;
using testing::RawClient;
using testing::ServerRig;
using testing::status_of;

class NotedLog : public Log {
 public:
  void write(LogLevel, std::string_view event, std::span<const LogField> fields) override {
    const std::lock_guard lock(mutex_);
    std::string line(event);
    for (const LogField& field : fields) {
      if (const auto* text = std::get_if<std::string_view>(&field.value)) line.append(" ").append(*text);
      if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
        line.append(" ").append(std::to_string(*number));
      }
    }
    lines_.push_back(line);
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

class TlsServer : public ::testing::Test {
 protected:
  void SetUp() override { testing::way_in() = testing::Way::tls; }
  void TearDown() override { testing::way_in() = testing::Way::unix_socket; }

  static void hello(const Request&, Reply reply) { reply.send({200, "text/plain", {}, "hello"}); }
  static bool is_served(const ServerRig& rig) { return status_of(testing::ask(rig, "/")) == 200; }
  // In the clear, on the port of TLS.
  static RawClient stranger(const ServerRig& rig) { return {rig.connect(), false}; }
};

TEST_F(TlsServer, SaysThatTheEndIsMeantToBeThere) {
  const ServerRig rig(hello);
  RawClient client(rig);
  client.send(get("/", "Connection: close\r\n"));
  EXPECT_TRUE(client.read_to_end().ends_with("hello"));
  EXPECT_TRUE(client.was_told_the_end());
}

TEST_F(TlsServer, WhatIsNoTlsIsToldSoOnceASecondAndHarmsNobody) {
  NotedLog log;
  const ServerRig rig(hello, {}, ServerRig::preferred, &log);
  const std::vector<std::string> bytes{get("/"), std::string(300, '\0'), std::string("\x16\x03\x01\x00\x05", 5),
                                       std::string(100'000, '\xff'), "SSH-2.0-OpenSSH_9.2\r\n"};
  for (int round = 0; round < 20; ++round) {
    for (const std::string& one : bytes) {
      RawClient client = stranger(rig);
      client.send(one);
      client.shut_down_sending();
      EXPECT_EQ(client.read_to_end().find("HTTP"), std::string::npos);
    }
  }
  EXPECT_TRUE(is_served(rig));
  const std::vector<std::string> lines = log.lines();
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.front(), HasSubstr("tls_handshake_failed 127.0.0.1 "));
  EXPECT_LT(lines.size(), 50U) << "a hundred failures";
}

TEST_F(TlsServer, OneWhoLeavesWithoutAWordIsNotWorthALine) {
  NotedLog log;
  const ServerRig rig(hello, {}, ServerRig::preferred, &log);
  for (int i = 0; i < 50; ++i) (void)stranger(rig);
  EXPECT_TRUE(is_served(rig));
  EXPECT_TRUE(log.lines().empty()) << log.lines().front();
}

TEST_F(TlsServer, AHandshakeThatTakesTooLongIsCut) {
  Server::Options options;
  options.limits.header_time = milliseconds(50);
  NotedLog log;
  const ServerRig rig(hello, options, ServerRig::preferred, &log);
  RawClient silent = stranger(rig);
  EXPECT_EQ(silent.read_to_end(), "");
  RawClient slow = stranger(rig);
  // A hello of 512 bytes that never comes.
  slow.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
  while (!slow.sees_hangup()) slow.send("x");
  EXPECT_THAT(log.lines(), ::testing::Contains(HasSubstr("took too long")));
}

TEST_F(TlsServer, OneHandshakeTooManyClosesTheOldest) {
  const ServerRig rig(hello);
  std::vector<RawClient> slow;
  for (std::size_t i = 0; i < Handshakes::kMost; ++i) slow.push_back(stranger(rig));
  EXPECT_TRUE(is_served(rig)) << "though all places are taken";
  EXPECT_TRUE(slow.front().sees_hangup());
  EXPECT_FALSE(slow.back().waits_for(POLLRDHUP, milliseconds(0)));
}

TEST_F(TlsServer, ThoseWhoNeverShakeHandsDoNotKeepOthersOut) {
  Server::Options options{.closes_strangers = true};
  options.limits.connections = {.most = 32, .kept = 0, .of_one_user = 32};
  const ServerRig rig(hello, options);
  RawClient known(rig);
  known.send(get("/"));
  EXPECT_EQ(status_of(known.read_until("hello")), 200);
  std::vector<RawClient> slow;
  for (int i = 0; i < 500; ++i) slow.push_back(stranger(rig));
  EXPECT_TRUE(is_served(rig));
  known.send(get("/"));
  EXPECT_EQ(status_of(known.read_until("hello")), 200) << "who is in stays in";
}

TEST_F(TlsServer, OneWhoIsNotServedIsClosedWithoutAWord) {
  Server::Options options;
  options.limits.connections.most = 1;
  const ServerRig rig(hello, options);
  RawClient served(rig);
  served.send(get("/"));
  EXPECT_EQ(status_of(served.read_until("hello")), 200);
  RawClient other = stranger(rig);
  other.send(std::string("\x16\x03\x01\x00\x05", 5));
  EXPECT_EQ(other.read_to_end(), "");
}

TEST_F(TlsServer, AClientThatSaysItsEndIsNoticedWhileItIsWaitedFor) {
  for (const bool is_stream : {false, true}) {
    for (const bool stays : {false, true}) {
      std::promise<void> begun;
      std::promise<void> gone;
      std::vector<Reply> held;
      std::vector<std::shared_ptr<Stream>> streams;
      const ServerRig rig([&](const Request&, Reply reply) {
        reply.on_gone([&] { gone.set_value(); });
        if (is_stream) {
          streams.push_back(reply.begin({.body = "first"}));
        } else {
          held.push_back(std::move(reply));
        }
        begun.set_value();
      });
      std::optional<RawClient> client(std::in_place, rig);
      client->send(get("/"));
      ASSERT_EQ(begun.get_future().wait_for(testing::kPatience), std::future_status::ready);
      // A word that TLS has for it, or the end of the connection without it.
      stays ? client->say_end() : client.reset();
      EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready) << is_stream << stays;
    }
  }
}

TEST_F(TlsServer, WhatIsSentAheadWaitsAndIsNotTakenIn) {
  std::mutex mutex;
  std::vector<Reply> held;
  std::promise<void> first;
  const ServerRig rig([&](const Request& request, Reply reply) {
    if (request.target != "/first") return reply.send({200, "", {}, request.target});
    const std::lock_guard lock(mutex);
    held.push_back(std::move(reply));
    first.set_value();
  });
  RawClient client(rig);
  client.send(get("/first"));
  first.get_future().wait();
  // More than all buffers on the way hold: one who sends without being answered is held up.
  std::atomic<std::size_t> sent = 0;
  std::string many;
  for (int i = 0; i < 200'000; ++i) many += get("/next");
  std::thread sender([&] {
    for (std::size_t at = 0; at < many.size(); at += 4096) {
      client.send(std::string_view(many).substr(at, 4096));
      sent = at;
    }
  });
  std::size_t before = 1;
  while (before != sent) {
    before = sent;
    std::this_thread::sleep_for(milliseconds(200));
  }
  EXPECT_LT(sent, many.size() - 4096) << "somebody took it all in";
  ::shutdown(client.descriptor(), SHUT_RDWR);
  sender.join();
  const std::lock_guard lock(mutex);
  held.clear();
}

TEST_F(TlsServer, RequestsThatCameInOneRecordAreAllAnswered) {
  const ServerRig rig([](const Request& request, Reply reply) { reply.send({200, "", {}, request.target}); });
  RawClient client(rig);
  std::string all;
  for (int i = 0; i < 100; ++i) all += get("/" + std::to_string(i));
  client.send(all + get("/last", "Connection: close\r\n"));
  const std::string answers = client.read_to_end();
  std::size_t count = 0;
  for (std::size_t at = answers.find("HTTP/1.1 200 "); at != std::string::npos;
       at = answers.find("HTTP/1.1 200 ", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 101U);
}

TEST_F(TlsServer, AStreamThatIsCutIsNotToldToBeWhole) {
  const ServerRig rig([](const Request&, Reply reply) {
    const auto stream = reply.begin({200, "text/plain", {}, "first"});
    stream->cut();
  });
  RawClient client(rig);
  client.send("GET / HTTP/1.0\r\n\r\n");
  client.read_to_end();
  EXPECT_FALSE(client.was_told_the_end());
}

TEST_F(TlsServer, AnotherCertificateIsForThoseWhoComeLater) {
  const testing::TlsRig tls;
  const auto source = tls.source();
  testing::SilentLog log;
  auto listener = TcpListener::open(
                      "127.0.0.1:0", [](const Request& head) { return head.principal; }, source)
                      .value();
  const std::uint16_t port = listener.port();
  Server::Listeners listeners;
  listeners.push_back(std::make_unique<TcpListener>(std::move(listener)));
  const auto server = Server::start(std::move(listeners), {}, hello, log).value();
  const auto expiry_seen = [&](std::optional<RawClient>& kept, const testing::TlsRig& trusted) {
    Descriptor socket = testing::connect_to_port(port);
    TlsSession session = TlsSession::for_client(trusted.client(), "localhost").value();
    EXPECT_TRUE(session.received({}));
    while (!session.is_established()) {
      const std::string out = session.take_outgoing();
      EXPECT_EQ(::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out.size()));
      char bytes[4096];
      const ssize_t size = ::recv(socket.get(), bytes, sizeof bytes, 0);
      if (size <= 0 || !session.received({bytes, static_cast<std::size_t>(size)})) return Instant();
    }
    const std::string out = session.take_outgoing();
    EXPECT_EQ(::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out.size()));
    const Instant expires = session.peer()->expires;
    kept.emplace(std::move(socket), std::move(session));
    return expires;
  };
  std::optional<RawClient> early;
  std::optional<RawClient> late;
  const Instant before = expiry_seen(early, tls);
  EXPECT_EQ(before, source->context()->expires());
  tls.use(tls.authority.issue("localhost", testing::kThisMachine, {Seconds(-60), std::chrono::hours(72)}));
  ASSERT_EQ(source->reload_if_changed(), true);
  EXPECT_GT(expiry_seen(late, tls), before);
  for (RawClient* client : {&*early, &*late}) {
    client->send(get("/"));
    EXPECT_EQ(status_of(client->read_until("hello")), 200);
  }
  tls.write("key.pem", "half of a k");
  EXPECT_FALSE(source->reload_if_changed());
  EXPECT_GT(expiry_seen(late, tls), before) << "the last good one serves on";
}

// Ten thousand are for a machine of their own; the books of the server do not depend on the number.
TEST_F(TlsServer, IdleClientsCostNothingButTheirPlace) {
  const ServerRig rig(hello);
  std::vector<RawClient> idle;
  for (int i = 0; i < 100; ++i) idle.emplace_back(rig);
  EXPECT_TRUE(is_served(rig));
  for (RawClient& client : idle) client.send(get("/"));
  for (RawClient& client : idle) EXPECT_EQ(status_of(client.read_until("hello")), 200);
}

}  // namespace
}  // namespace kron::http
