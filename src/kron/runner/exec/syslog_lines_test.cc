#include "kron/runner/exec/syslog_lines.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::exec {
namespace {

class SyslogLinesTest : public ::testing::Test {
 protected:
  SyslogLinesTest() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(logger_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  std::vector<std::string> received() {
    std::vector<std::string> all;
    char text[4096];
    for (ssize_t size = ::recv(logger_.get(), text, sizeof text, MSG_DONTWAIT); size >= 0;
         size = ::recv(logger_.get(), text, sizeof text, MSG_DONTWAIT)) {
      all.emplace_back(text, static_cast<std::size_t>(size));
    }
    return all;
  }

  void append(const std::string& text) { lines_.append(text.data(), text.size()); }

  using Messages = std::vector<std::string>;
  runner::TemporaryDirectory directory_;
  std::string path_ = directory_.file("log");
  Descriptor logger_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  SyslogLines lines_;
};

TEST_F(SyslogLinesTest, EachLineIsAMessage) {
  lines_.open(path_.c_str(), "r1", 78);
  append("one\ntw");
  EXPECT_EQ(received(), Messages{"<78>kron[r1]: one"});
  append("o\n\nthree");
  lines_.finish();
  EXPECT_EQ(received(), (Messages{"<78>kron[r1]: two", "<78>kron[r1]: three"}));
}

TEST_F(SyslogLinesTest, ALongLineComesInParts) {
  lines_.open(path_.c_str(), "r1", 78);
  append(std::string(kMostLine, 'a') + "b\n" + std::string(kMostLine, 'c') + "\nd\n");
  EXPECT_EQ(received(), (Messages{"<78>kron[r1]: " + std::string(kMostLine, 'a'), "<78>kron[r1]: b",
                                  "<78>kron[r1]: " + std::string(kMostLine, 'c'), "<78>kron[r1]: d"}));
}

TEST_F(SyslogLinesTest, WithoutALoggerNothingIsWaitedFor) {
  lines_.open("/nonexistent/log", "r1", 78);
  append("one\ntwo\n");
  lines_.finish();
  EXPECT_TRUE(received().empty());
}

}  // namespace
}  // namespace kron::exec
