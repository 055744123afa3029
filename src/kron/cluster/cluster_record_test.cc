#include "kron/cluster/cluster_record.h"

#include <gtest/gtest.h>

namespace kron::cluster {
namespace {

Instant at(std::int64_t seconds) { return instant_of(1'794'000'000 + seconds); }

JobState state(std::optional<Instant> last, std::vector<Instant> open = {}, std::vector<Span> spans = {}) {
  JobState state;
  state.last_handled = last;
  state.open_periods = std::move(open);
  state.passed_over = std::move(spans);
  state.first_seen = at(0);
  return state;
}

TEST(ClusterRecordText, ReadsBackWhatItPrints) {
  ClusterRecord record;
  record.revision = 1'794'000'000'123'456;
  record.reset_at = 17;
  record.state.identity = "job";
  record.state.periods = state(at(60), {at(30)}, {{at(1), at(5)}});
  record.state.last_outcome = Outcome::executed;
  record.state.last_chosen = at(61);
  const std::string text = "{\"Revision\":1794000000123456" + text_after_revision(record);
  const Result<ClusterRecord> read = parse_cluster_record(text);
  ASSERT_TRUE(read) << text;
  EXPECT_EQ(read->revision, record.revision);
  EXPECT_EQ(read->reset_at, 17U);
  EXPECT_EQ(read->state, record.state);
}

TEST(ClusterRecordText, ARecordWithoutRevisionIsNone) {
  EXPECT_FALSE(parse_cluster_record("{}"));
  EXPECT_FALSE(parse_cluster_record(""));
  EXPECT_FALSE(parse_cluster_record(R"({"Revision":-1,"Version":"1"})"));
  EXPECT_FALSE(parse_cluster_record(R"({"Revision":1,"Version"})"));
}

TEST(ClusterRecordText, RecordsThatGoOnForgetNothing) {
  EXPECT_FALSE(has_forgotten(state(at(60)), state(at(60))));
  EXPECT_FALSE(has_forgotten(state(at(60)), state({})));
  EXPECT_FALSE(has_forgotten(state(at(60), {at(50)}), state(at(40))));
  EXPECT_FALSE(has_forgotten(state(at(60), {at(50)}), state(at(60), {at(50), at(55)})));
  EXPECT_FALSE(has_forgotten(state(at(60), {at(50)}), state(at(60), {}, {{at(45), at(50)}}))) << "ahead again";
}

TEST(ClusterRecordText, NoticesWhatIsForgotten) {
  EXPECT_TRUE(has_forgotten(state({}), state(at(60))));
  EXPECT_TRUE(has_forgotten(state(at(50)), state(at(60))));
  EXPECT_TRUE(has_forgotten(state(at(60), {at(50)}), state(at(60)))) << "50 was handled";
}

TEST(ClusterRecordText, MergedIsHandledInEither) {
  const JobState found = state(at(60), {at(40), at(50)}, {{at(1), at(10)}});
  const JobState seen = state(at(70), {at(50), at(65)}, {{at(5), at(20)}});
  const JobState both = merged(found, seen);
  EXPECT_EQ(both.last_handled, at(70));
  EXPECT_EQ(both.open_periods, (std::vector{at(50), at(65)}));
  EXPECT_EQ(both.passed_over, (std::vector<Span>{{at(5), at(10)}}));
  EXPECT_FALSE(has_forgotten(both, seen));
  EXPECT_FALSE(has_forgotten(both, found));
}

TEST(ClusterRecordText, MergedCountsFromTheLaterFirstSight) {
  JobState found = state({});
  found.first_seen = at(100);
  found.first_seen_is_floor = true;
  const JobState both = merged(found, state(at(60)));
  EXPECT_EQ(both.first_seen, at(100));
  EXPECT_TRUE(both.first_seen_is_floor);
  EXPECT_EQ(both.last_handled, at(60));
}

TEST(ClusterRecordText, AScheduleThatNeverChangedNeedNotBeTold) {
  JobState after = state(at(60));
  after.schedule = ScheduleSeen{7, std::nullopt};
  EXPECT_TRUE(is_same(state(at(60)), after));
  after.schedule->since = at(61);
  EXPECT_FALSE(is_same(state(at(60)), after));
  EXPECT_FALSE(is_same(state(at(60)), state(at(61))));
}

}  // namespace
}  // namespace kron::cluster
