#include "kron/api/event_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/http/backlog.h"
#include "kron/http/limits.h"

namespace kron::api {
namespace {

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
