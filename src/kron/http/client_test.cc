#include "kron/http/client.h"

#include <future>
#include <gtest/gtest.h>
#include <optional>
#include <poll.h>
#include <thread>

#include "kron/http/fake/server_rig.h"
#include "kron/testing/temporary_directory.h"

namespace kron::http {
namespace {

using testing::ServerRig;

void echo(const Request& request, Reply reply) {
  std::string body = request.method + " " + request.target + " " + request.body;
  for (const char* name : {"content-type", "content-length", "x-y"}) {
    if (const auto value = request.header(name)) body.append("|").append(name).append("=").append(*value);
  }
  reply.send({request.target == "/missing" ? 404 : 200, "text/plain", {{"X-Answer", "42"}}, body});
}

// A server of few words: on each connection it reads and says what it is told to, and again, and hangs up.
class Parrot {
 public:
  using Words = std::vector<std::string>;

  explicit Parrot(std::vector<Words> connections)
      : listener_(UnixListener::open(directory_.file("socket"), 0600, std::nullopt, ServerRig::preferred).value()),
        thread_([this, connections = std::move(connections)] {
          for (const Words& words : connections) serve(words);
        }) {}
  ~Parrot() { thread_.join(); }
  Parrot(const Parrot&) = delete;
  Parrot& operator=(const Parrot&) = delete;

  std::string socket_path() const { return directory_.file("socket"); }

 private:
  void serve(const Words& words) const {
    pollfd waited{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, -1);
    const Descriptor client(::accept(listener_.descriptor(), nullptr, nullptr));
    for (const std::string& word : words) {
      std::string bytes(65536, '\0');
      (void)::recv(client.get(), bytes.data(), bytes.size(), 0);
      (void)::send(client.get(), word.data(), word.size(), MSG_NOSIGNAL);
    }
  }

  testing::TemporaryDirectory directory_;
  UnixListener listener_;
  std::thread thread_;
};

TEST(Client, SendsRequestsOverOneConnection) {
  const ServerRig rig(echo);
  Client client(rig.socket_path());
  const auto answer = client.request("GET", "/a?b=c");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->content_type, "text/plain");
  EXPECT_EQ(answer->header("x-answer"), "42");
  EXPECT_EQ(answer->body, "GET /a?b=c ");
  EXPECT_EQ(client.request("POST", "/p", "{}", {{"X-Y", "z"}})->body,
            "POST /p {}|content-type=application/json|content-length=2|x-y=z");
  EXPECT_EQ(client.request("POST", "/p", "t", {{"content-type", "text/plain"}})->body,
            "POST /p t|content-type=text/plain|content-length=1");
  EXPECT_EQ(client.request("DELETE", "/p")->body, "DELETE /p |content-length=0");
  EXPECT_EQ(client.request("GET", "/missing")->status, 404);
  EXPECT_EQ(client.request("HEAD", "/x")->body, "");
  EXPECT_EQ(client.request("GET", "/y")->body, "GET /y ");
  EXPECT_EQ(client.descriptor(), -1);
}

TEST(Client, ConnectsAgainWhenTheServerHasClosed) {
  testing::SilentLog log;
  ServerRig rig(echo);
  rig.stop();
  Client client(rig.socket_path());
  for (int i = 0; i < 3; ++i) {
    const auto server = Server::start(rig.on_socket(), {}, echo, log).value();
    for (const char* method : {"POST", "GET", "POST"}) {
      const auto answer = client.request(method, "/p");
      ASSERT_TRUE(answer) << answer.error().message;
    }
    ASSERT_TRUE(client.request("GET", "/", "", {{"Connection", "close"}}));
    ASSERT_TRUE(client.request("POST", "/p", "x"));
  }
  EXPECT_FALSE(client.request("GET", "/"));
}

TEST(Client, ReadsWhyItsBodyWasRefused) {
  const ServerRig rig(echo);
  Client client(rig.socket_path());
  ASSERT_TRUE(client.request("GET", "/"));
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.request("POST", "/p", std::string(std::size_t{8} << 20U, 'x'));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 413);
  }
}

