#include "kron/api/event_hub.h"

#include <deque>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

#include "kron/http/backlog.h"
#include "kron/http/limits.h"

namespace kron::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Reader {
  std::shared_ptr<http::Backlog> backlog;
  std::shared_ptr<http::Stream> stream;

  explicit Reader(std::size_t limit = 1 << 20)
      : backlog(std::make_shared<http::Backlog>(limit, [] {})), stream(std::make_shared<http::Stream>(backlog)) {}

  std::string read() {
    const auto batch = backlog->take();
    backlog->sent();
    return batch.bytes;
  }
};

TEST(EventHub, SendsEachEventWithAnIdToEveryReader) {
  EventHub hub(100);
  Reader first, second;
  hub.publish("before", "{}");
  hub.subscribe(first.stream, std::nullopt);
  hub.subscribe(second.stream, std::nullopt);
  hub.publish("run_started", R"({"runId":"a"})");
  const std::string text = first.read();
  EXPECT_THAT(text, HasSubstr("id: 101\nevent: run_started\ndata: {\"runId\":\"a\"}\n\n"));
  EXPECT_THAT(text, Not(HasSubstr("before")));
  EXPECT_EQ(text, second.read());
}

TEST(EventHub, WhoWantsThemBriefGetsTheSameEventsWithoutTheirDecisions) {
  EventHub hub(100);
  Reader full, brief;
  hub.publish("run_started", R"({"runId":"a","decision":{"x":1}})");
  hub.subscribe(full.stream, 99);
  hub.subscribe(brief.stream, 99, EventHub::Form::brief);
  hub.publish("run_started", R"({"runId":"b","decision":{"x":2}})");
  EXPECT_THAT(full.read(), AllOf(HasSubstr(R"("decision":{"x":1}})"), HasSubstr(R"("decision":{"x":2}})")));
  EXPECT_THAT(brief.read(), AllOf(HasSubstr("id: 100\nevent: run_started\ndata: {\"runId\":\"a\"}\n\n"),
                                  HasSubstr("id: 101\nevent: run_started\ndata: {\"runId\":\"b\"}\n\n")));
}

TEST(EventHub, ABeatIsACommentForAllReaders) {
  EventHub hub(100);
  std::deque<std::function<void()>> tasks;
  hub.deliver_by([&](std::function<void()> task) { tasks.push_back(std::move(task)); });
  hub.beat();
  EXPECT_TRUE(tasks.empty()) << "nobody listens";
  Reader reader;
  hub.subscribe(reader.stream, std::nullopt);
  reader.read();
  hub.beat();
  ASSERT_EQ(tasks.size(), 1U);
  tasks.front()();
  EXPECT_EQ(reader.read(), ":\n\n");
}

TEST(EventHub, GoesOnBehindTheLastIdThatAReaderSaw) {
  EventHub hub(100);
  for (const char* name : {"a", "b", "c"}) hub.publish(name, "{}");
  Reader reader;
  hub.subscribe(reader.stream, 100);
  const std::string text = reader.read();
  EXPECT_THAT(text, Not(HasSubstr("event: a\n")));
  EXPECT_THAT(text, HasSubstr("id: 101\nevent: b\n"));
  EXPECT_THAT(text, HasSubstr("id: 102\nevent: c\n"));
  EXPECT_THAT(text, Not(HasSubstr("gap")));
}

TEST(EventHub, SaysWhenSomethingBehindTheLastIdIsNotKept) {
  EventHub hub(100, 2 * std::string_view("id: 100\nevent: a\ndata: {}\n\n").size());
  for (const char* name : {"a", "b", "c", "d"}) hub.publish(name, "{}");
  Reader behind, up_to_date, of_an_earlier_daemon;
  hub.subscribe(behind.stream, 100);
  EXPECT_THAT(behind.read(), HasSubstr("event: gap\n"));
  hub.subscribe(up_to_date.stream, 103);
  EXPECT_THAT(up_to_date.read(), Not(HasSubstr("event:")));
  hub.subscribe(of_an_earlier_daemon.stream, 7);
  EXPECT_THAT(of_an_earlier_daemon.read(), HasSubstr("event: gap\n"));
}

TEST(EventHub, OneWhoAsksForEverythingMissesNothingWhenEverythingIsKept) {
  EventHub hub(100);
  Reader before, after;
  hub.subscribe(before.stream, 0);
  EXPECT_THAT(before.read(), Not(HasSubstr("gap")));
  hub.publish("a", "{}");
  hub.subscribe(after.stream, 0);
  EXPECT_THAT(after.read(), AllOf(Not(HasSubstr("gap")), HasSubstr("id: 100\nevent: a\n")));
}

TEST(EventHub, AnIdOfAnotherDaemonGetsEverythingAndIsToldThatItIsSo) {
  EventHub hub(100);
  hub.publish("a", "{}");
  for (const std::uint64_t id : {7, 98, 101, 5000}) {
    Reader reader;
    hub.subscribe(reader.stream, id);
    const std::string text = reader.read();
    EXPECT_THAT(text,
                HasSubstr("event: gap\ndata: {\"event\":\"gap\",\"reason\":\"restarted\"}\n\nid: 100\nevent: a\n"))
        << id;
  }
}

TEST(EventHub, TheLastIdIsWhereAReaderGoesOnWhoHasSeenNothing) {
  EventHub hub(100);
  EXPECT_EQ(hub.last_id(), 99U);
  const std::uint64_t last = hub.last_id();
  hub.publish("a", "{}");
  EXPECT_EQ(hub.last_id(), 100U);
  Reader reader;
  hub.subscribe(reader.stream, last);
  EXPECT_THAT(reader.read(), AllOf(Not(HasSubstr("gap")), HasSubstr("event: a\n")));
}

