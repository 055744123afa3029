#include "kron/daemon/notifier.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/daemon/late_look.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/queue/memory_queue.h"

namespace kron::daemon {
namespace {

using namespace std::chrono_literals;

Instant utc(std::string_view text) { return *parse_rfc3339(text); }

AlarmMessage failure(std::vector<std::string> to = {"ops"}) {
  return {.sign = {.kind = AlarmKind::failed, .period = utc("2026-03-01T00:00:00Z"), .exit_code = 1},
          .first = utc("2026-03-01T00:00:00Z"),
          .to = std::move(to)};
}

jobs::JobDefinition job_with(std::optional<AlarmTerms> terms) {
  jobs::JobDefinition definition;
  definition.job.identity = "a";
  jobs::RunOptions options;
  options.notify = std::move(terms);
  definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return definition;
}

AlarmTerms late_after(Seconds late) { return {.on = all_alarm_kinds(), .late = late, .to = {"ops"}}; }

class NotifierTest : public ::testing::Test {
 protected:
  void run_posted() {
    for (const auto& work : std::exchange(posted_, {})) work();
  }
  void start_run(Instant started, std::optional<Instant> chosen = {}) {
    ActiveExecution run{.period = utc("2026-03-01T00:00:00Z"), .chosen = chosen, .started_at = started, .run_id = "r1"};
    view_->known.active = {run};
    notifier_.take(RunStarted{"a", run});
  }

