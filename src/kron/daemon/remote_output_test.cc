#include "kron/daemon/remote_output.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kron::daemon {
namespace {

using std::string_literals::operator""s;

RedisValue value_of(std::string text) { return {.kind = RedisValue::Kind::text, .text = std::move(text)}; }

// Has one run and its output, whose lines it gives a page at a time.
class OutputLink : public cluster::Link {
 public:
  void post(RedisCommand /*command*/, Urgency /*urgency*/, Answered /*answered*/) override {}
  bool is_up() const override { return true; }

  std::vector<cluster::TimedReply> ask(std::vector<RedisCommand> commands, Nanoseconds /*timeout*/) override {
    std::vector<cluster::TimedReply> replies;
    for (const RedisCommand& command : commands) replies.push_back({.reply = answer_to(command)});
    return replies;
  }

  RedisReply answer_to(const RedisCommand& command) const {
    if (is_away) return {.how = RedisReply::How::not_sent};
    if (command[0] == "HGET") return {.value = rundata.empty() ? RedisValue() : value_of(rundata)};
    if (command[0] == "TYPE") return {.value = value_of(kind)};
    RedisReply reply{.value = {.kind = RedisValue::Kind::array}};
    for (std::size_t i = std::stoul(command[2]); i <= std::stoul(command[3]) && i < lines.size(); ++i) {
      reply.value.items.push_back(value_of(lines[i]));
    }
    return reply;
  }

  std::string rundata = R"({"job_name":"j","host":"h","start_time":"1","status":"running"})";
  std::string kind = "zset";
  std::vector<std::string> lines;
  bool is_away = false;
};

Result<api::OtherHosts::Output> output_of(OutputLink& link, std::size_t first = 0) {
  return remote_output(link, cluster::Keys("{c}"), "r1", first);
}

TEST(RemoteOutput, LinesOfASortedSetGetTheirNewlines) {
  OutputLink link;
  link.lines = {"one", "", "one\0003"s};
  const auto output = output_of(link).value();
  EXPECT_EQ(output.text, "one\n\none\n");
  EXPECT_EQ(output.next, 3U);
  EXPECT_FALSE(output.has_more);
  EXPECT_FALSE(output.is_over);
}

TEST(RemoteOutput, LinesOfAListHaveThem) {
  OutputLink link;
  link.kind = "list";
  link.lines = {"one\n", "two"};
  EXPECT_EQ(output_of(link)->text, "one\ntwo");
}

TEST(RemoteOutput, ManyLinesComePageByPage) {
  OutputLink link;
  for (int i = 0; i < 1200; ++i) link.lines.push_back(std::to_string(i));
  std::string text;
  api::OtherHosts::Output output;
  do {
    output = output_of(link, output.next).value();
    text += output.text;
  } while (output.has_more);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1200);
  EXPECT_TRUE(text.ends_with("1199\n"));
}

TEST(RemoteOutput, SaysWhenTheRunIsOver) {
  OutputLink link;
  link.lines = {"one"};
  link.rundata = R"({"job_name":"j","host":"h","start_time":"1","status":"success","output":"one\n"})";
  EXPECT_TRUE(output_of(link)->is_over);
  link.rundata = "";
  EXPECT_TRUE(output_of(link)->is_over) << "a run that nobody remembers";
}

TEST(RemoteOutput, WhatWasNotWrittenYetWhatIsGoneAndWhatDoesNotAnswerAreThreeThings) {
  OutputLink link;
  link.kind = "none";
  EXPECT_EQ(output_of(link).value().text, "");
  EXPECT_FALSE(output_of(link)->is_over);
  link.rundata = R"({"job_name":"j","host":"h","start_time":"1","status":"success","output":""})";
  EXPECT_EQ(output_of(link).value().text, "") << "it has written nothing";
  link.rundata = R"({"job_name":"j","host":"h","start_time":"1","status":"success","output":"one\n"})";
  EXPECT_EQ(output_of(link).error().code, Code::not_found);
  link.is_away = true;
  EXPECT_EQ(output_of(link).error().code, Code::unreachable);
}

}  // namespace
}  // namespace kron::daemon
