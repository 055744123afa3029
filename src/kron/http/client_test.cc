#include "kron/http/client.h"

#include <atomic>
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

using ClientOverEachWay = testing::OverEachWay;
INSTANTIATE_TEST_SUITE_P(Client, ClientOverEachWay,
                         ::testing::Values(testing::Way::unix_socket, testing::Way::tcp, testing::Way::tls),
                         testing::name_of_way);

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

TEST_P(ClientOverEachWay, SendsRequestsOverOneConnection) {
  const ServerRig rig(echo);
  Client client(rig.endpoint());
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

TEST_P(ClientOverEachWay, ReadsWhyItsBodyWasRefused) {
  const ServerRig rig(echo);
  Client client(rig.endpoint());
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

TEST(Client, GivesUpWhenItIsTold) {
  const ServerRig rig([](const Request&, Reply reply) {
    static std::vector<Reply> kept;  // never answered while the test lasts
    kept.push_back(std::move(reply));
  });
  Client client(rig.endpoint(), {.timeout = testing::kPatience});
  client.give_up_at(deadline_after(std::chrono::milliseconds(50)));
  const auto begun = std::chrono::steady_clock::now();
  const auto answer = client.request("POST", "/p", "x");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unreachable);
  EXPECT_NE(answer.error().message.find("no answer in time"), std::string::npos) << answer.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, testing::kPatience);
}

