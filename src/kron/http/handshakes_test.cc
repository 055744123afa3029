#include "kron/http/handshakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

namespace kron::http {
namespace {

using ::testing::ElementsAre;

class CountLog : public Log {
 public:
  void write(LogLevel, std::string_view, std::span<const LogField> fields) override {
    lines.push_back(std::string(std::get<std::string_view>(fields[0].value)) + " " +
                    std::to_string(std::get<std::int64_t>(fields[2].value)));
  }
  std::vector<std::string> lines;
};

// Nobody looks into them.
std::shared_ptr<Connection> client(int& number) {
  return {std::shared_ptr<void>(), reinterpret_cast<Connection*>(&number)};
}

TEST(Handshakes, OneTooManyCostsTheFirstOfTheAddressThatHasMost) {
  CountLog log;
  Handshakes handshakes(log);
  std::vector<int> numbers(Handshakes::kMost + 3);
  EXPECT_EQ(handshakes.add(client(numbers[0]), "10.0.0.1"), nullptr);
  for (std::size_t i = 1; i < Handshakes::kMost; ++i)
    EXPECT_EQ(handshakes.add(client(numbers[i]), "10.0.0.2"), nullptr);
  EXPECT_EQ(handshakes.add(client(numbers[64]), "10.0.0.3"), client(numbers[1])) << "not the very first";
  EXPECT_EQ(handshakes.remove(client(numbers[1])), "10.0.0.2");
  EXPECT_EQ(handshakes.remove(client(numbers[1])), "");
  EXPECT_EQ(handshakes.add(client(numbers[65]), "10.0.0.2"), client(numbers[2]));
  handshakes.remove(client(numbers[2]));
  handshakes.remove(client(numbers[3]));
  EXPECT_EQ(handshakes.add(client(numbers[66]), "10.0.0.2"), nullptr);
}

TEST(Handshakes, WhereAllHaveAsManyItIsTheOldestWhateverHisAddress) {
  CountLog log;
  Handshakes handshakes(log);
  std::vector<int> numbers(3 * Handshakes::kMost);
  const auto address = [](std::size_t i) { return "10.0.0." + std::to_string(250 - i); };
  for (std::size_t i = 0; i < Handshakes::kMost; ++i) {
    EXPECT_EQ(handshakes.add(client(numbers[i]), address(i)), nullptr);
  }
  // Each that comes has the smallest address of all.
  for (std::size_t i = Handshakes::kMost; i < numbers.size(); ++i) {
    const auto closed = handshakes.add(client(numbers[i]), address(i));
    EXPECT_EQ(closed, client(numbers[i - Handshakes::kMost])) << i;
    handshakes.remove(closed);
  }
}

TEST(Handshakes, OneWithANetworkOfIPv6IsOneClient) {
  CountLog log;
  Handshakes handshakes(log);
  std::vector<int> numbers(Handshakes::kMost + 1);
  EXPECT_EQ(handshakes.add(client(numbers[0]), "2001:db8:1:1::1"), nullptr);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(handshakes.add(client(numbers[i]), "10.0.0.1"), nullptr);
  for (std::size_t i = 3; i < Handshakes::kMost; ++i) {
    EXPECT_EQ(handshakes.add(client(numbers[i]), "2001:db8:1:2::" + std::to_string(i)), nullptr);
  }
  EXPECT_EQ(handshakes.add(client(numbers.back()), "2001:db8:1:3::1"), client(numbers[3]));
  EXPECT_EQ(handshakes.remove(client(numbers[3])), "2001:db8:1:2::3") << "the log tells the address";
}

TEST(Handshakes, FailuresAreOneLineASecond) {
  using std::chrono::milliseconds;
  CountLog log;
  Handshakes handshakes(log);
  Handshakes::TimePoint now{std::chrono::hours(1)};
  for (int i = 0; i < 1000; ++i) handshakes.failed("10.0.0.1", "no TLS", now);
  EXPECT_THAT(log.lines, ElementsAre("10.0.0.1 1"));
  handshakes.failed("10.0.0.2", "no TLS", now + milliseconds(999));
  handshakes.failed("10.0.0.3", "no TLS", now + milliseconds(1000));
  EXPECT_THAT(log.lines, ElementsAre("10.0.0.1 1", "10.0.0.3 1001"));
}

}  // namespace
}  // namespace kron::http