  testing::FakeClock clock_{utc("2026-03-01T00:00:00Z")};
  testing::CapturingLog log_;
  MemoryQueue queue_{clock_};
  std::optional<Error> queue_error_;
  std::vector<std::function<void()>> posted_;
  std::vector<std::pair<std::string, AlarmNotes>> noted_;
  std::optional<Scheduler::View> view_;
  Notifier notifier_{
      {.clock = clock_,
       .log = log_,
       .submit =
           [this](std::vector<NewTask> tasks, const Notifier::Submitted& answered) {
             if (!queue_error_) return answered(queue_.submit(tasks));
             answered(std::vector<Result<SubmitAnswer>>(tasks.size(), fail(*queue_error_)));
           },
       .on_loop = [this](std::function<void()> work) { posted_.push_back(std::move(work)); },
       .note = [this](const std::string& job, AlarmNotes notes) { noted_.emplace_back(job, std::move(notes)); },
       .view = [this](const std::string&) { return view_; },
       .host = "db1"}};
};

TEST_F(NotifierTest, AMessageIsATaskForEachDestinationAndIsThenPaid) {
  notifier_.take(MessageOwed{"a", failure({"ops", "me"})});
  EXPECT_TRUE(noted_.empty()) << "nothing is paid before the queue has it";
  run_posted();
  for (const char* to : {"ops", "me"}) {
    const auto task = queue_.get(notify_task_id("a", failure(), to));
    ASSERT_TRUE(task);
    EXPECT_EQ(task->spec.type, kNotifyTaskType);
    EXPECT_NE(task->spec.data.find("\"destination\":\"" + std::string(to) + "\""), std::string::npos);
  }
  ASSERT_EQ(noted_.size(), 1U);
  EXPECT_EQ(noted_[0].second.paid, std::vector{key_of(failure())});
  EXPECT_EQ(log_.lines_of("notification_submitted").size(), 2U);
}

TEST_F(NotifierTest, IsTriedForADay) {
  const NewTask task = tasks_of("a", failure(), "db1").front();
  EXPECT_TRUE(checked(task));
  Seconds total{0};
  Seconds pause = task.retry.backoff;
  for (int i = 1; i < task.retry.max_attempts; ++i) {
    total += pause;
    pause = std::min(2 * pause, task.retry.most_backoff);
  }
  EXPECT_GE(total, 24h);
  EXPECT_LT(total, 25h);
}

TEST_F(NotifierTest, TheSameMessageTwiceIsOneTaskAndPaidTwice) {
  notifier_.take(MessageOwed{"a", failure()});
  notifier_.take(MessageOwed{"a", failure()});
  run_posted();
  EXPECT_EQ(noted_.size(), 1U) << "it was on its way already";
  notifier_.take(MessageOwed{"a", failure()});
  run_posted();
  EXPECT_EQ(noted_.size(), 2U);
  EXPECT_EQ(queue_.counts()->pending, 1U);
}

TEST_F(NotifierTest, AQueueThatTakesNothingIsAskedAgain) {
  queue_error_ = Error{Code::io, "the disk is full"};
  notifier_.take(MessageOwed{"a", failure()});
  EXPECT_TRUE(notifier_.is_submitting());
  run_posted();
  EXPECT_TRUE(noted_.empty());
  EXPECT_FALSE(notifier_.is_submitting()) << "krond --once does not wait for a queue that refuses";
  EXPECT_EQ(notifier_.waiting(), 1U);
  EXPECT_EQ(notifier_.tick(), clock_.monotonic() + 1s);
  clock_.advance(1s);
  notifier_.tick();
  run_posted();
  EXPECT_EQ(log_.lines_of("notification_waits").size(), 1U) << "said once";
  queue_error_.reset();
  clock_.advance(1s);
  notifier_.tick();
  run_posted();
  EXPECT_EQ(noted_.size(), 1U);
  EXPECT_EQ(queue_.counts()->pending, 1U);
}

TEST_F(NotifierTest, WhatTheQueueNeverTakesIsGivenUpAndSaid) {
  queue_error_ = Error{Code::invalid, "no such id"};
  notifier_.take(MessageOwed{"a", failure()});
  run_posted();
  EXPECT_EQ(log_.lines_of("notification_refused").size(), 1U);
  EXPECT_EQ(noted_.size(), 1U);
}

TEST_F(NotifierTest, IsWantedOnlyByJobsThatNotify) {
  notifier_.prepare({job_with(std::nullopt)});
  EXPECT_FALSE(notifier_.is_wanted());
  notifier_.prepare({job_with(late_after(1h))});
  EXPECT_TRUE(notifier_.is_wanted());
}

TEST_F(NotifierTest, ARunIsLateWhenItHasRunForSoLongAndThatIsNotedOnce) {
  view_ = Scheduler::View{job_with(late_after(2h)), {}, {}};
  notifier_.prepare({view_->definition});
  start_run(utc("2026-03-01T00:00:00Z"), utc("2026-03-01T00:00:00Z"));
  EXPECT_LE(notifier_.tick(), clock_.monotonic() + 2h);
  clock_.advance(2h - 1s);
  notifier_.tick();
  EXPECT_TRUE(noted_.empty());
  clock_.advance(1s);
  notifier_.tick();
  ASSERT_EQ(noted_.size(), 1U);
  EXPECT_EQ(noted_[0].second.signs.at(0).kind, AlarmKind::late);
  EXPECT_EQ(noted_[0].second.signs.at(0).run_id, "r1");
  clock_.advance(1h);
  notifier_.tick();
  EXPECT_EQ(noted_.size(), 1U);
}

TEST_F(NotifierTest, ARunIsLateWhenItStartedLate) {
  view_ = Scheduler::View{job_with(late_after(1h)), {}, {}};
  notifier_.prepare({view_->definition});
  start_run(utc("2026-03-01T01:00:00Z"), utc("2026-03-01T00:00:00Z"));
  notifier_.tick();
  ASSERT_EQ(noted_.size(), 1U);
  EXPECT_EQ(noted_[0].second.signs.at(0).reason, "started 1h after its time");
}

Decision due(Instant chosen) {
  Decision period;
  period.nominal = chosen;
  period.chosen = chosen;
  return period;
}

TEST_F(NotifierTest, APeriodThatWaitsIsLateThoughItHasNotStarted) {
  view_ = Scheduler::View{job_with(late_after(1h)), {}, due(utc("2026-03-01T00:10:00Z"))};
  notifier_.prepare({view_->definition});
  EXPECT_LE(notifier_.tick(), clock_.monotonic() + 1h) << "the next period may have to wait, and nobody tells of that";
  clock_.advance(10min);
  view_->held_up = std::exchange(view_->next, due(utc("2026-03-01T06:00:00Z")));
  clock_.advance(1h - 1s);
  notifier_.tick();
  EXPECT_TRUE(noted_.empty());
  clock_.advance(1s);
  notifier_.tick();
  ASSERT_EQ(noted_.size(), 1U);
  EXPECT_EQ(noted_[0].second.signs.at(0).kind, AlarmKind::late);
  EXPECT_EQ(noted_[0].second.signs.at(0).period, utc("2026-03-01T00:10:00Z"));
  EXPECT_EQ(noted_[0].second.signs.at(0).reason, "has not started 1h after its time");
  // It is told of once, though it starts now.
  view_->held_up.reset();
  ActiveExecution run{.period = utc("2026-03-01T00:10:00Z"),
                      .chosen = utc("2026-03-01T00:10:00Z"),
                      .started_at = now(clock_),
                      .run_id = "r1"};
  view_->known.active = {run};
  notifier_.take(RunStarted{"a", run});
  notifier_.tick();
  EXPECT_EQ(noted_.size(), 1U);
}

TEST_F(NotifierTest, AManualRunIsNeverLate) {
  Scheduler::View view{job_with(late_after(1h)), {}, {}};
  view.known.active = {{.started_at = utc("2026-03-01T00:00:00Z"), .run_id = "r", .trigger = Trigger::manual}};
  EXPECT_TRUE(look_for_late(view, utc("2026-03-02T00:00:00Z")).signs.empty());
}

}  // namespace
}  // namespace kron::daemon
