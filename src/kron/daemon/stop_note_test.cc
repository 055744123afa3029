#include "kron/daemon/stop_note.h"

#include <gtest/gtest.h>
#include <set>

#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/testing/golden.h"

namespace kron::daemon {
namespace {

using std::chrono::milliseconds;
using testing::FakeClock;
using testing::PowerCutFileSystem;

constexpr Instant kStopped = instant_of(1'800'000'000);

StopNote note_of(const FakeClock& clock) { return {now(clock), clock.boot_id(), clock.boot_time()}; }

struct Restart : ::testing::Test {
  FakeClock clock{kStopped};
  StopNote note = (clock.advance(Seconds(100)), clock.jump_to(kStopped), note_of(clock));
};

TEST_F(Restart, WithinTenSecondsWhatBecameDueIsOnTime) {
  clock.advance(milliseconds(9'999));
  EXPECT_EQ(on_time_since(note, clock), kStopped);
  clock.advance(milliseconds(1));
  EXPECT_EQ(on_time_since(note, clock), kStopped);
  clock.advance(milliseconds(1));
  EXPECT_EQ(on_time_since(note, clock), std::nullopt) << "it took longer";
}

TEST_F(Restart, ASleepOfTheMachineCounts) {
  clock.sleep(Seconds(11));
  EXPECT_EQ(on_time_since(note, clock), std::nullopt);
}

TEST_F(Restart, OfAClockThatJumpsTheLastTenSecondsCount) {
  clock.jump(Seconds(3600));
  EXPECT_EQ(on_time_since(note, clock), kStopped + Seconds(3590));
  clock.jump(Seconds(-3601));
  EXPECT_EQ(on_time_since(note, clock), std::nullopt) << "nothing became due since";
}

TEST_F(Restart, OfTheMachineIsNone) {
  clock.reboot(Seconds(5));
  EXPECT_EQ(on_time_since(note, clock), std::nullopt);
  note.boot_id.clear();
  EXPECT_EQ(on_time_since(note, clock), std::nullopt) << "not known which boot it was";
}

TEST(StopNote, IsTakenOnce) {
  PowerCutFileSystem files;
  auto directory = open_or_make_directory(files, "/state", 0700).value();
  EXPECT_EQ(take_stop_note(files, "/state").value(), std::nullopt);
  const StopNote note{kStopped, "boot-1", milliseconds(86'400'500)};
  ASSERT_TRUE(write_stop_note(files, "/state", note));
  EXPECT_EQ(take_stop_note(files, "/state").value(), note);
  EXPECT_EQ(take_stop_note(files, "/state").value(), std::nullopt);
}

TEST(StopNote, OneThatCannotBeRemovedDoesNotCount) {
  PowerCutFileSystem files;
  auto directory = open_or_make_directory(files, "/state", 0700).value();
  ASSERT_TRUE(write_stop_note(files, "/state", {kStopped, "boot-1", Seconds(1)}));
  files.fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::sync_directory ? testing::Fault::io_error : testing::Fault::none;
  });
  EXPECT_FALSE(take_stop_note(files, "/state")) << "a power cut may bring it back";
}

TEST(StopNote, OneThatIsDamagedIsRemoved) {
  PowerCutFileSystem files;
  auto directory = open_or_make_directory(files, "/state", 0700).value();
  for (const char* text :
       {"", "{", R"({"Version":"2","StoppedAt":"2026-01-01T00:00:00Z","BootID":"b","SinceBoot":"1s"})",
        R"({"Version":"1"})", "[]"}) {
    files.plant_file("/state/stopped.json", text);
    EXPECT_FALSE(take_stop_note(files, "/state")) << text;
    EXPECT_EQ(take_stop_note(files, "/state").value(), std::nullopt) << text;
  }
}

TEST(StopNote, ItsKeysAreDocumented) {
  const std::string page = testing::read_file(testing::data_path("../../docs/formats.md"));
  const std::size_t begin = page.find("\n### stopped.json\n");
  ASSERT_NE(begin, page.npos);
  const std::string section = page.substr(begin, page.find("\n### ", begin + 1) - begin);
  const std::string text = stop_note_text({kStopped, "boot-1", Seconds(1)});
  std::set<std::string> keys;
  for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
    const std::size_t end = text.find('"', at + 1);
    if (text[end + 1] == ':') keys.insert(text.substr(at + 1, end - at - 1));
    at = end;
  }
  EXPECT_EQ(keys.size(), 4U);
  for (const std::string& key : keys) EXPECT_NE(section.find("\n| `" + key + "` |"), section.npos) << key;
}

}  // namespace
}  // namespace kron::daemon
