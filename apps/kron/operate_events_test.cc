#include <gtest/gtest.h>

#include "event_stream.h"
#include "fake_krond.h"
#include "kron/testing/property.h"
#include "operate_verbs.h"

// `kron events`, and the taking apart of a text/event-stream.
namespace kron::cli {
namespace {

// "id|name|data" of each.
std::vector<std::string> events_in(const std::vector<std::string>& pieces, std::size_t most = 1000) {
  std::vector<std::string> events;
  EventStream stream([&](const StreamedEvent& event) {
    events.push_back(event.id + "|" + event.name + "|" + event.data);
    return events.size() < most;
  });
  for (const std::string& piece : pieces) {
    if (!stream.take(piece)) break;
  }
  return events;
}

TEST(EventStream, TakesEventsApart) {
  EXPECT_THAT(events_in({"id: 1\nevent: run_ended\ndata: {}\n\n"}), ElementsAre("1|run_ended|{}"));
  EXPECT_THAT(events_in({"id:1\r\nevent:x\r\ndata:y\r\n\r\n"}), ElementsAre("1|x|y")) << "no space, CRLF";
  EXPECT_THAT(events_in({"data: a\ndata: b\ndata\n\n"}), ElementsAre("||a\nb\n")) << "several lines of data";
  EXPECT_THAT(events_in({"data:  two spaces\n\n"}), ElementsAre("|| two spaces")) << "only one belongs to the field";
}

TEST(EventStream, KeepsTheIdButNotTheNameForTheNextOne) {
  EXPECT_THAT(events_in({"id: 1\nevent: x\ndata: a\n\ndata: b\n\n"}), ElementsAre("1|x|a", "1||b"));
}

TEST(EventStream, PassesOverCommentsEmptyEventsAndFieldsNobodyKnows) {
  EXPECT_THAT(events_in({": keep-alive\n\n\n\nretry: 5\nevent: x\n\nunknown: y\ndata: z\n\n"}), ElementsAre("||z"))
      << "one without data is none, and leaves no name behind";
  EXPECT_THAT(events_in({"data: never ended"}), IsEmpty());
  EXPECT_THAT(events_in({"data: never ended\n"}), IsEmpty());
}

TEST(EventStream, EndsWhenItsReaderHasEnough) {
  EXPECT_THAT(events_in({"data: a\n\ndata: b\n\n", "data: c\n\n"}, 1), ElementsAre("||a"));
}

TEST(EventStream, IsTheSameInWhateverPiecesItComes) {
  testing::for_all(50, [] {
    const std::string text = "id: 1\r\nevent: x\ndata: a\n: c\ndata: b\n\nid: 22\ndata: {\"k\":1}\n\ndata\n\n";
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const auto size = static_cast<std::size_t>(*rc::gen::inRange(1, 10));
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    RC_ASSERT(events_in(pieces) == events_in({text}));
  });
}

constexpr char kStarted[] =
    "id: 8\nevent: run_started\ndata: {\"ts\":\"2026-03-01T00:00:00Z\",\"level\":\"info\",\"event\":\"run_started\","
    "\"job\":\"a b\",\"pid\":7,\"list\":[1,2]}\n\n";
constexpr char kEndedEvent[] =
    "id: 9\nevent: run_ended\ndata: "
    "{\"ts\":\"2026-03-01T00:00:01Z\",\"level\":\"warning\",\"event\":\"run_ended\"}\n\n";

// As the verb, without its pause before a stream is asked for again.
Ran shown_events(const FakeKrond& krond, std::size_t limit) {
  EventsOptions options;
  options.socket = krond.socket();
  options.limit = limit;
  options.pause = Nanoseconds(0);
  return captured([&] { return show_events(options); });
}

TEST(ShowEvents, ShowsThemAsKrondWouldHaveLoggedThem) {
  FakeKrond krond;
  krond.stream("GET /events", {kStarted, kEndedEvent});
  const Ran ran = krond.kron({"events", "--limit", "2"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out,
            "2026-03-01T00:00:00Z info run_started job=\"a b\" pid=7 list=[1,2]\n"
            "2026-03-01T00:00:01Z warning run_ended\n");
}

TEST(ShowEvents, JsonIsTheDataOfEach) {
  FakeKrond krond;
  krond.stream("GET /events", {kEndedEvent});
  EXPECT_EQ(krond.kron({"events", "--limit", "1", "--format", "json"}).out,
            "{\"ts\":\"2026-03-01T00:00:01Z\",\"level\":\"warning\",\"event\":\"run_ended\"}\n");
}

TEST(ShowEvents, WhatIsNoJsonIsShownNotObeyed) {
  FakeKrond krond;
  krond.stream("GET /events", {"event: odd\ndata: \x1b[2J nonsense\n\n"});
  const Ran ran = krond.kron({"events", "--limit", "1"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("odd"), HasSubstr("nonsense"), Not(HasSubstr("\x1b"))));
}

TEST(ShowEvents, BeginsBehindTheEventThatIsNamed) {
  FakeKrond krond;
  krond.stream("GET /events", {kStarted});
  krond.kron({"events", "--limit", "1", "--after", "5"});
  EXPECT_THAT(krond.headers("last-event-id"), ElementsAre("5"));
}

TEST(ShowEvents, AStreamThatEndsIsAskedForAgainBehindWhatWasShown) {
  FakeKrond krond;
  krond.stream("GET /events", {kStarted});
  krond.stream("GET /events", {});
  krond.stream("GET /events", {kEndedEvent});
  const Ran ran = shown_events(krond, 2);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(krond.headers("last-event-id"), ElementsAre("-", "8", "8"));
}

TEST(ShowEvents, OneThatShowedNothingGoesOnFromWhereItBegan) {
  FakeKrond krond;
  krond.stream("GET /events", {});
  krond.stream("GET /events", {kStarted});
  shown_events(krond, 1);
  EXPECT_THAT(krond.headers("last-event-id"), ElementsAre("-", "7")) << "as the head of the first one said";
}

TEST(ShowEvents, AGapIsToldOnStandardErrorAndDoesNotCount) {
  FakeKrond krond;
  krond.stream("GET /events", {"event: gap\ndata: {\"reason\":\"dropped\"}\n\n", kStarted});
  const Ran ran = krond.kron({"events", "--limit", "1"});
  EXPECT_EQ(ran.err, "kron events: older events are no longer buffered; some are missing\n");
  EXPECT_THAT(ran.out, HasSubstr("run_started"));
  FakeKrond other;
  other.stream("GET /events", {"event: gap\ndata: {\"reason\":\"restarted\"}\n\n", kStarted});
  EXPECT_THAT(other.kron({"events", "--limit", "1", "--after", "5"}).err, HasSubstr("krond was started again"));
}

TEST(ShowEvents, ARestartAfterAnEndInOrderIsNoGap) {
  FakeKrond krond;
  krond.stream("GET /events", {kStarted});
  krond.stream("GET /events", {"event: gap\ndata: {\"reason\":\"restarted\"}\n\n", kEndedEvent});
  EXPECT_EQ(shown_events(krond, 2).err, "");
}

TEST(ShowEvents, ARefusalIsNotTriedAgain) {
  FakeKrond krond;
  krond.refuse("GET /events", {Code::unreachable, "too many streams"});
  EXPECT_EQ(krond.kron({"events"}).status, 3);
  EXPECT_EQ(krond.asked().size(), 1U);
}

}  // namespace
}  // namespace kron::cli