TEST_P(ClientOverEachWay, TakesNoLongerAnswerThanItMay) {
  const ServerRig rig([](const Request& request, Reply reply) {
    reply.send({200, "text/plain", {}, std::string(request.target == "/more" ? 1001 : 1000, 'x')});
  });
  Client client(rig.endpoint(), {.most_body = 1000});
  const auto most = client.request("GET", "/most");
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_EQ(most->body.size(), 1000U);
  EXPECT_FALSE(client.request("GET", "/more"));
  EXPECT_TRUE(client.request("GET", "/most")) << "over another connection";
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

TEST_P(ClientOverEachWay, GivesUpWhenTheAnswerTakesTooLong) {
  std::optional<Reply> kept;
  const ServerRig rig([&](const Request&, Reply reply) { kept.emplace(std::move(reply)); });
  Client client(rig.endpoint(), {.timeout = std::chrono::milliseconds(50)});
  const auto answer = client.request("POST", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unreachable);
  EXPECT_NE(answer.error().message.find("within 50ms"), std::string::npos) << answer.error().message;
}

TEST_P(ClientOverEachWay, StreamsUntilTheEndOrUntilItHasEnough) {
  const ServerRig rig([](const Request& request, Reply reply) {
    if (request.target == "/no") return reply.send(problem(Error{Code::conflict, "not now", "id"}));
    const auto stream = reply.begin({200, "text/plain", {}, "one "});
    stream->write("two");
  });
  Client client(rig.endpoint());
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

TEST_P(ClientOverEachWay, PollsForAnAnswerBesideALoop) {
  std::promise<Reply> asked;
  const ServerRig rig([&](const Request&, Reply reply) { asked.set_value(std::move(reply)); });
  Client client(rig.endpoint());
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

TEST_P(ClientOverEachWay, ARequestMeanwhileGivesTheFirstOneUp) {
  std::promise<void> gone;
  std::optional<Reply> kept;
  const ServerRig rig([&](const Request& request, Reply reply) {
    if (request.target != "/wait") return reply.send({});
    reply.on_gone([&] { gone.set_value(); });
    kept.emplace(std::move(reply));
  });
  Client client(rig.endpoint());
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

// Over TLS, and how it can be refused.
class RemoteClient : public ::testing::Test {
 protected:
  void SetUp() override { testing::way_in() = testing::Way::tls; }
  void TearDown() override { testing::way_in() = testing::Way::unix_socket; }
};

TEST_F(RemoteClient, SendsItsTokenAndTheNameOfTheServer) {
  const ServerRig rig([](const Request& request, Reply reply) {
    reply.send(
        {200,
         "",
         {},
         std::string(*request.header("host")) + "|" + std::string(request.header("authorization").value_or("none"))});
  });
  Endpoint server = rig.endpoint();
  const std::string host = "localhost:" + std::to_string(rig.port());
  EXPECT_EQ(server.text(), "https://" + host);
  EXPECT_EQ(Client(server).request("GET", "/")->body, host + "|none");
  server.token = "kron_secret";
  Client client(server);
  EXPECT_FALSE(client.peer());
  EXPECT_EQ(client.request("GET", "/")->body, host + "|Bearer kron_secret");
  ASSERT_TRUE(client.peer());
  EXPECT_EQ(client.peer()->expires, testing::tls_rig().server()->expires());
}

TEST_F(RemoteClient, RefusesAServerThatItDoesNotKnow) {
  std::atomic<int> asked = 0;
  const ServerRig rig([&](const Request&, Reply reply) {
    ++asked;
    reply.send({});
  });
  Endpoint stranger = rig.endpoint();
  stranger.tls = TlsContext::for_client().value();
  stranger.token = "kron_secret";
  const auto answer = Client(stranger).request("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::refused);
  EXPECT_NE(answer.error().message.find("the certificate of localhost is not accepted"), std::string::npos)
      << answer.error().message;
  EXPECT_EQ(asked, 0);
}

TEST_F(RemoteClient, SaysThatAServerSpeaksNoTls) {
  testing::way_in() = testing::Way::tcp;
  const ServerRig clear(echo);
  Endpoint server = clear.endpoint();
  server.tls = testing::tls_rig().client();
  const auto answer = Client(server, {.cure = "look there"}).request("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unreachable);
  EXPECT_NE(answer.error().message.find(server.text()), std::string::npos);
  EXPECT_TRUE(answer.error().message.ends_with("; look there")) << answer.error().message;
}

TEST_F(RemoteClient, AServerThatDoesNotAnswerTheHandshakeIsNotWaitedForForEver) {
  const Descriptor silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(silent.get(), 1), 0);
  ASSERT_EQ(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  Endpoint server;
  server.host = "127.0.0.1";
  server.port = ntohs(address.sin_port);
  server.tls = testing::tls_rig().client();
  const auto answer = Client(server, {.timeout = std::chrono::milliseconds(100)}).request("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unreachable);
}

TEST_F(RemoteClient, ConnectsAgainWhenTheServerHasClosed) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 10), 0);
  testing::SilentLog log;
  std::optional<Client> client;
  // One server after the other on the same port.
  for (int i = 0; i < 3; ++i) {
    auto listener = TcpListener::adopt(
                        Descriptor(::dup(socket.get())), [](const Request& head) { return head.principal; },
                        testing::tls_rig().source())
                        .value();
    Endpoint place;
    place.host = "127.0.0.1";
    place.port = listener.port();
    place.tls = testing::tls_rig().client();
    if (!client) client.emplace(place);
    Server::Listeners listeners;
    listeners.push_back(std::make_unique<TcpListener>(std::move(listener)));
    const auto server = Server::start(std::move(listeners), {}, echo, log).value();
    for (const char* method : {"POST", "GET", "POST"}) {
      const auto answer = client->request(method, "/p", "x");
      ASSERT_TRUE(answer) << answer.error().message;
    }
  }
}

TEST_F(RemoteClient, AnEndThatNobodyAnnouncedIsNoEndOfAnAnswer) {
  const ServerRig rig([](const Request& request, Reply reply) {
    const auto stream = reply.begin({200, "text/plain", {}, "first"});
    if (request.target == "/cut") stream->cut();
  });
  Client client(rig.endpoint());
  const auto all = [](std::string_view) { return true; };
  EXPECT_TRUE(client.stream("/whole", {}, all));
  const Status cut = client.stream("/cut", {}, all);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Code::unreachable);
}

}  // namespace
}  // namespace kron::http
