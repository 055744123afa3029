#include "kron/state/time_ahead.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"

namespace kron {
namespace {

Instant at_time(std::string_view text) { return parse_rfc3339(text).value(); }

TEST(TimeAhead, OnlyWhatNoWindowExplainsIsFromTheFuture) {
  const Instant now = at_time("2026-03-01T00:00:00Z");
  const Nanoseconds week = std::chrono::hours(7 * 24);
  StateRecord record;
  EXPECT_EQ(time_ahead_in(record, now, week), std::nullopt);
  record.periods.last_handled = now + Seconds(7 * 86400);
  record.last_chosen = now;
  EXPECT_EQ(time_ahead_in(record, now, week), std::nullopt) << "its window opened a week before";
  EXPECT_EQ(time_ahead_in(record, now, Nanoseconds(0)), now + Seconds(7 * 86400));
  record.last_chosen = now + Seconds(3600);
  EXPECT_EQ(time_ahead_in(record, now, week), now + Seconds(3600)) << "nobody runs a period before its time";
  record = {};
  record.periods.first_seen = now + Seconds(60);
  EXPECT_EQ(time_ahead_in(record, now, week), std::nullopt);
  record.periods.first_seen = at_time("2036-03-01T00:00:00Z");
  EXPECT_EQ(time_ahead_in(record, now, week), at_time("2036-03-01T00:00:00Z"));
}

}  // namespace
}  // namespace kron
