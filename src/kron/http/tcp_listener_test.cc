#include "kron/http/tcp_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <gmock/gmock.h>
#include <optional>
#include <unistd.h>

#include "kron/http/client.h"
#include "kron/http/fake/server_rig.h"

namespace kron::http {
namespace {

using testing::ServerRig;

// Tells by a token, as a server would that is open to a network.
Listener::Identified by_token(const Request& head) {
  if (head.principal.permissions != 0) return problem(500, "who connects has no permission yet");
  if (head.header("authorization") != "Bearer secret") return problem(401, "say who you are");
  return Principal{.name = "token of " + head.principal.name, .permissions = 2, .is_preferred = true};
}

// Answers who asks.
void tell_name(const Request& request, Reply reply) {
  reply.send({.content_type = "text/plain", .body = request.principal.name + " " + request.body});
}

Descriptor connect_to(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{.tv_sec = testing::kPatience.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// All that comes until the server hangs up.
std::string ask(std::uint16_t port, const std::string& request) {
  const Descriptor socket = connect_to(port);
  EXPECT_EQ(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  char part[1024];
  for (ssize_t size = 1; size > 0;) {
    size = ::recv(socket.get(), part, sizeof part, 0);
    if (size > 0) answer.append(part, static_cast<std::size_t>(size));
  }
  return answer;
}

std::string post(const std::string& headers, const std::string& body) {
  return "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class TcpListenerTest : public ::testing::Test {
 protected:
  std::uint16_t serve(Server::Listeners listeners = {}, Server::Options options = {}) {
    auto opened = TcpListener::open("127.0.0.1:0", by_token);
    EXPECT_TRUE(opened) << opened.error().message;
    const std::uint16_t port = opened->port();
    listeners.push_back(std::make_unique<TcpListener>(*std::move(opened)));
    server_ = Server::start(std::move(listeners), std::move(options), handler_, log_).value();
    return port;
  }

  testing::SilentLog log_;
  Server::Handler handler_ = tell_name;
  std::unique_ptr<Server> server_;
};

TEST_F(TcpListenerTest, WhoAsksIsWhatTheRequestSays) {
  const std::uint16_t port = serve();
  EXPECT_THAT(ask(port, post("Authorization: Bearer secret\r\n", "hello")),
              ::testing::EndsWith("token of 127.0.0.1 hello"));
  EXPECT_THAT(ask(port, post("Authorization: Bearer wrong\r\n", "hello")), ::testing::StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(port, post("", "hello")), ::testing::StartsWith("HTTP/1.1 401 "));
}

TEST_F(TcpListenerTest, ABodyIsNotReadBeforeItIsKnownWhoSendsIt) {
  const std::uint16_t port = serve();
  const std::string answer = ask(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_THAT(answer, ::testing::StartsWith("HTTP/1.1 401 ")) << "without a byte of the body";
}

TEST_F(TcpListenerTest, OneServerHasSeveralListeners) {
  ServerRig rig(tell_name);
  rig.stop();
  const std::uint16_t port = serve(rig.on_socket());
  EXPECT_THAT(ask(port, post("Authorization: Bearer secret\r\n", "x")), ::testing::EndsWith("token of 127.0.0.1 x"));
  EXPECT_EQ(Client(rig.socket_path()).request("POST", "/", "y").value().body,
            "uid " + std::to_string(::getuid()) + " y");
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(rig.socket_path()));
  EXPECT_TRUE(TcpListener::open("127.0.0.1:" + std::to_string(port), by_token)) << "the port is free again";
}

// Over TCP that is no error of the socket, but an end of what can be read.
TEST_F(TcpListenerTest, AClientThatHangsUpIsNoticed) {
  for (const bool is_stream : {false, true}) {
    std::promise<void> begun;
    std::promise<void> gone;
    std::vector<Reply> held;
    std::vector<std::shared_ptr<Stream>> streams;
    handler_ = [&](const Request&, Reply reply) {
      reply.on_gone([&] { gone.set_value(); });
      if (is_stream) {
        streams.push_back(reply.begin({.body = "first"}));
      } else {
        held.push_back(std::move(reply));
      }
      begun.set_value();
    };
    const std::uint16_t port = serve();
    {
      const Descriptor client = connect_to(port);
      const std::string request = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n\r\n";
      ASSERT_EQ(::send(client.get(), request.data(), request.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(request.size()));
      ASSERT_EQ(begun.get_future().wait_for(testing::kPatience), std::future_status::ready);
    }
    EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready) << is_stream;
    server_.reset();
  }
}

TEST_F(TcpListenerTest, OneWhoSendsTheNextRequestAheadIsServedBoth) {
  const std::uint16_t port = serve();
  const std::string one = "GET /1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n";
  const std::string answers = ask(port, one + "\r\n" + one + "\r\n" + one + "Connection: close\r\n\r\n");
  std::size_t count = 0;
  for (std::size_t at = answers.find("HTTP/1.1 200 "); at != std::string::npos;
       at = answers.find("HTTP/1.1 200 ", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 3U) << answers;
}

// A look that saw a request sent ahead must not be the last one.
TEST_F(TcpListenerTest, AClientThatOnceSentAheadIsNoticedWhenItHangsUp) {
  std::promise<void> begun;
  std::promise<void> ahead;
  std::promise<void> gone;
  std::vector<Reply> held;
  std::optional<Reply> first;
  handler_ = [&](const Request& request, Reply reply) {
    if (request.target == "/first") {
      first.emplace(std::move(reply));
      return begun.set_value();
    }
    if (request.target == "/go") {
      reply.send({});
      return first->send({});
    }
    reply.on_gone([&] { gone.set_value(); });
    held.push_back(std::move(reply));
    ahead.set_value();
  };
  const std::uint16_t port = serve();
  const auto request = [](const char* target) {
    return std::string("GET ") + target + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n\r\n";
  };
  {
    const Descriptor client = connect_to(port);
    ASSERT_GT(::send(client.get(), request("/first").data(), request("/first").size(), MSG_NOSIGNAL), 0);
    ASSERT_EQ(begun.get_future().wait_for(testing::kPatience), std::future_status::ready);
    ASSERT_GT(::send(client.get(), request("/second").data(), request("/second").size(), MSG_NOSIGNAL), 0);
    // Behind the bytes of the second request, on the same thread.
    ask(port, post("Authorization: Bearer secret\r\n", "x").replace(0, 7, "POST /go "));
    ASSERT_EQ(ahead.get_future().wait_for(testing::kPatience), std::future_status::ready);
  }
  EXPECT_EQ(gone.get_future().wait_for(testing::kPatience), std::future_status::ready);
}

TEST_F(TcpListenerTest, ASocketThatIsHandedOverServes) {
  Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;  // of both families
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto early = TcpListener::adopt(Descriptor(::dup(socket.get())), by_token);
  ASSERT_FALSE(early) << "it does not listen yet";
  EXPECT_EQ(early.error().code, Code::invalid);
  ASSERT_EQ(::listen(socket.get(), 10), 0);
  auto adopted = TcpListener::adopt(std::move(socket), by_token);
  ASSERT_TRUE(adopted) << adopted.error().message;
  const std::uint16_t port = adopted->port();
  Server::Listeners listeners;
  listeners.push_back(std::make_unique<TcpListener>(*std::move(adopted)));
  const auto server = Server::start(std::move(listeners), {}, tell_name, log_).value();
  EXPECT_THAT(ask(port, post("Authorization: Bearer secret\r\n", "x")), ::testing::EndsWith("token of 127.0.0.1 x"))
      << "an address of IPv4 is one of IPv4";
  EXPECT_EQ(TcpListener::adopt(Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)), by_token).error().code,
            Code::invalid);
}

TEST_F(TcpListenerTest, WhoComesTooManyTakesThePlaceOfAStranger) {
  Server::Options options{.headers = {{"X-Each", "yes"}}, .closes_strangers = true};
  options.limits.connections = {.most = 4, .kept = 0, .of_one_user = 4};
  const std::uint16_t port = serve({}, std::move(options));
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 50; ++i) strangers.push_back(connect_to(port));
  const std::string answer = ask(port, post("Authorization: Bearer secret\r\n", "hello"));
  EXPECT_THAT(answer, ::testing::AllOf(::testing::EndsWith("hello"), ::testing::HasSubstr("X-Each: yes\r\n")));
  EXPECT_THAT(ask(port, "nonsense\r\n\r\n"),
              ::testing::AllOf(::testing::StartsWith("HTTP/1.1 400 "), ::testing::HasSubstr("X-Each: yes\r\n")));
}

TEST_F(TcpListenerTest, APortThatIsTakenIsAConflict) {
  const std::uint16_t port = serve();
  const auto second = TcpListener::open("127.0.0.1:" + std::to_string(port), by_token);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
}

TEST_F(TcpListenerTest, AddressesAreNumbers) {
  for (const char* address : {"", ":", "8126", "localhost:8126", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http",
                              "127.0.0.1:70000", "::1:8126", "[::1]", "[]:1", "256.0.0.1:80"}) {
    const auto opened = TcpListener::open(address, by_token);
    ASSERT_FALSE(opened) << address;
    EXPECT_EQ(opened.error().code, Code::invalid) << address;
    EXPECT_THAT(opened.error().message, ::testing::HasSubstr("127.0.0.1:8126")) << address;
  }
}

}  // namespace
}  // namespace kron::http
