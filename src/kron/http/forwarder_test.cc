#include "kron/http/forwarder.h"

#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <mutex>
#include <thread>

#include "kron/http/client.h"
#include "kron/http/fake/server_rig.h"

namespace kron::http {
namespace {

using testing::get;
using testing::RawClient;
using testing::ServerRig;
using testing::status_of;

// A server in front that forwards everything to the one behind.
class ForwarderTest : public ::testing::Test {
 protected:
  void behind(Server::Handler handler) {
    behind_ = std::make_unique<ServerRig>(std::move(handler));
    start(behind_->socket_path());
  }
  void start(const std::string& socket) {
    forwarder_ = Forwarder::start(socket, options_).value();
    front_ = std::make_unique<ServerRig>([this](Request request, Reply reply) {
      forwarder_->forward({.method = request.method,
                           .target = request.target,
                           .headers = {{"X-Passed", std::string(request.header("x-asked").value_or("none"))}},
                           .body = std::move(request.body),
                           .added = {{"X-Added", "yes"}},
                           .before = before_,
                           .adapt = adapt_,
                           .answered = answered_},
                          std::move(reply));
    });
  }
  Client client() const { return Client(front_->socket_path(), {.timeout = testing::kPatience}); }

  Forwarder::Options options_{.passed = {"x-told"}};
  std::string before_;
  std::function<Response(Response)> adapt_;
  std::function<void(int)> answered_;
  std::unique_ptr<ServerRig> behind_;
  std::unique_ptr<Forwarder> forwarder_;
  std::unique_ptr<ServerRig> front_;  // goes before the forwarder
};

TEST_F(ForwarderTest, SendsRequestsOnAndAnswersBack) {
  behind([](const Request& request, Reply reply) {
    reply.send({.status = 201,
                .content_type = "text/plain",
                .headers = {{"X-Told", "a"}, {"X-Hidden", "b"}},
                .body = request.method + " " + request.target + " " + request.body + " " +
                        std::string(request.header("x-passed").value_or("")) + " " +
                        std::string(request.header("authorization").value_or("no key"))});
  });
  Client asks = client();
  const Response answer =
      asks.request("POST", "/a%2Fb?c=d", "body", {{"X-Asked", "x"}, {"Authorization", "k"}}).value();
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.content_type, "text/plain");
  EXPECT_EQ(answer.body, "POST /a%2Fb?c=d body x no key");
  EXPECT_EQ(answer.header("x-told"), "a");
  EXPECT_EQ(answer.header("x-added"), "yes");
  EXPECT_EQ(answer.header("x-hidden"), std::nullopt);
  EXPECT_EQ(asks.request("GET", "/").value().body, "GET /  none no key") << "on the same connection";
}

TEST_F(ForwarderTest, AStreamIsPassedOnAsItComes) {
  std::promise<std::shared_ptr<Stream>> begun;
  behind([&](const Request&, Reply reply) { begun.set_value(reply.begin({.body = "one "})); });
  RawClient reads(*front_);
  reads.send(get("/"));
  const auto stream = begun.get_future().get();
  EXPECT_THAT(reads.read_until("one "), ::testing::HasSubstr("Transfer-Encoding: chunked"));
  stream->write("two");
  reads.read_until("two");
  stream->end();
  EXPECT_TRUE(reads.read_until("0\r\n\r\n").ends_with("0\r\n\r\n"));
}

TEST_F(ForwarderTest, WhatIsSaidBeforeAnAnswerComesOnceAndOnlyBeforeAGoodOne) {
  before_ = "first ";
  const std::string large(std::size_t{9} << 20, 'x');
  behind([&](const Request& request, Reply reply) {
    reply.send({.status = request.target == "/none" ? 404 : 200, .body = request.target == "/large" ? large : "then"});
  });
  Client asks = client();
  EXPECT_EQ(asks.request("GET", "/").value().body, "first then");
  EXPECT_EQ(asks.request("GET", "/none").value().body, "then");
  EXPECT_TRUE(asks.request("GET", "/large").value().body == "first " + large);
}

TEST_F(ForwarderTest, WhoHangsUpEndsTheRequestBehind) {
  std::promise<void> gone;
  std::promise<std::shared_ptr<Stream>> begun;
  behind([&](const Request&, Reply reply) {
    reply.on_gone([&] { gone.set_value(); });
    begun.set_value(reply.begin({.body = "one "}));
  });
  auto reads = std::make_unique<RawClient>(*front_);
  reads->send(get("/"));
  const auto stream = begun.get_future().get();
  reads->read_until("one ");
  reads.reset();
  EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
}

TEST_F(ForwarderTest, WhoHangsUpWhileItWaitsEndsTheRequestBehind) {
  std::promise<void> gone;
  std::promise<Reply> asked;
  behind([&](const Request&, Reply reply) {
    reply.on_gone([&] { gone.set_value(); });
    asked.set_value(std::move(reply));
  });
  auto waits = std::make_unique<RawClient>(*front_);
  waits->send(get("/"));
  const Reply held = asked.get_future().get();
  waits.reset();
  EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
}

TEST_F(ForwarderTest, AnAnswerLargerThanAnyBufferArrivesWhole) {
  const std::string large(std::size_t{20} << 20, 'x');
  behind([&](const Request&, Reply reply) { reply.send({.body = large}); });
  RawClient reads(*front_);
  reads.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");  // no chunks: the body ends with the connection
  const std::string answer = reads.read_to_end();
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, large.size());
}

TEST_F(ForwarderTest, AStreamThatBreaksOffDoesNotLookWhole) {
  behind([](const Request&, Reply reply) {
    const auto stream = reply.begin({.body = "one "});
    stream->cut();
  });
  Client asks = client();
  EXPECT_FALSE(asks.stream("/", {}, [](std::string_view) { return true; }));
}

