#include "kron/cluster/cluster_record.h"

#include <gtest/gtest.h>

namespace kron::cluster {
namespace {

Instant second(std::int64_t seconds) { return instant_of(1'794'000'000 + seconds); }

JobState state(std::optional<Instant> last, std::vector<Instant> open = {}, std::vector<Span> spans = {}) {
  JobState state;
  state.last_handled = last;
  state.open_periods = std::move(open);
  state.passed_over = std::move(spans);
  state.first_seen = second(0);
  return state;
}

TEST(ClusterRecordText, ReadsBackWhatItPrints) {
  ClusterRecord record;
  record.revision = 1'794'000'000'123'456;
  record.reset_at = 17;
  record.state.identity = "job";
  record.state.periods = state(second(60), {second(30)}, {{second(1), second(5)}});
  record.state.last_outcome = Outcome::executed;
  record.state.last_chosen = second(61);
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
  EXPECT_FALSE(has_forgotten(state(second(60)), state(second(60))));
  EXPECT_FALSE(has_forgotten(state(second(60)), state({})));
  EXPECT_FALSE(has_forgotten(state(second(60), {second(50)}), state(second(40))));
  EXPECT_FALSE(has_forgotten(state(second(60), {second(50)}), state(second(60), {second(50), second(55)})));
  EXPECT_FALSE(has_forgotten(state(second(60), {second(50)}), state(second(60), {}, {{second(45), second(50)}})))
      << "ahead again";
}

TEST(ClusterRecordText, NoticesWhatIsForgotten) {
  EXPECT_TRUE(has_forgotten(state({}), state(second(60))));
  EXPECT_TRUE(has_forgotten(state(second(50)), state(second(60))));
  EXPECT_TRUE(has_forgotten(state(second(60), {second(50)}), state(second(60)))) << "50 was handled";
}

TEST(ClusterRecordText, MergedIsHandledInEither) {
  const JobState found = state(second(60), {second(40), second(50)}, {{second(1), second(10)}});
  const JobState seen = state(second(70), {second(50), second(65)}, {{second(5), second(20)}});
  const JobState both = merged(found, seen);
  EXPECT_EQ(both.last_handled, second(70));
  EXPECT_EQ(both.open_periods, (std::vector{second(50), second(65)}));
  EXPECT_EQ(both.passed_over, (std::vector<Span>{{second(5), second(10)}}));
  EXPECT_FALSE(has_forgotten(both, seen));
  EXPECT_FALSE(has_forgotten(both, found));
}

TEST(ClusterRecordText, MergedCountsFromTheLaterFirstSight) {
  JobState found = state({});
  found.first_seen = second(100);
  found.first_seen_is_floor = true;
  const JobState both = merged(found, state(second(60)));
  EXPECT_EQ(both.first_seen, second(100));
  EXPECT_TRUE(both.first_seen_is_floor);
  EXPECT_EQ(both.last_handled, second(60));
}

TEST(ClusterRecordText, AScheduleThatNeverChangedNeedNotBeTold) {
  JobState after = state(second(60));
  after.schedule = ScheduleSeen{7, std::nullopt};
  EXPECT_TRUE(is_same(state(second(60)), after));
  after.schedule->since = second(61);
  EXPECT_FALSE(is_same(state(second(60)), after));
  EXPECT_FALSE(is_same(state(second(60)), state(second(61))));
}

}  // namespace
}  // namespace kron::cluster
