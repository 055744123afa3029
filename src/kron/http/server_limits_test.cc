// Clients that are slow, silent, gone or too many.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <gtest/gtest.h>
#include <mutex>

#include "kron/http/fake/server_rig.h"
#include "kron/http/turned_away.h"

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
  const ServerRig rig(hello, with_limits([](Limits& limits) { limits.connections.most = 3; }));
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
  const auto deadline = std::chrono::steady_clock::now() + testing::kPatience;
  int status = 0;
  while ((status = status_of(ask(rig, "/"))) != 200 && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(status, 200);
}

// Says who is at the other end of the test's own connections, which are all of one process.
class Users {
 public:
  UnixListener::Identify identify() {
    return [this](const Credentials&) { return Principal{.name = "ann", .is_preferred = is_preferred.load()}; };
  }
  std::atomic<bool> is_preferred = false;
};

TEST(ServerLimits, OneUserHasACapAndThePreferredAreServedBesideHim) {
  Users users;
  const ServerRig rig(
      hello, with_limits([](Limits& limits) { limits.connections = {.most = 10, .kept = 2, .of_one_user = 3}; }),
      users.identify());
  std::vector<RawClient> served;
  for (int i = 0; i < 3; ++i) {
    served.emplace_back(rig);
    served.back().send(get("/"));
    EXPECT_EQ(status_of(served.back().read_some()), 200);
  }
  EXPECT_EQ(status_of(ask(rig, "/")), 503);
  users.is_preferred = true;
  for (int i = 0; i < 7; ++i) {
    served.emplace_back(rig);
    served.back().send(get("/"));
    EXPECT_EQ(status_of(served.back().read_some()), 200) << i;
  }
  EXPECT_EQ(status_of(ask(rig, "/")), 503) << "the limit of all";
}

TEST(ServerLimits, OneWhoIsTurnedAwaySeesWhyThoughHeGoesOnSending) {
  const ServerRig rig(hello, with_limits([](Limits& limits) {
                        limits.connections.most = 0;
                        limits.linger = std::chrono::milliseconds(200);
                      }));
  std::vector<RawClient> clients;
  // One more than are kept open at a time: the first is closed at once, and has its answer all the same.
  for (std::size_t i = 0; i <= TurnedAway::kMost; ++i) {
    clients.emplace_back(rig);
    clients.back().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
  }
  for (RawClient& client : clients) EXPECT_EQ(status_of(client.read_to_end()), 503);
  for (RawClient& client : clients) EXPECT_TRUE(client.sees_hangup());
}

TEST(ServerLimits, AStreamCountsAmongTheStreamsAndLeavesItsPlaceToOthers) {
  std::vector<std::shared_ptr<Stream>> streams;
  const ServerRig rig(
      [&](const Request& request, Reply reply) {
        if (request.target != "/events") return hello(request, std::move(reply));
        if (auto stream = reply.begin({200, "text/plain", {}, "first"})) streams.push_back(std::move(stream));
      },
      with_limits([](Limits& limits) {
        limits.connections.most = 1;
        limits.streams.most = 2;
      }));
  std::vector<RawClient> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back(rig);
    readers.back().send(get("/events"));
    EXPECT_EQ(status_of(readers.back().read_until("first")), 200) << i;
  }
  RawClient third(rig);
  third.send(get("/events"));
  EXPECT_EQ(status_of(third.read_until("}")), 503);
  third.send(get("/"));
  EXPECT_EQ(status_of(third.read_until("hello")), 200) << "the connection is as good as before";
  streams.front()->end();
  EXPECT_TRUE(readers.front().read_until("0\r\n\r\n").ends_with("0\r\n\r\n"));
  third.send(get("/events"));
  EXPECT_EQ(status_of(third.read_until("first")), 200) << "there is a place again";
}

TEST(ServerLimits, OneWhoMayNotIsAnsweredBeforeAByteOfHisBodyIsRead) {
  std::atomic<int> handled = 0;
  Server::Options options;
  options.body_limit = [](const Request&) { return problem(403, "no"); };
  const ServerRig rig(
      [&](const Request& request, Reply reply) {
        ++handled;
        hello(request, std::move(reply));
      },
      options);
  RawClient client(rig);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 70000000\r\n\r\n");
  EXPECT_EQ(status_of(client.read_to_end()), 403) << "without a body";
  RawClient chunked(rig);
  chunked.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(status_of(chunked.read_to_end()), 403);
  RawClient patient(rig);
  patient.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status_of(patient.read_to_end()), 403) << "and no 100 before it";
  EXPECT_EQ(handled, 0);
}

// A body of `size` bytes, as far as the server takes it.
std::string post_of(std::size_t size) {
  return "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'x');
}

// Keeps requests that have more than a small body until it is told to answer one.
class Keeper {
 public:
  void handle(Request request, Reply reply) {
    if (request.body.size() <= kSmallBody) return hello(request, std::move(reply));
    const std::scoped_lock lock(mutex_);
    kept_.emplace_back(std::move(request), std::move(reply));
    changed_.notify_all();
  }
  bool comes_to(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, testing::kPatience, [&] { return kept_.size() == count; });
  }
  void answer_first() {
    const std::scoped_lock lock(mutex_);
    kept_.front().second.send({});
    kept_.pop_front();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Request, Reply>> kept_;
};

TEST(ServerLimits, BodiesTogetherTakeNoMoreThanTheirLimitAndSmallOnesAlwaysGo) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
  Server::Options options = with_limits(
      [](Limits& limits) { limits.bodies = {.most = 2 * kMebibyte, .kept = 0, .of_one_user = 2 * kMebibyte}; });
  options.body_limit = [](const Request&) { return 4 * kMebibyte; };
  Keeper keeper;
  const ServerRig rig([&](Request request, Reply reply) { keeper.handle(std::move(request), std::move(reply)); },
                      options);
  RawClient first(rig), second(rig), third(rig), small(rig), fourth(rig);
  first.send(post_of(kMebibyte + kSmallBody));
  second.send(post_of(kMebibyte + kSmallBody));
  ASSERT_TRUE(keeper.comes_to(2));
  third.send(post_of(kSmallBody + 1));
  const std::string answer = third.read_to_end();
  EXPECT_EQ(status_of(answer), 503) << "one byte beyond the limit";
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos);
  small.send(post_of(kSmallBody));
  EXPECT_EQ(status_of(small.read_to_end()), 200);
  keeper.answer_first();
  EXPECT_EQ(status_of(first.read_to_end()), 200);
  fourth.send(post_of(kSmallBody + 1));
  EXPECT_TRUE(keeper.comes_to(2)) << "what an answered request took is free again";
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

TEST(ServerLimits, OneWhoHungUpBeforeHisRequestWasReadIsReportedAtOnce) {
  std::promise<void> is_busy, may_go_on;
  std::promise<bool> was_told;
  std::atomic<bool> is_gone = false;
  const ServerRig rig([&](const Request& request, Reply reply) {
    if (request.target == "/busy") {
      is_busy.set_value();
      may_go_on.get_future().wait();
      return reply.send({});
    }
    reply.on_gone([&] { is_gone = true; });
    was_told.set_value(is_gone);
  });
  RawClient busy(rig);
  busy.send(get("/busy"));
  is_busy.get_future().wait();
  {
    RawClient client(rig);
    client.send(get("/"));
  }
  may_go_on.set_value();
  EXPECT_TRUE(was_told.get_future().get());
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
