#include "kron/http/server.h"

#include <filesystem>
#include <future>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "kron/http/fake/hostile_requests.h"
#include "kron/http/fake/server_rig.h"
#include "kron/testing/scale.h"

namespace kron::http::server_test {
namespace {

using testing::ask;
using testing::get;
using testing::RawClient;
using testing::ServerRig;
using testing::status_of;

using ServerOverEachWay = testing::OverEachWay;
INSTANTIATE_TEST_SUITE_P(Server, ServerOverEachWay,
                         ::testing::Values(testing::Way::unix_socket, testing::Way::tcp, testing::Way::tls),
                         testing::name_of_way);

// Answers with what it was asked.
void echo(const Request& request, Reply reply) {
  reply.send(Response{200, "text/plain", {}, request.method + " " + request.target + " " + request.body});
}

TEST_P(ServerOverEachWay, HostileRequestsGetTheirStatusAndTheServerLives) {
  const ServerRig rig(echo);
  for (const testing::HostileRequest& hostile : testing::hostile_requests()) {
    RawClient client(rig);
    client.send(hostile.bytes);
    const std::string answer = client.read_to_end();
    EXPECT_EQ(status_of(answer), hostile.status) << hostile.what << ": " << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << hostile.what;
    EXPECT_NE(answer.find("application/problem+json"), std::string::npos) << hostile.what;
    EXPECT_EQ(answer.find("}HTTP/1.1"), std::string::npos) << "a second answer to: " << hostile.what;
    ASSERT_EQ(status_of(ask(rig, "/")), 200) << hostile.what;
  }
}

TEST_P(ServerOverEachWay, AnswersRequestsOnAKeptConnectionInOrder) {
  const ServerRig rig(echo);
  RawClient client(rig);
  std::string all;
  for (int i = 0; i < 300; ++i) all += get("/" + std::to_string(i));
  client.send(all + get("/last", "Connection: close\r\n"));
  const std::string answers = client.read_to_end();
  std::size_t at = 0;
  for (int i = 0; i < 300; ++i) {
    at = answers.find("GET /" + std::to_string(i) + " ", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_NE(answers.find("GET /last ", at), std::string::npos);
}

TEST_P(ServerOverEachWay, ReadsBodiesWithALengthAndInChunks) {
  const ServerRig rig(echo);
  RawClient client(rig);
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_NE(client.read_until("hello").find("POST /a hello"), std::string::npos);
  client.send("PUT /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwor\r\n");
  client.send("2\r\nld\r\n0\r\n\r\n");
  EXPECT_NE(client.read_until("world").find("PUT /b world"), std::string::npos);
}

TEST_P(ServerOverEachWay, ReadsABodyOfManyMebibytes) {
  Server::Options options;
  options.body_limit = [](const Request&) { return std::size_t{64} << 20U; };
  const ServerRig rig(
      [](const Request& request, Reply reply) {
        reply.send({200, "", {}, std::to_string(request.body.size())});
      },
      options);
  RawClient client(rig);
  const std::size_t size = std::size_t{8} << 20U;
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + std::to_string(size) +
              "\r\n\r\n");
  client.send(std::string(size, 'x'));
  EXPECT_TRUE(client.read_to_end().ends_with("\r\n\r\n" + std::to_string(size)));
}

TEST_P(ServerOverEachWay, TellsAClientThatWaitsToGoOn) {
  const ServerRig rig(echo);
  RawClient client(rig);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  EXPECT_EQ(status_of(client.read_until("hi")), 200);
}

TEST_P(ServerOverEachWay, AnswersHeadWithoutABody) {
  const ServerRig rig(echo);
  RawClient client(rig);
  client.send("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answer = client.read_to_end();
  EXPECT_NE(answer.find("Content-Length: 8\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_P(ServerOverEachWay, AnswersHttp10AndCloses) {
  const ServerRig rig(echo);
  RawClient client(rig);
  client.send("GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string answer = client.read_to_end();
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("GET /old "));
}

TEST_P(ServerOverEachWay, AHeaderCannotBeSmuggledIntoAnAnswer) {
  const ServerRig rig([](const Request& request, Reply reply) {
    reply.send({200, "text/plain", {{"X-Name", std::string(*request.parameter("name"))}}, ""});
  });
  EXPECT_NE(ask(rig, "/?name=a%0D%0ASet-Cookie:b").find("X-Name: a  Set-Cookie:b\r\n"), std::string::npos);
}

TEST_P(ServerOverEachWay, AnAnswerMayComeFromAnotherThread) {
  std::vector<std::thread> threads;
  {
    const ServerRig rig([&](Request, Reply reply) {
      threads.emplace_back([reply = std::move(reply)]() mutable { reply.send({200, "", {}, "late"}); });
    });
    EXPECT_TRUE(ask(rig, "/").ends_with("late"));
    EXPECT_TRUE(ask(rig, "/").ends_with("late"));
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ServerOverEachWay, ARequestThatIsForgottenGets500) {
  const ServerRig rig([](const Request&, const Reply&) {});
  EXPECT_EQ(status_of(ask(rig, "/")), 500);
}

TEST_P(ServerOverEachWay, OnlyTheFirstAnswerCounts) {
  const ServerRig rig([](const Request&, Reply reply) {
    reply.send({200, "", {}, "one"});
    reply.send({200, "", {}, "two"});
    EXPECT_FALSE(reply.begin({})->write("three"));
    reply.on_gone([] { ADD_FAILURE(); });
  });
  EXPECT_TRUE(ask(rig, "/").ends_with("\r\n\r\none"));
}

TEST_P(ServerOverEachWay, AReplyThatIsReplacedIsAnswered) {
  std::optional<Reply> kept;
  const ServerRig rig([&](const Request& request, Reply reply) {
    if (!kept) {
      kept.emplace(std::move(reply));
      return;
    }
    *kept = std::move(reply);
    kept->send({200, "", {}, request.target});
  });
  RawClient first(rig);
  first.send(get("/first"));
  // The second connection is accepted behind the first, whose request has been there since.
  RawClient second(rig);
  second.send(get("/second"));
  EXPECT_EQ(status_of(first.read_some()), 500);
  EXPECT_EQ(status_of(second.read_some()), 200);
}

TEST(Server, KnowsItsClient) {
  std::promise<Request> seen;
  const ServerRig rig([&](const Request& request, Reply reply) {
    seen.set_value(request);
    reply.send({});
  });
  ask(rig, "/");
  const Request request = seen.get_future().get();
  EXPECT_EQ(request.principal.name, "uid " + std::to_string(::getuid()));
}

TEST(Server, AStrangerIsToldSoAndHandledByNobody) {
  const ServerRig rig([](const Request&, const Reply&) { ADD_FAILURE(); }, {},
                      [](const Credentials& peer) {
                        EXPECT_EQ(peer.uid, ::getuid());
                        EXPECT_EQ(peer.pid, ::getpid());
                        return problem({Code::refused, "who are you?"});
                      });
  const std::string answer = ask(rig, "/");
  EXPECT_EQ(status_of(answer), 403);
  EXPECT_NE(answer.find("urn:kron:problem:refused"), std::string::npos);
  RawClient with_body(rig);
  with_body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n");
  EXPECT_EQ(status_of(with_body.read_to_end()), 403);
}

TEST_P(ServerOverEachWay, ServesManyConnectionsAtOnce) {
  const ServerRig rig(echo);
  std::vector<RawClient> clients;
  // More than one address may have by TCP are refused.
  const int count = rig.way() == testing::Way::unix_socket ? 200 : 100;
  for (int i = 0; i < count; ++i) clients.emplace_back(rig);
  for (int round = 0; round < testing::scaled(3); ++round) {
    for (RawClient& client : clients) client.send(get("/x"));
    for (RawClient& client : clients) ASSERT_EQ(status_of(client.read_until("GET /x ")), 200);
  }
}

TEST(Server, RunsOnAThreadThatYieldsAndTakesNoSignals) {
  std::promise<std::pair<int, bool>> seen;
  const ServerRig rig([&](const Request&, Reply reply) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    seen.set_value({::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())), sigismember(&mask, SIGTERM) == 1});
    reply.send({});
  });
  const int own = ::getpriority(PRIO_PROCESS, 0);
  ask(rig, "/");
  const auto [nice, blocked] = seen.get_future().get();
  EXPECT_EQ(nice, std::min(own + 5, 19));
  EXPECT_TRUE(blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

TEST_P(ServerOverEachWay, RepliesAndStreamsMayOutliveIt) {
  std::optional<Reply> kept;
  std::shared_ptr<Stream> stream;
  std::promise<void> both;
  ServerRig rig([&](const Request& request, Reply reply) {
    if (request.target == "/stream") {
      stream = reply.begin({});
    } else {
      reply.on_gone([] { ADD_FAILURE() << "nobody hung up"; });
      kept.emplace(std::move(reply));
    }
    if (kept && stream) both.set_value();
  });
  RawClient waiting(rig);
  waiting.send(get("/wait"));
  RawClient streaming(rig);
  streaming.send(get("/stream"));
  both.get_future().wait();
  EXPECT_TRUE(stream->write("tail"));
  rig.stop();
  EXPECT_FALSE(stream->write("more"));
  kept->send({});
  EXPECT_EQ(waiting.read_to_end(), "");
  EXPECT_TRUE(streaming.read_to_end().ends_with("4\r\ntail\r\n0\r\n\r\n"));
  EXPECT_FALSE(std::filesystem::exists(rig.socket_path()));
}

TEST_P(ServerOverEachWay, EndsAlthoughAClientDoesNotRead) {
  std::promise<void> asked;
  ServerRig rig([&](const Request&, Reply reply) {
    reply.send({200, "", {}, std::string(std::size_t{4} << 20U, 'x')});
    asked.set_value();
  });
  RawClient client(rig);
  client.send(get("/"));
  asked.get_future().wait();
  rig.stop();
  EXPECT_LT(client.read_to_end().size(), std::size_t{4} << 20U);
}

TEST(Server, DoesNotStartWhereAnotherAnswers) {
  const ServerRig rig(echo);
  const auto second = UnixListener::open(rig.socket_path(), 0600, std::nullopt, ServerRig::preferred);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(status_of(ask(rig, "/")), 200);
}

}  // namespace
}  // namespace kron::http::server_test