TEST(EventHub, EndsBehindWhatWasPublished) {
  EventHub hub(1);
  Reader reader;
  hub.subscribe(reader.stream, std::nullopt);
  reader.read();
  std::deque<std::function<void()>> tasks;
  hub.deliver_by([&](std::function<void()> task) { tasks.push_back(std::move(task)); });
  hub.publish("last", "{}");
  hub.end();
  for (const auto& task : tasks) task();
  const auto batch = reader.backlog->take();
  EXPECT_THAT(batch.bytes, HasSubstr("event: last\n"));
  EXPECT_TRUE(batch.is_last);
  EXPECT_EQ(hub.streams(), 0U);
}

TEST(EventHub, AReaderWhoMissedEverythingIsNotCutOffByWhatIsKept) {
  EventHub hub(1);
  const std::string json = "{\"text\":\"" + std::string(900, 'x') + "\"}";
  for (int i = 0; i < 10'000; ++i) hub.publish("event", json);
  Reader reader(http::Limits{}.stream_backlog);
  hub.subscribe(reader.stream, 0);
  EXPECT_EQ(hub.streams(), 1U);
  const std::string text = reader.read();
  EXPECT_THAT(text, HasSubstr("event: gap\n"));
  EXPECT_THAT(text, HasSubstr("id: 10000\n"));
}

TEST(EventHub, SendsNothingToAReaderWhoHasLeft) {
  EventHub hub(1);
  Reader reader;
  hub.subscribe(reader.stream, std::nullopt);
  hub.leave(reader.stream);
  EXPECT_EQ(hub.streams(), 0U);
  reader.read();
  hub.publish("event", "{}");
  EXPECT_EQ(reader.read(), "");
}

// Does what was posted when it is told to.
struct Later {
  std::deque<std::function<void()>> tasks;

  EventHub::Post post() {
    return [this](std::function<void()> task) { tasks.push_back(std::move(task)); };
  }
  void work_off() {
    for (auto& task : std::exchange(tasks, {})) task();
  }
};

TEST(EventHub, WhoPublishesLeavesTheSendingToAnother) {
  EventHub hub(100);
  Later later;
  hub.deliver_by(later.post());
  hub.publish("nobody watches", "{}");
  EXPECT_TRUE(later.tasks.empty());
  Reader first, second;
  hub.subscribe(first.stream, std::nullopt);
  hub.publish("a", "{}");
  hub.subscribe(second.stream, 100);  // gets "a" at once, and not again
  hub.publish("b", "{}");
  EXPECT_EQ(later.tasks.size(), 1U);
  EXPECT_EQ(first.read(), ": krond\n\n");
  EXPECT_EQ(second.read(), "id: 101\nevent: a\ndata: {}\n\n: krond\n\n");
  later.work_off();
  EXPECT_EQ(first.read(), "id: 101\nevent: a\ndata: {}\n\nid: 102\nevent: b\ndata: {}\n\n");
  EXPECT_EQ(second.read(), "id: 102\nevent: b\ndata: {}\n\n");
  hub.publish("c", "{}");
  EXPECT_EQ(later.tasks.size(), 1U);
}

TEST(EventHub, SendsOnAfterAllReadersHadLeftForAWhile) {
  EventHub hub(1);
  Later later;
  hub.deliver_by(later.post());
  Reader first, second;
  hub.subscribe(first.stream, std::nullopt);
  hub.publish("a", "{}");
  hub.leave(first.stream);
  later.work_off();
  hub.subscribe(second.stream, std::nullopt);
  hub.publish("b", "{}");
  later.work_off();
  EXPECT_THAT(second.read(), HasSubstr("event: b\n"));
}

// The server's thread may find out that a reader is gone while it sends to it.
TEST(EventHub, AReaderMayLeaveWhileItIsSentSomething) {
  EventHub hub(1);
  std::shared_ptr<http::Stream> stream;
  bool leaves = false;
  const auto backlog = std::make_shared<http::Backlog>(1 << 20, [&] {
    if (leaves) hub.leave(stream);
  });
  stream = std::make_shared<http::Stream>(backlog);
  hub.subscribe(stream, std::nullopt);
  backlog->take();
  leaves = true;
  hub.publish("event", "{}");
  EXPECT_EQ(hub.streams(), 0U);
  backlog->take();
  hub.subscribe(stream, std::nullopt);
  EXPECT_EQ(hub.streams(), 0U);
}

TEST(EventHub, TellsAReaderOfWhatWasNotKeptUntilItsTurn) {
  EventHub hub(100, std::string_view("id: 100\nevent: a\ndata: {}\n\n").size());
  Later later;
  hub.deliver_by(later.post());
  Reader reader;
  hub.subscribe(reader.stream, std::nullopt);
  for (const char* name : {"a", "b"}) hub.publish(name, "{}");
  later.work_off();
  const std::string text = reader.read();
  EXPECT_THAT(text, HasSubstr("event: gap\n"));
  EXPECT_THAT(text, HasSubstr("event: b\n"));
}

TEST(EventHub, LetsGoOfAReaderWhoIsGoneOrTooSlow) {
  EventHub hub(1);
  Reader gone, slow(200), quick;
  for (const Reader* reader : {&gone, &slow, &quick}) hub.subscribe(reader->stream, std::nullopt);
  EXPECT_EQ(hub.streams(), 3U);
  gone.backlog->close();
  for (int i = 0; i < 20; ++i) hub.publish("event", R"({"text":"as long as a line"})");
  EXPECT_EQ(hub.streams(), 1U);
  EXPECT_TRUE(slow.backlog->is_cut());
  EXPECT_THAT(quick.read(), HasSubstr("id: 20\n"));
}

}  // namespace
}  // namespace kron::api
