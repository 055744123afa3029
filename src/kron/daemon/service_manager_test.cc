#include "kron/daemon/service_manager.h"

#include <cstddef>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kron/env/descriptor.h"

namespace kron::daemon {
namespace {

class ServiceManagerOnASocket : public ::testing::Test {
 protected:
  ServiceManagerOnASocket() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name_ = "@kron-test-" + std::to_string(::getpid());
    name_.copy(address.sun_path, name_.size());
    address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  std::string heard() const {
    char bytes[512];
    const ssize_t size = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    return size < 0 ? "nothing" : std::string(bytes, static_cast<std::size_t>(size));
  }

  Descriptor socket_;
  std::string name_;
};

TEST_F(ServiceManagerOnASocket, HearsOfEveryStepOfTheDaemonsLife) {
  ServiceManager manager(name_, std::nullopt);
  manager.ready("3 jobs");
  EXPECT_EQ(heard(), "READY=1\nSTATUS=3 jobs");
  manager.reloading(std::chrono::milliseconds(5));
  EXPECT_EQ(heard(), "RELOADING=1\nMONOTONIC_USEC=5000");
  manager.alive();
  EXPECT_EQ(heard(), "WATCHDOG=1");
  manager.stopping();
  EXPECT_EQ(heard(), "STOPPING=1");
}

TEST_F(ServiceManagerOnASocket, HearsAStatusOnce) {
  ServiceManager manager(name_, std::nullopt);
  manager.status("idle");
  manager.status("idle");
  EXPECT_EQ(heard(), "STATUS=idle");
  EXPECT_EQ(heard(), "nothing");
}

TEST_F(ServiceManagerOnASocket, IsToldTwiceAsOftenAsItsWatchdogAsks) {
  EXPECT_EQ(ServiceManager(name_, Seconds(10)).alive_every(), Nanoseconds(Seconds(5)));
  EXPECT_EQ(ServiceManager(name_, std::nullopt).alive_every(), std::nullopt);
}

TEST(ServiceManager, IsNobodyWithoutASocket) {
  ServiceManager manager("", Seconds(10));
  EXPECT_FALSE(manager.listens());
  EXPECT_EQ(manager.alive_every(), std::nullopt);
  manager.ready("fine");
  EXPECT_FALSE(ServiceManager("relative/path", std::nullopt).listens());
  EXPECT_FALSE(ServiceManager("/" + std::string(200, 'x'), std::nullopt).listens());
}

TEST(ServiceManager, ReadsItsEnvironment) {
  ::setenv("NOTIFY_SOCKET", "/run/none", 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  ::unsetenv("WATCHDOG_PID");
  EXPECT_EQ(ServiceManager::from_environment().alive_every(), Nanoseconds(std::chrono::milliseconds(1500)));
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceManager::from_environment().alive_every(), std::nullopt);
  for (const char* variable : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(variable);
  EXPECT_FALSE(ServiceManager::from_environment().listens());
}

}  // namespace
}  // namespace kron::daemon
