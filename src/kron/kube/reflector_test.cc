#include "kron/kube/reflector.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <vector>

#include "kron/env/fake/fake_clock.h"
#include "kron/kube/fake/scripted_transport.h"
#include "kron/kube/object.h"
#include "kron/testing/property.h"

namespace kron::kube {
namespace {

using std::chrono::milliseconds;
using Said = std::vector<std::string>;

std::string thing(const std::string& name, int version, const std::string& uid = "") {
  return R"({"metadata":{"namespace":"n","name":")" + name + R"(","uid":")" + (uid.empty() ? "u-" + name : uid) +
         R"(","resourceVersion":")" + std::to_string(version) + R"(","creationTimestamp":"2026-11-17T10:00:00Z"}})";
}

std::string page_of(int version, const std::vector<std::string>& things, const std::string& next = "") {
  std::string items;
  for (const std::string& one : things) items += (items.empty() ? "" : ",") + one;
  return R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"(","continue":")" + next +
         R"("},"items":[)" + items + "]}";
}

std::string event_of(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

std::string bookmark(int version) {
  return event_of("BOOKMARK", R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"("}})");
}

const std::string kTooOld = event_of("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})");

class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest() { begin(); }

  void begin(const std::string& selector = "") {
    Reflector::Listener listener;
    listener.on_object = [this](const Node& object) {
      said.push_back("+" + text_at(object, {"metadata", "name"}) + " " +
                     text_at(object, {"metadata", "resourceVersion"}));
    };
    listener.on_gone = [this](const Reflector::Gone& gone) {
      said.push_back("-" + gone.name + " " + gone.uid + " " + gone.version + (gone.last != nullptr ? " seen" : ""));
    };
    listener.on_listed = [this](std::string_view version) { said.push_back("listed " + std::string(version)); };
    listener.on_trouble = [this](std::string_view) { ++troubles; };
    listener.is_busy = [this] { return is_busy; };
    listener.is_known = [this](const ObjectMeta& meta) { return known == meta.name + " " + meta.resource_version; };
    reflector = std::make_unique<Reflector>(
        transport, clock, Reflector::Options{.path = "/apis/batch/v1/jobs", .selector = selector}, std::move(listener));
  }

  Said told() { return std::exchange(said, {}); }
  [[nodiscard]] const std::string& query() const { return transport.first().request.query; }
  [[nodiscard]] bool is_watching() const { return transport.under_way() == 1 && transport.first().is_stream; }

  // Until it asks for something, by its own wish; the time that took.
  Nanoseconds wait() {
    Nanoseconds waited(0);
    for (int i = 0; i < 10; ++i) {
      const auto at = reflector->tick();
      if (transport.under_way() > 0) return waited;
      EXPECT_TRUE(at.has_value());
      const Nanoseconds pause = *at - clock.monotonic();
      EXPECT_GT(pause, Nanoseconds(0));
      clock.advance(pause);
      waited += pause;
    }
    ADD_FAILURE() << "it asks for nothing";
    return waited;
  }

  void list_and_watch() {
    reflector->tick();
    transport.answer(200, page_of(10, {thing("a", 3), thing("b", 7)}));
    told();
  }

  testing::FakeClock clock{instant_of(1'795'000'000)};
  testing::ScriptedTransport transport;
  Said said;
  std::string known;  // "name version": the listener has it from elsewhere
  int troubles = 0;
  bool is_busy = false;
  std::unique_ptr<Reflector> reflector;
};

TEST_F(ReflectorTest, ListsByPagesAndWatchesFromTheListsVersion) {
  begin("kron.io/name");
  reflector->tick();
  EXPECT_EQ(transport.first().request.path, "/apis/batch/v1/jobs");
  EXPECT_EQ(query(), "limit=500&labelSelector=kron.io%2Fname");
  EXPECT_EQ(transport.first().lane, Lane::list);
  transport.answer(200, page_of(10, {thing("a", 3)}, "t=1"));
  EXPECT_FALSE(reflector->has_listed());
  EXPECT_EQ(query(), "limit=500&labelSelector=kron.io%2Fname&continue=t%3D1");
  transport.answer(200, page_of(10, {thing("b", 7)}));
  EXPECT_TRUE(reflector->has_listed());
  EXPECT_EQ(told(), (Said{"+a 3", "+b 7", "listed 10"}));
  ASSERT_TRUE(is_watching());
  EXPECT_EQ(query(),
            "watch=1&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=300&labelSelector=kron.io%2Fname");
}

TEST_F(ReflectorTest, TellsNothingThatIsKnownFromElsewhereAndRemembersIt) {
  known = "a 3";
  reflector->tick();
  transport.answer(200, page_of(10, {thing("a", 3), thing("b", 7)}));
  EXPECT_EQ(told(), (Said{"+b 7", "listed 10"}));
  known = "c 11";
  transport.say(event_of("ADDED", thing("c", 11)) + event_of("MODIFIED", thing("c", 12)));
  EXPECT_EQ(told(), Said{"+c 12"});
  known = "d 13";
  transport.say(event_of("ADDED", thing("d", 13)));
  EXPECT_EQ(told(), Said{});
  EXPECT_TRUE(reflector->knows("n", "a"));
  EXPECT_TRUE(reflector->knows("n", "d"));
  transport.end(Broken{Failure::unknown, "reset"});
  wait();
  EXPECT_NE(query().find("resourceVersion=13"), std::string::npos) << "it goes on behind what was known";
}

TEST_F(ReflectorTest, LetsEventsWaitWhileItsListenerIsBusyButNotForLong) {
  list_and_watch();
  is_busy = true;
  transport.say(event_of("ADDED", thing("c", 11)));
  clock.advance(milliseconds(100));
  transport.say(event_of("ADDED", thing("d", 12)).substr(0, 20));
  EXPECT_EQ(reflector->tick(), clock.monotonic() + milliseconds(150)) << "not before the first has waited long enough";
  EXPECT_EQ(told(), Said{});
  is_busy = false;
  reflector->tick();
  EXPECT_EQ(told(), Said{"+c 11"});
  is_busy = true;
  transport.say(event_of("ADDED", thing("d", 12)).substr(20));
  clock.advance(milliseconds(249));
  reflector->tick();
  EXPECT_EQ(told(), Said{});
  clock.advance(milliseconds(1));
  reflector->tick();
  EXPECT_EQ(told(), Said{"+d 12"});
  EXPECT_EQ(reflector->tick(), clock.monotonic() - milliseconds(250) + Seconds(90)) << "only silence is left";
}

TEST_F(ReflectorTest, ReadsWhatWaitedBeforeAWatchEnds) {
  list_and_watch();
  is_busy = true;
  transport.say(event_of("ADDED", thing("c", 11)));
  transport.end(Response{.code = 200});
  EXPECT_EQ(told(), Said{"+c 11"});
  wait();
  EXPECT_NE(query().find("resourceVersion=11&"), std::string::npos) << "it goes on behind what it has read";
  transport.say(event_of("ADDED", thing("d", 12)));
  reflector->relist();
  reflector->tick();
  EXPECT_EQ(told(), Said{}) << "a list tells it";
  transport.answer(200, page_of(12, {thing("a", 3), thing("b", 7), thing("c", 11), thing("d", 12)}));
  EXPECT_EQ(told(), (Said{"+d 12", "listed 12"}));
}

TEST_F(ReflectorTest, LetsOnlySoMuchWait) {
  list_and_watch();
  is_busy = true;
  const std::string event = event_of("ADDED", thing(std::string(100'000, 'c'), 11));
  std::size_t bytes = 0;
  for (; said.empty() && bytes < 20'000'000; bytes += event.size()) transport.say(event);
  EXPECT_GT(bytes, 8'000'000U);
  EXPECT_LT(bytes, 9'000'000U);
}

TEST_F(ReflectorTest, TellsEventsInWhateverPiecesTheyCome) {
  list_and_watch();
  const std::string bytes = event_of("ADDED", thing("c", 11)) + event_of("MODIFIED", thing("a", 12)) +
                            event_of("DELETED", thing("b", 13)) + event_of("ADDED", thing("d", 14)).substr(0, 40);
  for (const char byte : bytes) transport.say(std::string(1, byte));
  EXPECT_EQ(told(), (Said{"+c 11", "+a 12", "-b u-b 13 seen"}));
  EXPECT_TRUE(reflector->knows("n", "c"));
  EXPECT_FALSE(reflector->knows("n", "b"));
  // Cut in mid-line: what was not said whole is said again, to one who asks from the last version.
  transport.end(Broken{Failure::unknown, "reset"});
  EXPECT_GT(wait(), Nanoseconds(0));
  EXPECT_NE(query().find("resourceVersion=13&"), std::string::npos);
  EXPECT_EQ(told(), Said{});
}

TEST_F(ReflectorTest, GoesOnFromABookmarkAtOnceWhenTheServerEndsAWatchInTime) {
  list_and_watch();
  clock.advance(Seconds(60));
  transport.say(bookmark(400));
  clock.advance(Seconds(60));
  transport.answer(200, "");
  EXPECT_EQ(wait(), Nanoseconds(0));
  ASSERT_TRUE(is_watching());
  EXPECT_NE(query().find("resourceVersion=400&"), std::string::npos);
  EXPECT_EQ(troubles, 0);
}

TEST_F(ReflectorTest, ListsAnewWhenItsVersionIsTooOldAndTellsWhatIsGone) {
  list_and_watch();
  transport.say(bookmark(11));
  transport.say(kTooOld + event_of("ADDED", thing("x", 1)));  // nothing after the error counts
  EXPECT_EQ(wait(), Nanoseconds(0));
  ASSERT_FALSE(is_watching());
  EXPECT_EQ(query(), "limit=500");
  transport.answer(200, page_of(50, {thing("a", 3), thing("c", 40)}));
  EXPECT_EQ(told(), (Said{"+c 40", "-b u-b 50", "listed 50"}));  // a is as it was
  EXPECT_TRUE(is_watching());
}

TEST_F(ReflectorTest, TellsThatWhatOnlyAWatchHasShownIsGone) {
  list_and_watch();
  transport.say(event_of("ADDED", thing("c", 12)) + event_of("MODIFIED", thing("a", 13)));
  EXPECT_EQ(told(), (Said{"+c 12", "+a 13"}));
  reflector->relist();
  wait();
  transport.answer(200, page_of(50, {thing("a", 13), thing("b", 7)}));
  EXPECT_EQ(told(), (Said{"-c u-c 50", "listed 50"}));
  EXPECT_EQ(reflector->known(), 2U);
}

TEST_F(ReflectorTest, TellsOfAnotherObjectOfTheSameName) {
  list_and_watch();
  reflector->relist();
  wait();
  transport.answer(200, page_of(50, {thing("a", 30, "u-new"), thing("b", 7)}));
  EXPECT_EQ(told(), (Said{"-a u-a 3", "+a 30", "listed 50"}));
}

TEST_F(ReflectorTest, ListsAnewFor410AsAnAnswer) {
  list_and_watch();
  transport.answer(410, "{}");
  EXPECT_EQ(wait(), milliseconds(800));
  EXPECT_EQ(query(), "limit=500");
}

TEST_F(ReflectorTest, PausesLongerAndLongerWhenEachListIsTooOldAtOnce) {
  reflector->tick();
  Nanoseconds last(0);
  for (int i = 0; i < 8; ++i) {
    transport.answer(200, page_of(10 + i, {}));
    ASSERT_TRUE(is_watching());
    transport.say(kTooOld);
    const Nanoseconds waited = wait();
    EXPECT_GE(waited, last);
    last = waited;
  }
  EXPECT_EQ(last, Seconds(30));
}

TEST_F(ReflectorTest, BeginsAListAgainWhoseNextPageIsTooOld) {
  reflector->tick();
  transport.answer(200, page_of(10, {thing("a", 3)}, "t1"));
  transport.answer(410, "{}");
  wait();
  EXPECT_EQ(query(), "limit=500");
  transport.answer(200, page_of(20, {thing("b", 15)}));
  EXPECT_EQ(told(), (Said{"+a 3", "+b 15", "-a u-a 20", "listed 20"}));
}

TEST_F(ReflectorTest, AsksForTheSamePageAgainAfterWhatMayPass) {
  reflector->tick();
  transport.answer(200, page_of(10, {thing("a", 3)}, "t1"));
  transport.end(Broken{Failure::not_sent, "no connection"});
  EXPECT_EQ(wait(), milliseconds(800));
  EXPECT_EQ(query(), "limit=500&continue=t1");
  transport.end(Response{.code = 429, .body = "{}", .retry_after = Seconds(5)});
  EXPECT_EQ(wait(), Seconds(5));
  transport.end(Response{.code = 503, .body = "oops", .retry_after = Seconds(100'000)});
  EXPECT_EQ(wait(), Seconds(60));
  EXPECT_EQ(query(), "limit=500&continue=t1");
}

TEST_F(ReflectorTest, LeavesAWatchThatIsSilent) {
  list_and_watch();
  EXPECT_EQ(reflector->tick(), clock.monotonic() + Seconds(90));
  clock.advance(Seconds(80));
  transport.say(bookmark(20));
  clock.advance(Seconds(89));
  reflector->tick();
  EXPECT_TRUE(is_watching());
  EXPECT_EQ(transport.asked(), 2);
  clock.advance(Seconds(1));
  reflector->tick();
  EXPECT_EQ(transport.under_way(), 0U);  // cancelled
  wait();
  ASSERT_TRUE(is_watching());
  EXPECT_NE(query().find("resourceVersion=20&"), std::string::npos);
  EXPECT_EQ(troubles, 1);
}

TEST_F(ReflectorTest, ListsAnewWhenItUnderstandsNothing) {
  for (const std::string& line : {std::string("<html>\n"), event_of("ADDED", "{}"), std::string("{}\n"),
                                  std::string((std::size_t{4} << 20) + 1, 'x')}) {
    begin();
    list_and_watch();
    transport.say(line);
    EXPECT_EQ(transport.under_way(), 0U);
    EXPECT_EQ(wait(), milliseconds(800));
    EXPECT_EQ(query(), "limit=500");
    reflector.reset();
  }
}

TEST_F(ReflectorTest, PausesWhenAWatchEndsAtOnceAgainAndAgain) {
  list_and_watch();
  for (const int pause : {800, 1'600, 3'200}) {
    transport.answer(200, "");
    EXPECT_EQ(wait(), milliseconds(pause));
    ASSERT_TRUE(is_watching());
  }
  transport.say(bookmark(99));  // all is well again
  transport.end(Broken{Failure::unknown, "x"});
  EXPECT_EQ(wait(), milliseconds(800));
}

TEST_F(ReflectorTest, CancelsWhatIsUnderWayWhenItGoes) {
  list_and_watch();
  reflector.reset();
  EXPECT_EQ(transport.under_way(), 0U);
}

// A server with a history that it forgets; whatever breaks, a reflector that is left in peace knows what there is.
TEST(Reflectors, KnowWhatTheServerHasWhateverBroke) {
  testing::for_all(150, [] {
    struct Change {
      int version;
      std::string type;
      std::string name;
      std::string object;
    };
    std::map<std::string, std::string> objects;  // name → as JSON
    std::vector<Change> history;
    int version = 100;
    int forgotten = 100;
    testing::FakeClock clock(instant_of(1'795'000'000));
    testing::ScriptedTransport transport;
    std::map<std::string, std::string> seen;  // name → version
    Reflector::Listener listener;
    listener.on_object = [&](const Node& object) {
      seen[text_at(object, {"metadata", "name"})] = text_at(object, {"metadata", "resourceVersion"});
    };
    listener.on_gone = [&](const Reflector::Gone& gone) { seen.erase(gone.name); };
    Reflector reflector(transport, clock, {.path = "/things", .page = 2}, std::move(listener));

    int stream_at = 0;  // the version up to which the open watch was told
    int stream_asked = 0;
    const auto serve = [&](bool is_kind) {
      if (transport.under_way() == 0) return;
      const std::string query = transport.first().request.query;
      const int fate = is_kind ? 9 : *rc::gen::inRange(0, 10);
      if (fate == 0) return transport.end(Broken{Failure::unknown, "cut"});
      if (fate == 1) return transport.answer(503, "{}");
      if (!transport.first().is_stream) {
        // Pages of two, each consistent with the first: its token has the version and the last name.
        const std::size_t at = query.find("continue=");
        const std::string token = at != std::string::npos ? query.substr(at + 9) : "";
        const int of = token.empty() ? version : std::stoi(token);
        if (of != version) return transport.answer(410, "{}");
        const std::string after = token.empty() ? "" : token.substr(token.find('.') + 1);
        std::vector<std::string> items;
        std::string last;
        auto next = objects.upper_bound(after);
        for (; next != objects.end() && items.size() < 2; ++next) {
          items.push_back(next->second);
          last = next->first;
        }
        return transport.answer(200, page_of(of, items, next == objects.end() ? "" : std::to_string(of) + "." + last));
      }
      if (stream_asked != transport.asked()) {
        stream_asked = transport.asked();
        stream_at = std::stoi(query.substr(query.find("resourceVersion=") + 16));
      }
      if (stream_at < forgotten) return transport.say(kTooOld);
      std::string bytes;
      for (const Change& change : history) {
        if (change.version > stream_at) bytes += event_of(change.type, change.object);
      }
      if (fate == 2) {  // cut anywhere
        transport.say(bytes.substr(0, *rc::gen::inRange<std::size_t>(0, bytes.size() + 1)));
        if (transport.under_way() > 0) transport.end(Broken{Failure::unknown, "cut"});
        return;
      }
      stream_at = version;
      if (!bytes.empty()) transport.say(bytes);
      if (fate == 3) transport.answer(200, "");
    };

    const int steps = *rc::gen::inRange(5, 80);
    for (int i = 0; i < steps; ++i) {
      if (*rc::gen::inRange(0, 2) == 0) {
        const std::string name(1, static_cast<char>('a' + *rc::gen::inRange(0, 6)));
        ++version;
        const bool is_there = objects.contains(name);
        if (is_there && *rc::gen::inRange(0, 2) == 0) {
          objects.erase(name);
          history.push_back({version, "DELETED", name, thing(name, version)});
        } else {
          objects[name] = thing(name, version);
          history.push_back({version, is_there ? "MODIFIED" : "ADDED", name, objects[name]});
        }
      }
      if (*rc::gen::inRange(0, 15) == 0) forgotten = version;
      reflector.tick();
      serve(false);
      clock.advance(milliseconds(*rc::gen::inRange(0, 3'000)));
    }
    for (int i = 0; i < 40; ++i) {
      reflector.tick();
      serve(true);
      clock.advance(Seconds(2));
    }
    RC_ASSERT(reflector.has_listed());
    std::map<std::string, std::string> expected;
    for (const auto& [name, object] : objects) {
      expected[name] = text_at(parse_json(object).value(), {"metadata", "resourceVersion"});
    }
    RC_ASSERT(seen == expected);
  });
}

}  // namespace
}  // namespace kron::kube
