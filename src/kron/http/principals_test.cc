// Who a request is from, when the socket does not tell: what he may have, and that he can be sent away.
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

#include "kron/env/fake/silent_log.h"
#include "kron/http/fake/server_rig.h"
#include "kron/testing/temporary_directory.h"

namespace kron::http::principals_test {
namespace {

using testing::get;
using ::testing::HasSubstr;
using testing::RawClient;
using testing::status_of;

// A socket where each request says who sends it, and which has limits of its own.
class NamedListener : public Listener {
 public:
  NamedListener(UnixListener socket, Limits limits) : socket_(std::move(socket)), limits_(limits) {}

  int descriptor() const override { return socket_.descriptor(); }
  Identified identify(int socket) const override { return socket_.identify(socket); }
  Identified identify(const Request& head) const override {
    return Principal{.name = std::string(head.header("user").value_or("nobody")),
                     .session = std::string(head.header("session").value_or(""))};
  }
  const Limits* limits() const override { return &limits_; }

 private:
  UnixListener socket_;
  Limits limits_;
};

class Principals : public ::testing::Test {
 protected:
  void start(const std::function<void(Limits&)>& set = [](Limits&) {}) {
    Limits limits;
    set(limits);
    Server::Listeners listeners;
    for (const char* name : {"own", "named"}) {
      auto socket = UnixListener::open(path(name), 0600, std::nullopt, testing::ServerRig::preferred).value();
      if (std::string_view(name) == "own") {
        listeners.push_back(std::make_unique<UnixListener>(std::move(socket)));
      } else {
        listeners.push_back(std::make_unique<NamedListener>(std::move(socket), limits));
      }
    }
    server_ = Server::start(
                  std::move(listeners), {},
                  [this](const Request& request, Reply reply) {
                    if (request.target == "/now") return reply.send({.body = "now"});
                    if (request.target == "/stream") {
                      const std::scoped_lock lock(mutex_);
                      streams_.push_back(reply.begin({.body = "begun"}));
                      return;
                    }
                    const std::scoped_lock lock(mutex_);
                    held_.push_back(std::move(reply));
                  },
                  log_)
                  .value();
  }
  ~Principals() override { server_.reset(); }

  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  // A connection that has sent this request.
  Descriptor asks(const std::string& target, const std::string& user, const std::string& more = "") {
    Descriptor socket = connect_unix(path("named"), testing::kPatience).value();
    const std::string message = get(target, "User: " + user + "\r\n" + more);
    EXPECT_EQ(::send(socket.get(), message.data(), message.size(), 0), static_cast<ssize_t>(message.size()));
    return socket;
  }
  static std::string reads(const Descriptor& socket) {
    pollfd look{.fd = socket.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&look, 1, 60'000), 1);
    std::string bytes(4096, '\0');
    const ssize_t size = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }
  bool is_quiet(const Descriptor& socket) const {
    pollfd look{.fd = socket.get(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, 50) == 0;
  }
  void wait_for_held(std::size_t count) {
    for (int i = 0; i < 6000; ++i) {
      {
        const std::scoped_lock lock(mutex_);
        if (held_.size() >= count) return;
      }
      ::poll(nullptr, 0, 10);
    }
    FAIL() << "no such request came";
  }

  testing::TemporaryDirectory directory_;
  testing::SilentLog log_;
  std::mutex mutex_;
  std::vector<Reply> held_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::unique_ptr<Server> server_;
};

TEST_F(Principals, OneHasSoManyRequestsAtATimeAndOthersTheirs) {
  start([](Limits& limits) { limits.requests = {.most = 4, .kept = 0, .of_one_user = 2}; });
  const Descriptor first = asks("/held", "ada");
  const Descriptor second = asks("/held", "ada");
  wait_for_held(2);
  EXPECT_EQ(status_of(reads(asks("/now", "ada"))), 503);
  EXPECT_EQ(status_of(reads(asks("/now", "bob"))), 200);
  {
    const std::scoped_lock lock(mutex_);
    held_.front().send({.body = "at last"});
  }
  EXPECT_EQ(status_of(reads(first)), 200);
  EXPECT_EQ(status_of(reads(asks("/now", "ada"))), 200) << "there is a place again";
}

TEST_F(Principals, LimitsOfAListenerAreNobodyElses) {
  start([](Limits& limits) { limits.connections = {.most = 2, .kept = 0, .of_one_user = 2}; });
  const Descriptor first = asks("/held", "ada");
  const Descriptor second = asks("/held", "ada");
  wait_for_held(2);
  EXPECT_EQ(status_of(reads(asks("/now", "bob"))), 503);
  Descriptor own = connect_unix(path("own"), testing::kPatience).value();
  const std::string message = get("/now");
  ASSERT_GT(::send(own.get(), message.data(), message.size(), 0), 0);
  EXPECT_EQ(status_of(reads(own)), 200);
}

TEST_F(Principals, ThoseWhoAreLetInNoLongerAreClosedAndNoOthers) {
  start();
  const Descriptor ada = asks("/stream", "ada", "Session: s1\r\n");
  const Descriptor same = asks("/stream", "ada", "Session: s2\r\n");
  const Descriptor bob = asks("/stream", "bob");
  for (const Descriptor* one : {&ada, &same, &bob}) EXPECT_EQ(status_of(reads(*one)), 200);
  const Server::Close close = server_->closer();
  close([](const Principal& principal) { return principal.session == "s1"; });
  while (!reads(ada).empty()) continue;
  EXPECT_TRUE(is_quiet(same));
  close([](const Principal& principal) { return principal.name == "ada"; });
  while (!reads(same).empty()) continue;
  EXPECT_TRUE(is_quiet(bob));
  server_.reset();
  close([](const Principal&) { return true; });  // there is nobody left to close, and nobody to do it
}

}  // namespace
}  // namespace kron::http::principals_test
