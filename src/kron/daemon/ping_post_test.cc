#include "kron/daemon/ping_post.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>

#include "kron/http/fake/server_rig.h"
#include "kron/runner/protocol.h"

namespace kron::daemon::ping_post_test {
namespace {

constexpr char kRun[] = "0123456789abcdef0123456789abcdef";

TEST(PingTarget, HasTheRunAsUuid) {
  Ping ping{.job = "a", .url = {}, .signal = "start", .run_id = kRun};
  EXPECT_EQ(ping_target(ping), "/start?rid=01234567-89ab-cdef-0123-456789abcdef");
  ping.signal = "137";
  EXPECT_EQ(ping_target(ping), "/137?rid=01234567-89ab-cdef-0123-456789abcdef");
  ping.run_id.clear();
  ping.signal = "fail";
  EXPECT_EQ(ping_target(ping), "/fail");
}

TEST(PingTarget, AnIdOfAnotherShapeIsAUuidToo) {
  const std::string uuid = uuid_of_run("nightly.1");
  EXPECT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid, uuid_of_run("nightly.1"));
  EXPECT_NE(uuid, uuid_of_run("nightly.2"));
  EXPECT_NE(uuid_of_run("0123456789ABCDEF0123456789abcdef"), uuid_of_run(kRun));
}

struct OnAPort {
  OnAPort() { testing::way_in() = testing::Way::tcp; }
  ~OnAPort() { testing::way_in() = testing::Way::unix_socket; }
};

// A receiver on a port of this machine.
class PingPostTest : public ::testing::Test {
 protected:
  struct Got {
    std::string target;
    std::string type;
    std::string body;
  };

  void write_output(const std::string& text) {
    const std::string place = directory_.file("runs") + "/" + kRun;
    std::filesystem::create_directories(place);
    std::ofstream(place + "/" + std::string(runner::kOutputName), std::ios::binary) << text;
  }
  Ping ping(std::string signal, bool is_end = false) const {
    return {
        .job = "a",
        .url = std::make_shared<const std::string>("http://127.0.0.1:" + std::to_string(rig_.port()) + "/ping/hunter2"),
        .signal = std::move(signal),
        .run_id = kRun,
        .body = "the reason",
        .is_end = is_end};
  }
  Got last() {
    const std::scoped_lock lock(mutex_);
    return got_.empty() ? Got{} : got_.back();
  }

  OnAPort on_a_port_;  // before the receiver is there
  std::mutex mutex_;
  std::vector<Got> got_;
  int status_ = 200;
  std::string answer_ = "OK";
  testing::TemporaryDirectory directory_;
  testing::ServerRig rig_{[this](const http::Request& request, http::Reply reply) {
    const std::scoped_lock lock(mutex_);
    got_.push_back({request.method + " " + request.target, std::string(request.header("content-type").value_or("")),
                    request.body});
    reply.send({status_, "text/plain", {}, answer_});
  }};
  PingSender::Post post_ = ping_posts(directory_.path())();
};

TEST_F(PingPostTest, AStartHasNoOutput) {
  write_output("of the run before");
  ASSERT_TRUE(post_(ping("start"), testing::kPatience));
  EXPECT_EQ(last().target, "POST /ping/hunter2/start?rid=01234567-89ab-cdef-0123-456789abcdef");
  EXPECT_EQ(last().type, "text/plain; charset=utf-8");
  EXPECT_EQ(last().body, "the reason");
}

TEST_F(PingPostTest, AnEndHasTheEndOfTheOutput) {
  write_output("one\ntwo\n");
  ASSERT_TRUE(post_(ping("0", true), testing::kPatience));
  EXPECT_EQ(last().body, "one\ntwo\n");
  write_output(std::string(kMostPingBody, 'x'));
  ASSERT_TRUE(post_(ping("0", true), testing::kPatience));
  EXPECT_EQ(last().body, std::string(kMostPingBody, 'x'));
  write_output("y" + std::string(kMostPingBody - 1, 'x') + "z");
  ASSERT_TRUE(post_(ping("0", true), testing::kPatience));
  EXPECT_EQ(last().body, std::string(kMostPingBody - 1, 'x') + "z");
  write_output("\xE2\x82\xAC" + std::string(kMostPingBody - 1, 'x'));
  ASSERT_TRUE(post_(ping("0", true), testing::kPatience));
  EXPECT_EQ(last().body, std::string(kMostPingBody - 1, 'x')) << "half a character is none";
}

TEST_F(PingPostTest, AnEndWithoutOutputHasItsReason) {
  ASSERT_TRUE(post_(ping("fail", true), testing::kPatience));
  EXPECT_EQ(last().body, "the reason");
}

TEST_F(PingPostTest, OnlyAnAnswerOfSuccessIsOne) {
  for (const int status : {301, 404, 429, 500, 503}) {
    status_ = status;
    const Status sent = post_(ping("start"), testing::kPatience);
    ASSERT_FALSE(sent) << status;
    EXPECT_NE(sent.error().message.find(std::to_string(status)), std::string::npos);
    EXPECT_EQ(sent.error().message.find("hunter2"), std::string::npos) << sent.error().message;
  }
  status_ = 200;
  answer_ = std::string((std::size_t{64} << 10) + 1, 'x');
  EXPECT_FALSE(post_(ping("start"), testing::kPatience)) << "nobody needs an answer of that size";
  answer_.pop_back();
  EXPECT_TRUE(post_(ping("start"), testing::kPatience));
}

TEST_F(PingPostTest, NobodyThereIsSaidWithoutTheUrl) {
  rig_.stop();
  const Status sent = post_(ping("start"), testing::kPatience);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::unreachable);
  EXPECT_NE(sent.error().message.find("http://127.0.0.1:"), std::string::npos) << sent.error().message;
  EXPECT_EQ(sent.error().message.find("hunter2"), std::string::npos) << sent.error().message;
}

TEST(PingPostOverTls, ACertificateThatNobodyVouchesForGetsNothing) {
  testing::way_in() = testing::Way::tls;
  bool was_asked = false;
  const testing::ServerRig rig([&](const http::Request&, http::Reply reply) {
    was_asked = true;
    reply.send({200, "text/plain", {}, "OK"});
  });
  testing::way_in() = testing::Way::unix_socket;
  const testing::TemporaryDirectory directory;
  const Ping ping{
      .job = "a",
      .url = std::make_shared<const std::string>("https://localhost:" + std::to_string(rig.port()) + "/hunter2"),
      .signal = "start"};
  const Status sent = ping_posts(directory.path())()(ping, testing::kPatience);
  ASSERT_FALSE(sent);
  EXPECT_NE(sent.error().message.find("certificate"), std::string::npos) << sent.error().message;
  EXPECT_EQ(sent.error().message.find("hunter2"), std::string::npos) << sent.error().message;
  EXPECT_FALSE(was_asked);
}

}  // namespace
}  // namespace kron::daemon::ping_post_test
