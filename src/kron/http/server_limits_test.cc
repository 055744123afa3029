// Clients that are slow, silent, gone or too many.
#include <future>
#include <gtest/gtest.h>

#include "kron/http/fake/server_rig.h"

namespace kron::http {
namespace {

using std::chrono::milliseconds;
using testing::ask;
using testing::get;
using testing::RawClient;
using testing::ServerRig;
using testing::status_of;

constexpr milliseconds kSoon(50);

Server::Options with_limits(const std::function<void(Limits&)>& set) {
  Server::Options options;
  set(options.limits);
  return options;
}

void hello(const Request&, Reply reply) { reply.send({200, "text/plain", {}, "hello"}); }

TEST(ServerLimits, HeadersThatTakeTooLongGet408HoweverManyBytesTrickleIn) {
  const ServerRig rig(hello, with_limits([](Limits& limits) { limits.header_time = kSoon; }));
  RawClient client(rig);
  client.send("GET / HTTP/1.1\r\nX: ");
  while (!client.waits_for(POLLIN, milliseconds(5))) client.send("y");
  EXPECT_EQ(status_of(client.read_to_end()), 408);
  EXPECT_EQ(status_of(ask(rig, "/")), 200);
}

TEST(ServerLimits, ABodyThatTakesTooLongGets408) {
  const ServerRig rig(hello, with_limits([](Limits& limits) { limits.body_time = kSoon; }));
  RawClient client(rig);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  while (!client.waits_for(POLLIN, milliseconds(5))) client.send("y");
  EXPECT_EQ(status_of(client.read_to_end()), 408);
}

TEST(ServerLimits, TheTimeOfTheHeadIsNotThatOfTheBody) {
  const ServerRig rig(hello, with_limits([](Limits& limits) { limits.header_time = kSoon; }));
  RawClient client(rig);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n");
  client.send("\r\nh");
  EXPECT_FALSE(client.waits_for(POLLIN, 4 * kSoon));
  client.send("i");
  EXPECT_EQ(status_of(client.read_some()), 200);
}

TEST(ServerLimits, AnIdleConnectionIsClosedWithoutAWord) {
  const ServerRig rig(hello, with_limits([](Limits& limits) { limits.idle = kSoon; }));
  RawClient silent(rig);
  EXPECT_EQ(silent.read_to_end(), "");
  RawClient once(rig);
  once.send(get("/"));
  EXPECT_TRUE(once.read_to_end().ends_with("hello"));
}

TEST(ServerLimits, ARequestThatIsBeingHandledIsNotIdle) {
  std::promise<Reply> asked;
  const ServerRig rig(
      [&](const Request&, Reply reply) { asked.set_value(std::move(reply)); },
      with_limits([](Limits& limits) { limits.idle = limits.header_time = limits.write_time = kSoon; }));
  RawClient client(rig);
  client.send(get("/"));
  Reply reply = asked.get_future().get();
  EXPECT_FALSE(client.waits_for(POLLIN, 4 * kSoon));
  reply.send({200, "", {}, "at last"});
  EXPECT_TRUE(client.read_to_end().ends_with("at last"));
}

TEST(ServerLimits, AClientThatDoesNotReadItsAnswerIsCutOff) {
  const ServerRig rig(
      [](const Request& request, Reply reply) {
        reply.send({200, "text/plain", {}, std::string(request.target == "/large" ? std::size_t{4} << 20U : 5, 'x')});
      },
      with_limits([](Limits& limits) { limits.write_time = kSoon; }));
  RawClient client(rig);
  client.send(get("/large"));
  EXPECT_TRUE(client.sees_hangup());
  EXPECT_LT(client.read_to_end().size(), std::size_t{4} << 20U);
  EXPECT_EQ(status_of(ask(rig, "/")), 200);
}

TEST(ServerLimits, ConnectionsBeyondTheLimitAreToldToComeBack) {
  const ServerRig rig(hello, with_limits([](Limits& limits) { limits.connections = 3; }));
  std::vector<RawClient> served;
  for (int i = 0; i < 3; ++i) {
    served.emplace_back(rig);
    served.back().send(get("/"));
    EXPECT_EQ(status_of(served.back().read_some()), 200);
  }
  std::vector<RawClient> waiting;
  for (int i = 0; i < 64; ++i) waiting.emplace_back(rig);
  RawClient turned_away(rig);
  EXPECT_EQ(status_of(turned_away.read_to_end()), 503) << "without a request";
  for (RawClient& client : waiting) {
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
    const std::string answer = client.read_to_end();
    EXPECT_EQ(status_of(answer), 503);
    EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos);
  }
  served[0].send(get("/"));
  EXPECT_EQ(status_of(served[0].read_some()), 200) << "those who are in stay in";
  waiting.clear();
  served.clear();
  // The server notices in its own time that there is room again.
  while (status_of(ask(rig, "/")) != 200) {
  }
}

TEST(ServerLimits, OneWhoIsRefusedMayFinishHisSentence) {
  const ServerRig rig(hello);
  RawClient client(rig);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\nbody");
  EXPECT_EQ(status_of(client.read_to_end()), 413);
  EXPECT_EQ(::send(client.descriptor(), "more", 4, MSG_NOSIGNAL), 4);
  client.send(std::string(500'000, 'x'));
  EXPECT_TRUE(client.sees_hangup()) << "but not for ever";
}

TEST(ServerLimits, OneWhoHangsUpWhileHisAnswerIsMadeIsReported) {
  std::promise<void> asked;
  std::promise<void> gone;
  std::optional<Reply> kept;
  const ServerRig rig([&](const Request&, Reply reply) {
    reply.on_gone([&] { gone.set_value(); });
    kept.emplace(std::move(reply));
    asked.set_value();
  });
  {
    RawClient client(rig);
    client.send(get("/") + get("/the next one is there already"));
    asked.get_future().wait();
  }
  ASSERT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
  kept->send({});
  kept.reset();
}

TEST(ServerLimits, WhoAsksTooLateWhetherTheClientIsGoneIsToldAtOnce) {
  std::promise<Reply> asked;
  std::promise<void> gone;
  std::promise<void> again;
  const ServerRig rig([&](const Request&, Reply reply) {
    reply.on_gone([&] { gone.set_value(); });
    asked.set_value(std::move(reply));
  });
  {
    RawClient client(rig);
    client.send(get("/"));
  }
  gone.get_future().wait();
  asked.get_future().get().on_gone([&] { again.set_value(); });
  EXPECT_EQ(again.get_future().wait_for(testing::kPatience), std::future_status::ready);
}

TEST(ServerLimits, OneWhoOnlyStoppedSendingGetsHisAnswer) {
  std::promise<Reply> asked;
  const ServerRig rig([&](const Request&, Reply reply) {
    reply.on_gone([] { ADD_FAILURE(); });
    asked.set_value(std::move(reply));
  });
  RawClient client(rig);
  client.send(get("/"));
  client.shut_down_sending();
  asked.get_future().get().send({200, "", {}, "here"});
  EXPECT_TRUE(client.read_to_end().ends_with("here"));
}

}  // namespace
}  // namespace kron::http