TEST(Client, SaysThatNobodyAnswersAndWhatToDo) {
  const testing::TemporaryDirectory directory;
  Client client(directory.file("socket"), {.timeout = Seconds(1), .cure = "start it"});
  const auto answer = client.request("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unreachable);
  EXPECT_NE(answer.error().message.find(directory.file("socket")), std::string::npos);
  EXPECT_TRUE(answer.error().message.ends_with("; start it")) << answer.error().message;
  EXPECT_EQ(client.begin("GET", "/").error().code, Code::unreachable);
  EXPECT_EQ(client.stream("/", {}, [](std::string_view) { return true; }).error().code, Code::unreachable);
  EXPECT_NE(Client(directory.path() + "/a/b").request("GET", "/").error().message.find("kron doctor"),
            std::string::npos);
}

TEST(Client, SaysThatALostAnswerMayHaveBeenObeyed) {
  const Parrot parrot({{""}, {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"}, {"HTTP/1.1 200 OK\r\nContent-Le"}});
  Client client(parrot.socket_path());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.request("POST", "/", "x");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unreachable);
    EXPECT_NE(answer.error().message.find("may or may not have been obeyed"), std::string::npos);
  }
}

TEST(Client, AnAnswerThatIsNoHttpIsInvalid) {
  const std::vector<Parrot::Words> connections{{"SSH-2.0-OpenSSH\r\n"},
                                               {"HTTP/1.1 abc\r\n\r\n"},
                                               {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"},
                                               {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab"},
                                               {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}};
  const Parrot parrot(connections);
  Client client(parrot.socket_path());
  for (const Parrot::Words& said : connections) {
    const auto answer = client.request("GET", "/");
    ASSERT_FALSE(answer) << said.front();
    EXPECT_EQ(answer.error().code, Code::invalid) << said.front();
  }
}

TEST(Client, ReadsAnAnswerThatEndsWithTheConnectionAndOneBehindAContinue) {
  const Parrot parrot({{"HTTP/1.1 200 OK\r\n\r\nall of it"},
                       {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"}});
  Client client(parrot.socket_path());
  EXPECT_EQ(client.request("GET", "/")->body, "all of it");
  EXPECT_EQ(client.request("GET", "/")->body, "hi");
}

TEST(Client, AsksAgainWhenAKeptConnectionBreaksButOnlyAQuestion) {
  const std::string good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  const Parrot parrot({{good, ""}, {good, ""}, {good}});
  Client client(parrot.socket_path());
  ASSERT_TRUE(client.request("POST", "/"));
  EXPECT_EQ(client.request("GET", "/")->body, "hi");
  const auto lost = client.request("POST", "/");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::unreachable);
  EXPECT_EQ(client.request("POST", "/")->body, "hi");
}

TEST(Client, GivesUpWhenTheAnswerTakesTooLong) {
  std::optional<Reply> kept;
  const ServerRig rig([&](const Request&, Reply reply) { kept.emplace(std::move(reply)); });
  Client client(rig.socket_path(), {.timeout = std::chrono::milliseconds(50)});
  const auto answer = client.request("POST", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unreachable);
  EXPECT_NE(answer.error().message.find("within 50ms"), std::string::npos) << answer.error().message;
}

TEST(Client, StreamsUntilTheEndOrUntilItHasEnough) {
  const ServerRig rig([](const Request& request, Reply reply) {
    if (request.target == "/no") return reply.send(problem(Error{Code::conflict, "not now", "id"}));
    const auto stream = reply.begin({200, "text/plain", {}, "one "});
    stream->write("two");
  });
  Client client(rig.socket_path());
  std::string all;
  const auto gather = [&](std::string_view bytes) {
    all += bytes;
    return true;
  };
  ASSERT_TRUE(client.stream("/", {}, gather));
  EXPECT_EQ(all, "one two");
  EXPECT_EQ(client.stream("/no", {}, gather).error(), (Error{Code::conflict, "not now", "id"}));
  EXPECT_TRUE(client.stream("/", {}, [](std::string_view) { return false; }));
  EXPECT_EQ(client.request("GET", "/")->body, "one two");
}

TEST(Client, PollsForAnAnswerBesideALoop) {
  std::promise<Reply> asked;
  const ServerRig rig([&](const Request&, Reply reply) { asked.set_value(std::move(reply)); });
  Client client(rig.socket_path());
  EXPECT_EQ(client.poll()->error().code, Code::conflict);
  ASSERT_TRUE(client.begin("POST", "/leases", "{}"));
  Reply reply = asked.get_future().get();
  EXPECT_FALSE(client.poll());
  reply.send({200, "", {}, "lease"});
  std::optional<Result<Response>> answer;
  while (!answer) {
    pollfd waited{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&waited, 1, 60'000), 1);
    answer = client.poll();
  }
  EXPECT_EQ((*answer)->body, "lease");
  EXPECT_EQ(client.descriptor(), -1);
}

TEST(Client, ARequestMeanwhileGivesTheFirstOneUp) {
  std::promise<void> gone;
  std::optional<Reply> kept;
  const ServerRig rig([&](const Request& request, Reply reply) {
    if (request.target != "/wait") return reply.send({});
    reply.on_gone([&] { gone.set_value(); });
    kept.emplace(std::move(reply));
  });
  Client client(rig.socket_path());
  ASSERT_TRUE(client.begin("GET", "/wait"));
  EXPECT_TRUE(client.request("GET", "/now"));
  EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
}

TEST(Client, SendsNothingThatCouldBeTwoRequests) {
  Client client("/nowhere");
  EXPECT_EQ(client.request("GET", "/a b").error().code, Code::invalid);
  EXPECT_EQ(client.request("GET", "/a\r\n").error().code, Code::invalid);
  EXPECT_EQ(client.request("GET", "/", "", {{"X", "a\r\nb: c"}}).error().code, Code::invalid);
}

}  // namespace
}  // namespace kron::http
