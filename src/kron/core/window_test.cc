#include "kron/core/window.h"

#include <gtest/gtest.h>
#include <limits>

#include "kron/base/duration.h"
#include "kron/core/sample_jobs.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::utc;

struct Case {
  const char* mode;
  const char* duration;
  const char* start;
  const char* end;
};

TEST(Window, EndsAreFlooredToWholeSeconds) {
  const Case cases[] = {
      {"after", "0s", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"},
      {"after", "3h", "2026-03-01T12:00:00Z", "2026-03-01T15:00:00Z"},
      {"after", "1.999999999s", "2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z"},
      {"before", "2h", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z"},
      {"before", "1ns", "2026-03-01T11:59:59Z", "2026-03-01T12:00:00Z"},
      {"around", "90m", "2026-03-01T11:15:00Z", "2026-03-01T12:45:00Z"},
      {"center", "90m", "2026-03-01T11:15:00Z", "2026-03-01T12:45:00Z"},
      {"around", "1h1m1s", "2026-03-01T11:29:29Z", "2026-03-01T12:30:30Z"},
      {"around", "1s", "2026-03-01T11:59:59Z", "2026-03-01T12:00:00Z"},
      {"around", "1ns", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"},
      {"around", "2ns", "2026-03-01T11:59:59Z", "2026-03-01T12:00:00Z"},
      {"around", "4944837666ns", "2026-03-01T11:59:57Z", "2026-03-01T12:00:02Z"},
  };
  for (const Case& c : cases) {
    const WindowSpec spec{parse_window_mode(c.mode).value(), parse_duration(c.duration).value()};
    EXPECT_EQ(window_of(spec, utc("2026-03-01T12:00:00Z")), (Window{utc(c.start), utc(c.end)}))
        << c.mode << ' ' << c.duration;
  }
}

TEST(Window, TheLongestDurationDoesNotOverflow) {
  const Instant nominal = utc("9999-12-31T23:59:59Z");
  for (const WindowMode mode : {WindowMode::after, WindowMode::before, WindowMode::around}) {
    const Window window = window_of({mode, Nanoseconds::max()}, nominal);
    EXPECT_NEAR(static_cast<double>((window.end - window.start).count()), 9223372036, 1);
  }
}

// The contract's arithmetic as it is written, in nanoseconds.
TEST(Window, IsTheContractsArithmetic) {
  testing::for_all(1000, [](std::int32_t epoch, bool odd) {
    const Nanoseconds nominal = Seconds(epoch);
    const auto duration = Nanoseconds(*rc::gen::inRange<std::int64_t>(0, 400'000'000'000'000) * 2 + (odd ? 1 : 0));
    const auto floored = [](Nanoseconds t) { return Instant(std::chrono::floor<Seconds>(t)); };
    const auto window = [&](WindowMode mode) { return window_of({mode, duration}, instant_of(epoch)); };
    RC_ASSERT(window(WindowMode::after) == (Window{floored(nominal), floored(nominal + duration)}));
    RC_ASSERT(window(WindowMode::before) == (Window{floored(nominal - duration), floored(nominal)}));
    const Nanoseconds start = nominal - duration / 2;
    RC_ASSERT(window(WindowMode::around) == (Window{floored(start), floored(start + duration)}));
  });
}

TEST(Window, ModesPrintAndParse) {
  for (const WindowMode mode : {WindowMode::after, WindowMode::before, WindowMode::around}) {
    EXPECT_EQ(parse_window_mode(name_of(mode)), mode);
  }
  const auto wrong = parse_window_mode("aftr");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "unknown window mode 'aftr'; did you mean after?");
  EXPECT_EQ(wrong.error().column, 1U);
}

}  // namespace
}  // namespace kron
