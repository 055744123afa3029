#include "kron/daemon/web_front.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

#include "kron/core/sample_jobs.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"

namespace kron::daemon::web_front_test {
namespace {

bool ends(const WebFront& front) {
  pollfd look{.fd = front.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&look, 1, 30'000) == 1;
}

class WebFrontTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_{testing::utc("2026-03-01T00:00:00Z")};
  testing::CapturingLog log_;
};

TEST_F(WebFrontTest, OneThatEndsIsStartedAgainLaterEachTime) {
  WebFront front({.command = {"/bin/false"}}, clock_, log_);
  for (const int pause : {2, 4, 8, 16, 32, 60, 60}) {
    front.step();
    ASSERT_TRUE(ends(front));
    EXPECT_EQ(front.step(), clock_.monotonic() + Seconds(pause));
    EXPECT_EQ(front.descriptor(), -1);
    clock_.advance(Seconds(pause) - Nanoseconds(1));
    front.step();
    EXPECT_EQ(front.descriptor(), -1) << "not before its time";
    clock_.advance(Nanoseconds(1));
  }
  EXPECT_EQ(log_.lines_of("web_front_started").size(), 7U);
  EXPECT_EQ(log_.lines_of("web_front_ended").size(), 7U);
}

TEST_F(WebFrontTest, OneThatDoesNotLastIsInTroubleUntilItDoes) {
  WebFront short_lived({.command = {"/bin/false"}}, clock_, log_);
  EXPECT_EQ(short_lived.trouble(), "") << "it has not been started";
  short_lived.step();
  ASSERT_TRUE(ends(short_lived));
  EXPECT_EQ(short_lived.trouble(), "") << "nobody has looked";
  clock_.advance(Seconds(3));
  short_lived.step();
  const std::string trouble = "/bin/false ended 3s after its start, and is started again; krond's log has what it says";
  EXPECT_EQ(short_lived.trouble(), trouble);
  clock_.advance(Seconds(2));
  short_lived.step();
  ASSERT_NE(short_lived.descriptor(), -1);
  EXPECT_EQ(short_lived.trouble(), trouble) << "it has not lasted yet";
  clock_.advance(WebFront::kLasted - Nanoseconds(1));
  EXPECT_EQ(short_lived.trouble(), trouble);
  clock_.advance(Nanoseconds(1));
  EXPECT_EQ(short_lived.trouble(), "");
}

TEST_F(WebFrontTest, OneThatLastedIsStartedAgainSoon) {
  WebFront front({.command = {"/bin/sleep", "60"}}, clock_, log_);
  front.step();
  ASSERT_GT(front.pid(), 0);
  clock_.advance(WebFront::kLasted);
  ::kill(front.pid(), SIGKILL);
  ASSERT_TRUE(ends(front));
  EXPECT_EQ(front.step(), clock_.monotonic() + WebFront::kFirstPause);
}

TEST_F(WebFrontTest, OneThatIsStoppedEndsAndStaysSo) {
  WebFront front({.command = {"/bin/sleep", "600"}}, clock_, log_);
  front.step();
  const pid_t pid = front.pid();
  front.stop();
  for (int i = 0; i < 3000 && ::kill(pid, 0) == 0; ++i) {
    ::waitpid(pid, nullptr, WNOHANG);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(::kill(pid, 0), 0);
  front.step();
  EXPECT_EQ(front.descriptor(), -1);
}

TEST_F(WebFrontTest, OneThatIsReloadedBeforeItListensIsToldThenAndLives) {
  const std::string path = ::testing::TempDir() + "kron-web-front-told-" + std::to_string(::getpid());
  std::filesystem::remove(path);
  WebFront front({.command = {"/usr/bin/python3", "-c",
                              "import signal; signal.sigwait([signal.SIGHUP]); open('" + path + "', 'w').close()"}},
                 clock_, log_);
  front.reload();
  front.step();
  front.reload();
  ASSERT_TRUE(ends(front));
  EXPECT_TRUE(std::filesystem::remove(path)) << "it ended by the signal";
}

TEST_F(WebFrontTest, ItGainsNoPrivilegeAndIsAnotherUserWhereThatMayBe) {
  const std::string path = ::testing::TempDir() + "kron-web-front-" + std::to_string(::getpid());
  const bool is_root = ::geteuid() == 0;
  const std::string script = "cat /proc/self/status > " + path + ".new; mv " + path + ".new " + path;
  std::ofstream(path).close();
  std::filesystem::permissions(::testing::TempDir(), std::filesystem::perms::all, std::filesystem::perm_options::add);
  std::filesystem::remove(path);
  WebFront::Options options{.command = {"/bin/sh", "-c", script}};
  if (is_root) options.user = 65534;
  WebFront front(options, clock_, log_);
  front.step();
  ASSERT_TRUE(ends(front));
  std::ifstream file(path);
  const std::string status(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(status, ::testing::HasSubstr("NoNewPrivs:\t1"));
  std::filesystem::remove(path);
  if (!is_root) return;
  EXPECT_THAT(status, ::testing::HasSubstr("Uid:\t65534\t65534\t65534\t65534"));
  EXPECT_THAT(status, ::testing::HasSubstr("Groups:\t \n"));
}

TEST(WebFront, KnowsWhetherItMayChangeItsUser) {
  EXPECT_TRUE(may_change_user("Name:\tx\nCapEff:\t000001ffffffffff\n"));
  EXPECT_TRUE(may_change_user("CapEff:\t00000000000000c0\n"));
  EXPECT_FALSE(may_change_user("CapEff:\t0000000000000080\n"));
  EXPECT_FALSE(may_change_user("CapEff:\t0000000000000000\n"));
  EXPECT_FALSE(may_change_user(""));
}

TEST(WebFront, FindsTheProgramBesideKrond) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / ("kron-find-" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory / "sbin");
  std::filesystem::create_directories(directory / "bin");
  const std::string krond = (directory / "sbin" / "krond").string();
  EXPECT_EQ(find_kron(krond).error().code, Code::not_found);
  std::ofstream(directory / "bin" / "kron").close();
  std::filesystem::permissions(directory / "bin" / "kron", std::filesystem::perms::owner_all);
  EXPECT_EQ(find_kron(krond).value(), (directory / "sbin").string() + "/../bin/kron");
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace kron::daemon::web_front_test