TEST_F(ForwarderTest, NobodyBehindIsNoAnswerInTime) {
  const testing::TemporaryDirectory directory;
  start(directory.path() + "/nobody");
  const Response answer = client().request("GET", "/").value();
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, ::testing::HasSubstr("is krond running?"));
}

TEST_F(ForwarderTest, OneWhoNeverAnswersIsGivenUp) {
  options_.timeout = std::chrono::milliseconds(50);
  std::promise<Reply> asked;
  behind([&](const Request&, Reply reply) { asked.set_value(std::move(reply)); });
  const Response answer = client().request("POST", "/", "x").value();
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.body, ::testing::HasSubstr("may or may not have been obeyed"));
  asked.get_future().get().send({});
}

TEST_F(ForwarderTest, OneRequestTooManyIsToldSo) {
  options_.most = 1;
  std::promise<Reply> asked;
  behind([&](const Request&, Reply reply) { asked.set_value(std::move(reply)); });
  RawClient first(*front_);
  first.send(get("/"));
  Reply held = asked.get_future().get();
  const Response second = client().request("GET", "/").value();
  EXPECT_EQ(second.status, 503);
  EXPECT_EQ(second.header("retry-after"), "1");
  held.send({.body = "at last"});
  EXPECT_THAT(first.read_until("at last"), ::testing::HasSubstr("at last"));
}

TEST_F(ForwarderTest, AnAnswerCanBeMadeAnother) {
  std::atomic<int> told = 0;
  answered_ = [&](int status) { told = status; };
  adapt_ = [](const Response& came) {
    return Response{.status = 200, .body = came.body + std::string(came.header("x-hidden").value_or(""))};
  };
  behind([](const Request&, Reply reply) { reply.send({.status = 401, .headers = {{"X-Hidden", "b"}}, .body = "a"}); });
  const Response answer = client().request("GET", "/").value();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "ab");
  EXPECT_EQ(told, 401);
  while (forwarder_->under_way() != 0) std::this_thread::yield();
}

// What a follower is told, in order.
struct Heard {
  std::mutex mutex;
  std::vector<std::string> told;
  std::promise<void> over;

  void say(std::string what) {
    const std::scoped_lock lock(mutex);
    told.push_back(std::move(what));
  }
  std::vector<std::string> all() {
    const std::scoped_lock lock(mutex);
    return told;
  }
  Forwarder::Follower follower() {
    return {.answered =
                [this](const Response& answer) {
                  say("answer " + std::to_string(answer.status) + " " + answer.body);
                  over.set_value();
                },
            .begun = [this](const Response& head) { say("head " + std::string(head.header("x-hidden").value_or(""))); },
            .piece = [this](std::string_view bytes) { say(std::string(bytes)); },
            .ended =
                [this](bool is_whole) {
                  say(is_whole ? "whole" : "broken");
                  over.set_value();
                }};
  }
  bool is_over() { return over.get_future().wait_for(testing::kPatience) == std::future_status::ready; }
};

TEST_F(ForwarderTest, AFollowerHearsOfAnAnswerAsItComes) {
  std::promise<std::shared_ptr<Stream>> begun;
  behind([&](const Request&, Reply reply) {
    begun.set_value(reply.begin({.headers = {{"X-Hidden", "all of it"}}, .body = "one "}));
  });
  Heard heard;
  forwarder_->follow({.method = "GET", .target = "/"}, heard.follower());
  const auto stream = begun.get_future().get();
  while (heard.all().size() < 2) std::this_thread::yield();
  stream->write("two");
  while (heard.all().size() < 3) std::this_thread::yield();
  EXPECT_EQ(forwarder_->under_way(), 1U);
  stream->end();
  ASSERT_TRUE(heard.is_over());
  EXPECT_EQ(heard.all(), (std::vector<std::string>{"head all of it", "one ", "two", "whole"}));
}

TEST_F(ForwarderTest, AFollowerHearsWhyThereIsNothing) {
  behind([](const Request& request, Reply reply) {
    if (request.target == "/cut") return reply.begin({.body = "one "})->cut();
    reply.send({.status = request.method == "HEAD" ? 200 : 401, .body = "no"});
  });
  const std::vector<std::pair<Forwarder::Outgoing, std::string>> cases{
      {{.method = "GET", .target = "/"}, "answer 401 no"},
      {{.method = "HEAD", .target = "/"}, "answer 200 "},
      {{.method = "GET", .target = "/cut"}, "broken"}};
  for (const auto& [request, last] : cases) {
    Heard heard;
    forwarder_->follow(request, heard.follower());
    ASSERT_TRUE(heard.is_over());
    EXPECT_EQ(heard.all().back(), last);
  }
  behind_->stop();
  Heard heard;
  forwarder_->follow({.method = "GET", .target = "/"}, heard.follower());
  ASSERT_TRUE(heard.is_over());
  EXPECT_THAT(heard.all().back(), ::testing::StartsWith("answer 503 "));
}

TEST_F(ForwarderTest, WhatIsGivenUpEndsBehind) {
  std::promise<void> gone;
  std::promise<std::shared_ptr<Stream>> begun;
  behind([&](const Request&, Reply reply) {
    reply.on_gone([&] { gone.set_value(); });
    begun.set_value(reply.begin({.body = "one "}));
  });
  Heard heard;
  const auto number = forwarder_->follow({.method = "GET", .target = "/"}, heard.follower());
  const auto stream = begun.get_future().get();
  forwarder_->give_up(number);
  EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
  while (forwarder_->under_way() != 0) std::this_thread::yield();
}

}  // namespace
}  // namespace kron::http
