#include "kron/daemon/remote_output.h"

#include <gtest/gtest.h>

namespace kron::daemon {
namespace {

using std::string_literals::operator""s;

RedisValue value_of(std::string text) { return {.kind = RedisValue::Kind::text, .text = std::move(text)}; }

// Has one key, whose lines it gives a page at a time.
class OutputLink : public cluster::Link {
 public:
  void post(RedisCommand /*command*/, Urgency /*urgency*/, Answered /*answered*/) override {}
  bool is_up() const override { return true; }

  std::vector<cluster::TimedReply> ask(std::vector<RedisCommand> commands, Nanoseconds /*timeout*/) override {
    if (is_away) return {{.reply = {.how = RedisReply::How::not_sent}}};
    const RedisCommand& command = commands.front();
    if (command[0] == "TYPE") return {{.reply = {.value = value_of(kind)}}};
    RedisReply reply{.value = {.kind = RedisValue::Kind::array}};
    for (std::size_t i = std::stoul(command[2]); i <= std::stoul(command[3]) && i < lines.size(); ++i) {
      reply.value.items.push_back(value_of(lines[i]));
    }
    return {{.reply = reply}};
  }

  std::string kind = "zset";
  std::vector<std::string> lines;
  bool is_away = false;
};

TEST(RemoteOutput, ALineLosesOnlyTheNumberThatTellsItFromOthers) {
  EXPECT_EQ(line_of_member("plain"), "plain");
  EXPECT_EQ(line_of_member("again\0"
                           "12"s),
            "again");
  EXPECT_EQ(line_of_member("own\0"
                           "7\0"
                           "12"s),
            "own\0"
            "7"s);
  EXPECT_EQ(line_of_member("no number\0"s), "no number\0"s);
  EXPECT_EQ(line_of_member("no number\0"
                           "1x"s),
            "no number\0"
            "1x"s);
  EXPECT_EQ(line_of_member(""), "");
}

TEST(RemoteOutput, LinesOfASortedSetGetTheirNewlines) {
  OutputLink link;
  link.lines = {"one", "",
                "one\0"
                "3"s};
  EXPECT_EQ(remote_output(link, cluster::Keys("{c}"), "r1").value(), "one\n\none\n");
}

TEST(RemoteOutput, LinesOfAListHaveThem) {
  OutputLink link;
  link.kind = "list";
  link.lines = {"one\n", "two"};
  EXPECT_EQ(remote_output(link, cluster::Keys("{c}"), "r1").value(), "one\ntwo");
}

TEST(RemoteOutput, ManyLinesComePageByPage) {
  OutputLink link;
  for (int i = 0; i < 12'000; ++i) link.lines.push_back(std::to_string(i));
  const std::string text = remote_output(link, cluster::Keys("{c}"), "r1").value();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12'000);
  EXPECT_TRUE(text.ends_with("11999\n"));
}

TEST(RemoteOutput, WhatIsNotThereAndWhatDoesNotAnswerAreTwoThings) {
  OutputLink link;
  link.kind = "none";
  EXPECT_EQ(remote_output(link, cluster::Keys("{c}"), "r1").error().code, Code::not_found);
  link.is_away = true;
  EXPECT_EQ(remote_output(link, cluster::Keys("{c}"), "r1").error().code, Code::unreachable);
}

}  // namespace
}  // namespace kron::daemon
