#include "kron/daemon/outcome_tail.h"

#include <deque>
#include <fstream>
#include <future>
#include <gtest/gtest.h>

#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/testing/temporary_directory.h"

namespace kron::daemon {
namespace {

constexpr char kStartOfRun[] =
    R"({"job":"a","outcome":"executed","trigger":"schedule","runId":"r1","host":"h1","state":"running"})";
constexpr char kEndOfRun[] =
    R"({"job":"a","outcome":"executed","runId":"r1","host":"h1","state":"ended","exitCode":4})";

RedisValue text_value(std::string text) { return {.kind = RedisValue::Kind::text, .text = std::move(text)}; }
RedisValue list_value(std::vector<RedisValue> items) {
  return {.kind = RedisValue::Kind::array, .items = std::move(items)};
}

// A stream, and a link that answers when it is told to.
class StreamLink : public cluster::Link {
 public:
  void post(RedisCommand command, Urgency /*urgency*/, Answered answered) override {
    asked.push_back({std::move(command), std::move(answered)});
  }
  std::vector<cluster::TimedReply> ask(std::vector<RedisCommand> /*commands*/, Nanoseconds /*timeout*/) override {
    return {};
  }
  bool is_up() const override { return up; }

  void answer_all() {
    while (!asked.empty()) {
      auto [command, answered] = std::move(asked.front());
      asked.pop_front();
      answered({.reply = answer_to(command)});
    }
  }

  RedisReply answer_to(const RedisCommand& command) const {
    if (!broken.empty()) return {.how = RedisReply::How::error, .why = broken};
    if (command.front() == "XRANGE") return {.value = entries(stream.begin(), 1)};
    auto begin = stream.begin();
    while (begin != stream.end() && begin->first <= command.back()) ++begin;
    if (begin == stream.end()) return {};
    const auto count = std::stoul(command[2]);
    return {.value = list_value({list_value({text_value(command[4]), entries(begin, count)})})};
  }

  using Stream = std::map<std::string, std::string>;  // ids of one length
  RedisValue entries(Stream::const_iterator from, std::size_t most) const {
    RedisValue all = list_value({});
    for (; from != stream.end() && all.items.size() < most; ++from) {
      all.items.push_back(
          list_value({text_value(from->first), list_value({text_value("o"), text_value(from->second)})}));
    }
    return all;
  }

  Stream stream;
  std::string broken;
  bool up = true;
  std::deque<std::pair<RedisCommand, Answered>> asked;
};

class OutcomeTailTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = history::History::open(directory_.path(), {}, clock_, log_);
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = *std::move(opened);
  }

  std::unique_ptr<OutcomeTail> tail() {
    OutcomeTail::World world{.link = link_,
                             .clock = clock_,
                             .log = log_,
                             .history = *history_,
                             .aside =
                                 [this](std::function<void()> work) {
                                   aside_.push_back(std::move(work));
                                   return true;
                                 },
                             .on_news = [this](const history::Entry& entry) { news_.push_back(entry.run_id); }};
    return std::make_unique<OutcomeTail>(std::move(world), "{c}:kron:outcomes", directory_.path());
  }

  void answer_all() {
    link_.answer_all();
    for (const auto& work : std::exchange(aside_, {})) work();
  }

  void pass_a_second(OutcomeTail& tail) {
    clock_.advance(Seconds(1));
    tail.step();
    answer_all();
  }

  std::optional<history::Entry> run(const std::string& id) {
    std::promise<std::optional<history::Entry>> answer;
    history_->get(id, [&](auto found) { answer.set_value(found.value_or(std::nullopt)); });
    return answer.get_future().get();
  }

