#include "kron/web/event_mirror.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace kron::web {
namespace {

using ::testing::HasSubstr;

std::string event(std::uint64_t id, const std::string& name = "e") {
  return "id: " + std::to_string(id) + "\nevent: " + name + "\ndata: {\"event\":\"" + name + "\"}\n\n";
}
std::string gap(const std::string& reason) {
  return "event: gap\ndata: {\"event\":\"gap\",\"reason\":\"" + reason + "\"}\n\n";
}
const std::string kGreeting = ": krond\n\n";
const std::string kBeat = ":\n\n";

TEST(EventMirror, IsReadyWhenKrondHasGreeted) {
  EventMirror mirror(101);
  ASSERT_TRUE(mirror.received(event(100) + event(101)));
  EXPECT_FALSE(mirror.is_ready());
  ASSERT_TRUE(mirror.received(kGreeting));
  EXPECT_TRUE(mirror.is_ready());
  EXPECT_EQ(mirror.last(), 101U);
  ASSERT_TRUE(mirror.received(event(102)));
  EXPECT_EQ(mirror.last(), 102U);
}

TEST(EventMirror, GivesWhatIsBehindAnId) {
  EventMirror mirror(101);
  ASSERT_TRUE(mirror.received(event(100) + event(101) + kGreeting + event(102)));
  EXPECT_EQ(mirror.text_after(102), "");
  EXPECT_EQ(mirror.text_after(100), event(101) + event(102));
  EXPECT_EQ(mirror.text_after(99), event(100) + event(101) + event(102));
  EXPECT_EQ(mirror.text_after(0), event(100) + event(101) + event(102));
}

TEST(EventMirror, SaysWhatIsOfAnotherKrond) {
  EventMirror mirror(101);
  ASSERT_TRUE(mirror.received(event(100) + event(101) + kGreeting));
  for (const std::uint64_t other : {1U, 98U, 102U, 5'000U}) {
    EXPECT_EQ(mirror.text_after(other), gap("restarted") + event(100) + event(101)) << other;
  }
  EventMirror silent(99);
  ASSERT_TRUE(silent.received(kGreeting));
  EXPECT_EQ(silent.text_after(99), "");
  EXPECT_EQ(silent.text_after(98), gap("restarted"));
}

TEST(EventMirror, SaysWhatIsNotKept) {
  EventMirror of_krond(101);
  ASSERT_TRUE(of_krond.received(gap("dropped") + event(101) + kGreeting));
  for (const std::uint64_t old : {0U, 50U, 99U, 102U}) {
    EXPECT_EQ(of_krond.text_after(old), gap("dropped") + event(101)) << old;
  }
  EXPECT_EQ(of_krond.text_after(100), event(101));
  EventMirror of_ours(100, event(100).size() * 2);
  ASSERT_TRUE(of_ours.received(event(100) + kGreeting + event(101) + event(102)));
  EXPECT_EQ(of_ours.text_after(99), gap("dropped") + event(101) + event(102));
  EXPECT_EQ(of_ours.text_after(100), event(101) + event(102));
}

TEST(EventMirror, TellsBlocksApart) {
  EventMirror mirror(0);
  const auto blocks = mirror.received(gap("restarted") + event(7, "token_revoked") + kGreeting + kBeat);
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->size(), 4U);
  EXPECT_EQ((*blocks)[0].kind, EventMirror::Kind::gap);
  EXPECT_EQ((*blocks)[1].kind, EventMirror::Kind::event);
  EXPECT_EQ((*blocks)[1].id, 7U);
  EXPECT_EQ((*blocks)[1].name(), "token_revoked");
  EXPECT_EQ((*blocks)[1].text, event(7, "token_revoked"));
  EXPECT_EQ((*blocks)[2].kind, EventMirror::Kind::comment);
  EXPECT_EQ((*blocks)[3].text, kBeat);
}

TEST(EventMirror, RefusesWhatKrondNeverSends) {
  for (const std::string& bad :
       {std::string("nonsense\n\n"), std::string("id: x\nevent: e\ndata: {}\n\n"), std::string("id: 1\ndata: {}\n\n"),
        std::string("id: 1 \nevent: e\n\n"), std::string("\n\n")}) {
    EXPECT_FALSE(EventMirror(0).received(bad)) << bad;
  }
  EventMirror again(5);
  ASSERT_TRUE(again.received(event(5) + kGreeting));
  EXPECT_FALSE(again.received(event(5)));
  EXPECT_FALSE(EventMirror(5).received(event(4) + event(4)));
  EventMirror endless(0);
  ASSERT_TRUE(endless.received(std::string(EventMirror::kMostBlock, 'x')));
  EXPECT_FALSE(endless.received("x"));
}

RC_GTEST_PROP(EventMirror, HoweverTheBytesAreCutTheyMeanTheSame, ()) {
  std::string text = gap("dropped");
  for (std::uint64_t id = 10; id < 20; ++id) text += event(id);
  text += kGreeting + kBeat + event(20);
  EventMirror mirror(19);
  for (std::size_t at = 0; at < text.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 60);
    RC_ASSERT(mirror.received(std::string_view(text).substr(at, size)).has_value());
    at += size;
  }
  RC_ASSERT(mirror.is_ready());
  RC_ASSERT(mirror.text_after(17) == event(18) + event(19) + event(20));
}

}  // namespace
}  // namespace kron::web
