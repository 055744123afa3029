#include "kron/log/log_output.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <termios.h>

#include "kron/testing/golden.h"
#include "kron/testing/temporary_directory.h"

namespace kron {
namespace {

constexpr std::size_t kMoreThanAnythingHolds = 64 << 20;

// Everything the descriptor takes before it would wait; ends by itself, or the time limit of the test ends it.
std::string fill(LogOutput& output) {
  const std::string line = "a line of the log that ends here\n";
  std::string all;
  while (all.size() < kMoreThanAnythingHolds) {
    const std::optional<std::size_t> taken = output.write(line);
    if (!taken || *taken == 0) break;
    all += line.substr(0, *taken);
  }
  return all;
}

std::string read_all(int descriptor) {
  ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  std::string all;
  char bytes[4096];
  for (ssize_t size = ::read(descriptor, bytes, sizeof bytes); size > 0;
       size = ::read(descriptor, bytes, sizeof bytes)) {
    all.append(bytes, static_cast<std::size_t>(size));
  }
  return all;
}

struct Ends {
  Descriptor read;
  Descriptor write;
};

Ends blocking_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Ends blocking_sockets() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Ends blocking_terminal() {
  Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_EQ(::grantpt(master.get()), 0);
  EXPECT_EQ(::unlockpt(master.get()), 0);
  Descriptor slave(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios mode{};
  EXPECT_EQ(::tcgetattr(slave.get(), &mode), 0);
  mode.c_oflag = 0;
  EXPECT_EQ(::tcsetattr(slave.get(), TCSANOW, &mode), 0);
  return {std::move(master), std::move(slave)};
}

void expect_never_waits(const Ends& ends) {
  const int flags = ::fcntl(ends.write.get(), F_GETFL);
  LogOutput output(ends.write.get());
  const std::string taken = fill(output);
  EXPECT_GT(taken.size(), 100U);
  EXPECT_LT(taken.size(), kMoreThanAnythingHolds);
  EXPECT_FALSE(output.wait(Nanoseconds(0)));
  EXPECT_EQ(read_all(ends.read.get()), taken);
  EXPECT_TRUE(output.wait(Seconds(60)));
  EXPECT_EQ(output.write("again\n"), 6U);
  EXPECT_EQ(read_all(ends.read.get()), "again\n");
  EXPECT_EQ(::fcntl(ends.write.get(), F_GETFL), flags) << "they are those of everybody who shares it";
}

TEST(LogOutput, NeverWaitsForAPipe) { expect_never_waits(blocking_pipe()); }
TEST(LogOutput, NeverWaitsForASocket) { expect_never_waits(blocking_sockets()); }
TEST(LogOutput, NeverWaitsForATerminal) { expect_never_waits(blocking_terminal()); }

TEST(LogOutput, TakesWhatFitsOfALongText) {
  const Ends ends = blocking_pipe();
  LogOutput output(ends.write.get());
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) text += std::to_string(i) + "\n";
  std::string read;
  for (std::string_view rest = text; !rest.empty();) {
    const std::optional<std::size_t> taken = output.write(rest);
    ASSERT_TRUE(taken);
    rest.remove_prefix(*taken);
    read += read_all(ends.read.get());
  }
  EXPECT_EQ(read, text);
}

TEST(LogOutput, WritesToAFileAtOnce) {
  const testing::TemporaryDirectory directory;
  const Descriptor file(::open(directory.file("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  LogOutput output(file.get());
  EXPECT_EQ(output.write("a line\n"), 7U);
  EXPECT_EQ(testing::read_file(directory.file("log")), "a line\n");
}

TEST(LogOutput, SaysWhenNothingCanBeWritten) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  for (const auto& make : {blocking_pipe, blocking_sockets}) {
    Ends ends = make();
    LogOutput output(ends.write.get());
    ends.read = Descriptor();
    EXPECT_EQ(output.write("a line\n"), std::nullopt);
    EXPECT_EQ(errno, EPIPE);
  }
  std::signal(SIGPIPE, before);
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(LogOutput(full.get()).write("a line\n"), std::nullopt);
}

}  // namespace
}  // namespace kron