  testing::TemporaryDirectory directory_;
  testing::FakeClock clock_{instant_of(1'772'409'700)};
  testing::CapturingLog log_;
  StreamLink link_;
  std::vector<std::function<void()>> aside_;
  std::vector<std::string> news_;
  std::unique_ptr<history::History> history_;
};

TEST_F(OutcomeTailTest, WhatOtherHostsDidComesIntoTheHistory) {
  const auto tail = this->tail();
  link_.stream["1772409600000-0"] = kStartOfRun;
  pass_a_second(*tail);
  EXPECT_EQ(result_of(run("r1").value()), history::RunResult::running);
  link_.stream["1772409605000-0"] = kEndOfRun;
  pass_a_second(*tail);
  EXPECT_EQ(run("r1")->exit_code, 4);
  EXPECT_EQ(run("r1")->host, "h1");
}

TEST_F(OutcomeTailTest, WhatWasToldBeforeThisDaemonIsNoNews) {
  const auto tail = this->tail();
  link_.stream["1772409600000-0"] = kStartOfRun;
  pass_a_second(*tail);
  EXPECT_TRUE(news_.empty());
  link_.stream["1772409605000-0"] = kEndOfRun;
  pass_a_second(*tail);
  EXPECT_EQ(news_, std::vector<std::string>{"r1"});
}

TEST_F(OutcomeTailTest, TheNextDaemonGoesOnFromWhatIsOnDisk) {
  auto first = tail();
  link_.stream["1772409600000-0"] = kStartOfRun;
  pass_a_second(*first);
  history_->flush();
  EXPECT_EQ(first->position(), "1772409600000-0");
  first.reset();
  const auto second = tail();
  EXPECT_EQ(second->position(), "1772409600000-0");
  clock_.advance(Seconds(1));
  second->step();
  ASSERT_EQ(link_.asked.size(), 1U);
  EXPECT_EQ(link_.asked.front().first.front(), "XRANGE") << "is there a gap?";
  answer_all();
  second->step();
  ASSERT_EQ(link_.asked.size(), 1U);
  EXPECT_EQ(link_.asked.front().first.back(), "1772409600000-0");
  answer_all();
  EXPECT_FALSE(!log_.lines_of("gap").empty());
}

TEST_F(OutcomeTailTest, WhatWasTrimmedMeanwhileIsToldAsAGap) {
  std::ofstream(directory_.path() + "/history/outcomes-read") << "1772409600000-0\n";
  const auto tail = this->tail();
  link_.stream["1772409700000-0"] = kStartOfRun;
  pass_a_second(*tail);
  EXPECT_TRUE(!log_.lines_of("gap").empty());
  pass_a_second(*tail);
  EXPECT_TRUE(run("r1"));
}

TEST_F(OutcomeTailTest, AsksForNothingWhileItWaitsOrTheLinkIsDown) {
  const auto tail = this->tail();
  link_.up = false;
  clock_.advance(Seconds(1));
  tail->step();
  EXPECT_TRUE(link_.asked.empty());
  link_.up = true;
  for (int i = 0; i < 3; ++i) {
    clock_.advance(Seconds(1));
    tail->step();
  }
  EXPECT_EQ(link_.asked.size(), 1U);
}

TEST_F(OutcomeTailTest, ALongStreamIsReadPageByPageWithoutPauses) {
  const auto tail = this->tail();
  for (int i = 0; i < 1200; ++i) {
    const std::string number = std::to_string(1000 + i);
    link_.stream["177240960" + number + "-0"] =
        R"({"job":"a","outcome":"executed","runId":"run)" + number + R"(","host":"h1","state":"ended","exitCode":0})";
  }
  clock_.advance(Seconds(1));
  for (int i = 0; i < 3; ++i) {
    tail->step();
    answer_all();
  }
  EXPECT_TRUE(run("run2199"));
}

TEST_F(OutcomeTailTest, JunkAndErrorsAreSurvivedAndSaid) {
  const auto tail = this->tail();
  link_.stream["1772409600000-0"] = "junk";
  link_.stream["1772409600001-0"] = kStartOfRun;
  pass_a_second(*tail);
  EXPECT_TRUE(run("r1"));
  EXPECT_TRUE(!log_.lines_of("outcomes_unreadable").empty());
  link_.broken = "NOPERM";
  pass_a_second(*tail);
  link_.broken.clear();
  link_.stream["1772409605000-0"] = kEndOfRun;
  pass_a_second(*tail);
  EXPECT_EQ(run("r1")->exit_code, 4);
}

TEST_F(OutcomeTailTest, AnAnswerAfterTheStopIsNotTaken) {
  auto tail = this->tail();
  link_.stream["1772409600000-0"] = kStartOfRun;
  clock_.advance(Seconds(1));
  tail->step();
  tail.reset();
  answer_all();
  EXPECT_FALSE(run("r1"));
}

}  // namespace
}  // namespace kron::daemon
