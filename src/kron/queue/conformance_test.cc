#include "kron/queue/conformance.h"

namespace kron::testing {

TEST_P(TaskQueueContract, AClockThatWasYearsAheadForAMomentHoldsNothingUp) {
  const Seconds years = std::chrono::hours(10 * 365 * 24);
  NewTask later = task_named("later");
  later.run_at = now(rig().clock) + Seconds(3600);
  rig().jump_ahead(years);
  EXPECT_EQ(rig().submit(task_named("failing")), SubmitOutcome::accepted);
  const Lease lease = queue().lease({.worker = "w", .starts = true}).value().front();
  ASSERT_TRUE(queue().fail_attempt({lease.key, "no luck"}));
  EXPECT_EQ(rig().submit(task_named("new")), SubmitOutcome::accepted);
  EXPECT_EQ(rig().submit(task_named("delayed")), SubmitOutcome::accepted);
  rig().jump_ahead(-years);
  EXPECT_EQ(rig().submit(later), SubmitOutcome::accepted);
  EXPECT_EQ(queue().lease({.worker = "w", .count = 10}).value().size(), 3U);
  wait(Seconds(3600));
  EXPECT_EQ(queue().lease({.worker = "w", .count = 10}).value().size(), 1U);
}

TEST_P(TaskQueueContract, ATaskGoesFromPendingThroughRunningToSucceeded) {
  EXPECT_EQ(rig().submit(task_named("a")), SubmitOutcome::accepted);
  EXPECT_EQ(rig().state("a"), TaskState::pending);
  const Lease lease = rig().lease_one("w1", false);
  EXPECT_EQ(lease.task_id, "a");
  EXPECT_EQ(lease.type, "MAIL");
  EXPECT_EQ(lease.data, R"({"n":1})");
  EXPECT_EQ(lease.attempt, 1);
  EXPECT_EQ(rig().state("a"), TaskState::running);
  EXPECT_EQ(queue().start(lease.key), LeaseOutcome::accepted);
  EXPECT_EQ(rig().commit(lease.key, "sent"), LeaseOutcome::accepted);
  const Task task = queue().get("a").value();
  EXPECT_EQ(state_of(task), TaskState::succeeded);
  EXPECT_EQ(task.result, "sent");
  EXPECT_EQ(task.executions.size(), 1U);
  EXPECT_EQ(task.executions[0].status, ExecutionStatus::done);
  EXPECT_EQ(task.executions[0].lease_owner, "w1");
  EXPECT_TRUE(rig().lease({}).empty());
}

TEST_P(TaskQueueContract, TheSameIdWithTheSamePayloadIsOneTask) {
  EXPECT_EQ(rig().submit(task_named("a", "MAIL", R"({"n": 1})")), SubmitOutcome::accepted);
  EXPECT_EQ(rig().submit(task_named("a", "MAIL", "{\"n\":1 }\n")), SubmitOutcome::already_known);
  const Lease lease = rig().lease_one();
  EXPECT_EQ(rig().submit(task_named("a")), SubmitOutcome::already_known);
  rig().commit(lease.key);
  EXPECT_EQ(rig().submit(task_named("a")), SubmitOutcome::already_known);
  EXPECT_TRUE(rig().lease({}).empty());
}

TEST_P(TaskQueueContract, AnotherPayloadUnderTheSameIdIsAConflictInEveryState) {
  rig().submit(task_named("a"));
  const NewTask other = task_named("a", "MAIL", R"({"n":2})");
  EXPECT_EQ(rig().submit(other), SubmitOutcome::conflict);
  EXPECT_EQ(rig().submit(task_named("a", "SMS")), SubmitOutcome::conflict);
  const Lease lease = rig().lease_one();
  EXPECT_EQ(rig().submit(other), SubmitOutcome::conflict);
  rig().commit(lease.key);
  EXPECT_EQ(rig().submit(other), SubmitOutcome::conflict);
  EXPECT_EQ(queue().get("a").value().spec.data, R"({"n":1})");
}

TEST_P(TaskQueueContract, ABatchIsAnsweredOneByOneWithThoseBeforeInMind) {
  NewTask keyed = task_named("k1");
  keyed.unique_key = "report";
  NewTask same_key = task_named("k2");
  same_key.unique_key = "report";
  const std::vector<NewTask> batch{
      task_named("a"), task_named("../etc"), task_named("a"), task_named("a", "SMS"), keyed, same_key};
  const auto answers = queue().submit(batch);
  ASSERT_EQ(answers.size(), 6U);
  EXPECT_EQ(answers[0].value().outcome, SubmitOutcome::accepted);
  EXPECT_EQ(answers[1].error().code, Code::invalid);
  EXPECT_EQ(answers[2].value().outcome, SubmitOutcome::already_known);
  EXPECT_EQ(answers[3].value().outcome, SubmitOutcome::conflict);
  EXPECT_EQ(answers[4].value().outcome, SubmitOutcome::accepted);
  EXPECT_EQ(answers[5].value(), (SubmitAnswer{SubmitOutcome::duplicate, "k1"}));
  EXPECT_EQ(queue().counts(), (TaskCounts{2, 0}));
}

TEST_P(TaskQueueContract, AUniqueKeyIsFreeAgainWhenItsTaskIsOver) {
  NewTask first = task_named("a");
  first.unique_key = "k";
  NewTask second = task_named("b");
  second.unique_key = "k";
  rig().submit(first);
  EXPECT_EQ(rig().submit(second), SubmitOutcome::duplicate);
  const Lease lease = rig().lease_one();
  EXPECT_EQ(rig().submit(second), SubmitOutcome::duplicate);
  rig().commit(lease.key);
  EXPECT_EQ(rig().submit(second), SubmitOutcome::accepted);
}

TEST_P(TaskQueueContract, ARetryDoesNotTakeAUniqueKeyFromAnother) {
  NewTask first = task_named("a");
  first.unique_key = "k";
  rig().submit(first);
  EXPECT_EQ(queue().cancel("a"), CancelOutcome::cancelled);
  NewTask second = task_named("b");
  second.unique_key = "k";
  EXPECT_EQ(rig().submit(second), SubmitOutcome::accepted);
  EXPECT_EQ(queue().retry("a", 1).error().code, Code::conflict);
}

TEST_P(TaskQueueContract, OnlyTheWantedTypesAreLeased) {
  rig().submit(task_named("a", "MAIL"));
  rig().submit(task_named("b", "SMS"));
  rig().submit(task_named("c", "FAX"));
  EXPECT_EQ(rig().lease_ids({.worker = "w", .types = {"SMS", "FAX"}, .count = 10}),
            (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(rig().lease_ids({.worker = "w", .types = {"TELEX"}, .count = 10}), std::vector<std::string>());
  EXPECT_EQ(rig().lease_ids({.worker = "w", .count = 10}), std::vector<std::string>{"a"});
}

TEST_P(TaskQueueContract, HigherPriorityGoesFirstAndEqualOnesInOrderOfSubmission) {
  NewTask urgent = task_named("z");
  urgent.priority = 5;
  NewTask idle = task_named("i");
  idle.priority = -5;
  for (const NewTask& task : {idle, task_named("y"), task_named("b"), task_named("a"), urgent}) rig().submit(task);
  EXPECT_EQ(rig().lease_ids({.worker = "w", .count = 10}), (std::vector<std::string>{"z", "y", "b", "a", "i"}));
}

TEST_P(TaskQueueContract, WaitingIsWorthPriority) {
  use({.ageing = Seconds(60)});
  rig().submit(task_named("old"));
  wait(Seconds(121));
  NewTask urgent = task_named("urgent");
  urgent.priority = 2;
  rig().submit(urgent);
  EXPECT_EQ(rig().lease_one().task_id, "old");
}

TEST_P(TaskQueueContract, ATaskIsNotLeasedBeforeItsTime) {
  NewTask task = task_named("a");
  task.run_at = kQueueStart + Seconds(30);
  rig().submit(task);
  EXPECT_TRUE(rig().lease({}).empty());
  wait(Seconds(29));
  EXPECT_TRUE(rig().lease({}).empty());
  wait(Seconds(1));
  EXPECT_EQ(rig().lease_one().task_id, "a");
}

TEST_P(TaskQueueContract, ATypeRunsNoMoreThanItsLimitAtATime) {
  use({.concurrency_limits = {{"MAIL", 2}}});
  for (const char* id : {"a", "b", "c"}) rig().submit(task_named(id));
  rig().submit(task_named("s", "SMS"));
  const auto leases = rig().lease({.worker = "w", .count = 10, .starts = true});
  ASSERT_EQ(leases.size(), 3U);
  EXPECT_EQ(leases[2].task_id, "s");
  EXPECT_TRUE(rig().lease({}).empty());
  rig().commit(leases[0].key);
  EXPECT_EQ(rig().lease_one().task_id, "c");
}

TEST_P(TaskQueueContract, RequestsForLeasesThatComeTogetherShareWhatThereIsInTheirOrder) {
  use({.concurrency_limits = {{"MAIL", 3}}});
  for (const char* id : {"a", "b", "c", "d"}) rig().submit(task_named(id));
  rig().submit(task_named("s", "SMS"));
  const std::vector<LeaseRequest> requests{{.worker = "sms", .types = {"SMS"}, .count = 5},
                                           {.worker = "two", .count = 2},
                                           {.worker = ""},
                                           {.worker = "rest", .count = 5},
                                           {.worker = "late"}};
  std::vector<std::string> told;
  for (const auto& leases : queue().lease(requests)) {
    std::string& text = told.emplace_back(leases ? "" : name_of(leases.error().code));
    if (!leases) continue;
    for (const Lease& lease : *leases) text += lease.task_id;
  }
  EXPECT_EQ(told, (std::vector<std::string>{"s", "ab", "invalid", "c", ""}));
  EXPECT_EQ(queue().get("c").value().executions.back().lease_owner, "rest");
}

TEST_P(TaskQueueContract, AnExpiredLeaseIsLostEvenBeforeAnyoneNotices) {
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one();
  wait(Seconds(60));
  EXPECT_EQ(queue().renew(lease.key), LeaseOutcome::lease_lost);
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::lease_lost);
  EXPECT_EQ(queue().fail_attempt({lease.key, "late"}).value().outcome, LeaseOutcome::lease_lost);
  EXPECT_EQ(queue().start(lease.key), LeaseOutcome::lease_lost);
}

TEST_P(TaskQueueContract, AnExpiredAttemptIsAbortedAndTriedAgainAfterABackOff) {
  rig().submit(task_named("a"));
  const Lease first = rig().lease_one();
  EXPECT_TRUE(queue().expire().value().empty());
  EXPECT_EQ(queue().next_expiry(), Nanoseconds(Seconds(60)));
  wait(Seconds(60));
  const auto expired = queue().expire().value();
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0].exec_id, first.key.exec_id);
  EXPECT_EQ(expired[0].reason, "lease expired");
  EXPECT_EQ(rig().state("a"), TaskState::pending);
  EXPECT_TRUE(rig().lease({}).empty());
  wait(Seconds(10));
  const Lease second = rig().lease_one("w2");
  EXPECT_EQ(second.attempt, 2);
  EXPECT_GT(second.key.token, first.key.token);
  EXPECT_EQ(rig().commit(second.key), LeaseOutcome::accepted);
  EXPECT_EQ(rig().commit(first.key), LeaseOutcome::duplicate);
}

TEST_P(TaskQueueContract, ARenewedLeaseLastsOneMoreTerm) {
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one();
  wait(Seconds(59));
  EXPECT_EQ(queue().renew(lease.key), LeaseOutcome::accepted);
  wait(Seconds(59));
  EXPECT_TRUE(queue().expire().value().empty());
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::accepted);
}

TEST_P(TaskQueueContract, LeasesDoNotCareAboutJumpsOfTheWallClock) {
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one();
  rig().clock.jump(Seconds(86400));
  EXPECT_TRUE(queue().expire().value().empty());
  rig().clock.jump(Seconds(-2 * 86400));
  wait(Seconds(59));
  EXPECT_TRUE(queue().expire().value().empty());
  rig().clock.sleep(Seconds(1));
  EXPECT_EQ(queue().expire().value().size(), 1U);
}

TEST_P(TaskQueueContract, AnAttemptEndsWithItsTimeoutHoweverOftenItRenews) {
  NewTask task = task_named("a");
  task.timeout = Seconds(90);
  rig().submit(task);
  const Lease lease = rig().lease_one();
  wait(Seconds(50));
  EXPECT_EQ(queue().renew(lease.key), LeaseOutcome::accepted);
  wait(Seconds(40));
  EXPECT_EQ(queue().renew(lease.key), LeaseOutcome::lease_lost);
  EXPECT_EQ(queue().expire().value().at(0).reason, "timeout");
}

TEST_P(TaskQueueContract, WhoFailsTooLateIsToldWhatBecomesOfTheTask) {
  for (const int attempts : {1, 2}) {
    NewTask task = task_named("a" + std::to_string(attempts));
    task.timeout = Seconds(10);
    task.retry.max_attempts = attempts;
    rig().submit(task);
    const Lease lease = rig().lease_one();
    rig().clock.advance(Seconds(10));
    for (int i = 0; i < 2; ++i) {
      const auto answer = queue().fail_attempt({lease.key, "timed out"}).value();
      EXPECT_EQ(answer.outcome, LeaseOutcome::lease_lost);
      EXPECT_EQ(answer.state, attempts == 1 ? TaskState::failed : TaskState::pending);
      EXPECT_EQ(queue().expire().value().size(), i == 0 ? 1U : 0U);
    }
  }
}

TEST_P(TaskQueueContract, TheTimeoutCountsFromTheStart) {
  NewTask task = task_named("a");
  task.timeout = Seconds(10);
  rig().submit(task);
  const Lease lease = rig().lease_one("w1", false);
  wait(Seconds(30));
  EXPECT_EQ(queue().start(lease.key), LeaseOutcome::accepted);
  wait(Seconds(9));
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::accepted);
}

TEST_P(TaskQueueContract, AfterItsLastAttemptATaskIsFailedListedAndRetryable) {
  NewTask task = task_named("a");
  task.retry.max_attempts = 2;
  rig().submit(task);
  EXPECT_EQ(queue().fail_attempt({rig().lease_one().key, "boom"}).value().state, TaskState::pending);
  wait(Seconds(3600));
  EXPECT_EQ(queue().fail_attempt({rig().lease_one().key, "boom"}).value().state, TaskState::failed);
  wait(Seconds(86400));
  EXPECT_TRUE(rig().lease({}).empty());
  const auto dead = queue().list({.state = TaskState::failed}).value();
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].executions.back().reason, "boom");
  EXPECT_EQ(queue().retry("a", 1), RetryOutcome::retried);
  const Lease third = rig().lease_one();
  EXPECT_EQ(third.attempt, 3);
  EXPECT_EQ(rig().commit(third.key), LeaseOutcome::accepted);
  EXPECT_EQ(queue().retry("a", 1), RetryOutcome::not_failed);
}

TEST_P(TaskQueueContract, TryingLaterUsesUpNoAttempt) {
  NewTask task = task_named("a");
  task.retry.max_attempts = 1;
  rig().submit(task);
  for (int i = 0; i < 3; ++i) {
    const auto answer = queue().fail_attempt({rig().lease_one().key, "not yet", false});
    EXPECT_EQ(answer.value().state, TaskState::pending);
    wait(Seconds(3600));
  }
  EXPECT_EQ(queue().fail_attempt({rig().lease_one().key, "boom"}).value().state, TaskState::failed);
}

TEST_P(TaskQueueContract, StartAndCommitCanBeAskedForAgainWhenTheReplyWasLost) {
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one("w1", false);
  EXPECT_EQ(queue().start(lease.key), LeaseOutcome::accepted);
  EXPECT_EQ(queue().start(lease.key), LeaseOutcome::accepted);
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::accepted);
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::duplicate);
  EXPECT_EQ(queue().start(lease.key), LeaseOutcome::duplicate);
  EXPECT_EQ(queue().renew(lease.key), LeaseOutcome::duplicate);
}

TEST_P(TaskQueueContract, WhatWasNotStartedCannotCommit) {
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one("w1", false);
  EXPECT_EQ(queue().commit({.key = lease.key, .result = ""}).error().code, Code::conflict);
  EXPECT_EQ(rig().state("a"), TaskState::running);
}

TEST_P(TaskQueueContract, AWrongTokenOrAnothersLeaseIsLost) {
  rig().submit(task_named("a"));
  rig().submit(task_named("b"));
  const Lease mine = rig().lease_one("w1");
  const Lease others = rig().lease_one("w2");
  EXPECT_EQ(rig().commit({mine.key.exec_id, others.key.token}), LeaseOutcome::lease_lost);
  EXPECT_EQ(queue().renew({others.key.exec_id, mine.key.token}), LeaseOutcome::lease_lost);
  EXPECT_EQ(queue().start({mine.key.exec_id, 0}), LeaseOutcome::lease_lost);
  EXPECT_EQ(rig().state("a"), TaskState::running);
}

TEST_P(TaskQueueContract, AnUnknownExecutionIsNotFound) {
  rig().submit(task_named("a"));
  rig().lease_one();
  for (const std::string id : {"", "a", "a.", "a.99", "b.1", "../a.1", "a.99999999999999999999999", ".1", "a/../b.1"}) {
    EXPECT_EQ(queue().start(LeaseKey{id, 1}).error().code, Code::not_found) << id;
    EXPECT_EQ(queue().renew({id, 1}).error().code, Code::not_found) << id;
    EXPECT_EQ(queue().commit({.key = {id, 1}, .result = ""}).error().code, Code::not_found) << id;
    EXPECT_EQ(queue().fail_attempt({{id, 1}, ""}).error().code, Code::not_found) << id;
  }
}

TEST_P(TaskQueueContract, AnIdThatNoTaskCanHaveIsNotFound) {
  rig().submit(task_named("a"));
  for (const std::string& id : {std::string(), std::string("."), std::string("../a"), std::string("a/../a"),
                                std::string("pending/a"), std::string(".tmp-a"), std::string("a b"),
                                std::string("a\0b", 3), std::string("\xff"), std::string(129, 'x')}) {
    EXPECT_EQ(queue().get(id).error().code, Code::not_found) << id;
    EXPECT_EQ(queue().cancel(id).error().code, Code::not_found) << id;
    EXPECT_EQ(queue().retry(id, 1).error().code, Code::not_found) << id;
    const std::vector<std::string> ids{id, "a"};
    const auto tasks = queue().get_all(ids);
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[0].error().code, Code::not_found) << id;
    EXPECT_EQ(tasks[1].value().spec.id, "a");
  }
  EXPECT_EQ(rig().state("a"), TaskState::pending);
}

TEST_P(TaskQueueContract, OneGroupMayNameATaskMoreThanOnce) {
  rig().submit(task_named("a"));
  rig().submit(task_named("b"));
  const auto leases = rig().lease({.worker = "w", .count = 2});
  const std::vector<LeaseKey> keys{leases[0].key, leases[1].key, leases[0].key};
  for (const auto& answer : queue().start(keys)) EXPECT_EQ(answer, LeaseOutcome::accepted);
  std::vector<CommitRequest> commits;
  for (const LeaseKey& key : keys) commits.push_back({.key = key, .result = "r"});
  const auto answers = queue().commit(commits);
  EXPECT_EQ(answers[0].value().outcome, LeaseOutcome::accepted);
  EXPECT_EQ(answers[1].value().outcome, LeaseOutcome::accepted);
  EXPECT_EQ(answers[2].value().outcome, LeaseOutcome::duplicate);
}

TEST_P(TaskQueueContract, FollowUpsAppearWithTheCommit) {
  rig().submit(task_named("parent"));
  rig().submit(task_named("known"));
  const Lease lease = rig().lease_one();
  const auto answer = queue().commit(
      {.key = lease.key, .result = "", .follow_ups = {task_named("child"), task_named("known"), task_named("child")}});
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->follow_ups.size(), 3U);
  EXPECT_EQ(answer->follow_ups[0].outcome, SubmitOutcome::accepted);
  EXPECT_EQ(answer->follow_ups[1].outcome, SubmitOutcome::already_known);
  EXPECT_EQ(answer->follow_ups[2].outcome, SubmitOutcome::already_known);
  EXPECT_EQ(rig().lease_ids({.worker = "w", .count = 9}), (std::vector<std::string>{"known", "child"}));
}

TEST_P(TaskQueueContract, AFollowUpThatIsAnotherTaskStopsTheCommit) {
  rig().submit(task_named("parent"));
  const Lease lease = rig().lease_one();
  rig().submit(task_named("taken"));
  const auto answer =
      queue().commit({.key = lease.key, .result = "", .follow_ups = {task_named("new"), task_named("taken", "SMS")}});
  EXPECT_EQ(answer.error().code, Code::conflict);
  EXPECT_EQ(rig().state("parent"), TaskState::running);
  EXPECT_EQ(queue().get("new").error().code, Code::not_found);
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::accepted);
}

TEST_P(TaskQueueContract, AFollowUpMayTakeOverTheUniqueKeyOfItsParent) {
  NewTask parent = task_named("run-1");
  parent.unique_key = "loop";
  rig().submit(parent);
  NewTask child = task_named("run-2");
  child.unique_key = "loop";
  const Lease lease = rig().lease_one();
  const auto answer = queue().commit({.key = lease.key, .result = "", .follow_ups = {child}});
  EXPECT_EQ(answer.value().follow_ups.at(0).outcome, SubmitOutcome::accepted);
  NewTask other = task_named("other");
  other.unique_key = "loop";
  EXPECT_EQ(rig().submit(other), SubmitOutcome::duplicate);
  EXPECT_EQ(rig().lease_one().task_id, "run-2");
}

TEST_P(TaskQueueContract, CancelEndsATaskThatWaitsOrRunsAndNothingElse) {
  rig().submit(task_named("waits"));
  EXPECT_EQ(queue().cancel("waits"), CancelOutcome::cancelled);
  EXPECT_EQ(rig().state("waits"), TaskState::failed);
  EXPECT_EQ(queue().cancel("waits"), CancelOutcome::already_over);
  rig().submit(task_named("runs"));
  const Lease lease = rig().lease_one();
  EXPECT_EQ(lease.task_id, "runs");
  EXPECT_EQ(queue().cancel("runs"), CancelOutcome::cancelled);
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::lease_lost);
  EXPECT_EQ(rig().state("runs"), TaskState::failed);
  EXPECT_EQ(queue().cancel("nobody").error().code, Code::not_found);
  EXPECT_EQ(queue().retry("runs", 1), RetryOutcome::retried);
  EXPECT_EQ(rig().commit(rig().lease_one().key), LeaseOutcome::accepted);
}

TEST_P(TaskQueueContract, ManyAreCancelledAndRetriedAtOnceEachWithThoseBeforeInMind) {
  for (const char* id : {"a", "b", "c"}) rig().submit(task_named(id));
  EXPECT_EQ(rig().commit(rig().lease_one().key), LeaseOutcome::accepted);
  const std::vector<std::string> ids{"a", "b", "nobody", "b", "c"};
  const auto cancelled = queue().cancel_all(ids);
  ASSERT_EQ(cancelled.size(), ids.size());
  EXPECT_EQ(cancelled[0], CancelOutcome::already_over);
  EXPECT_EQ(cancelled[1], CancelOutcome::cancelled);
  EXPECT_EQ(cancelled[2].error().code, Code::not_found);
  EXPECT_EQ(cancelled[3], CancelOutcome::already_over);
  EXPECT_EQ(cancelled[4], CancelOutcome::cancelled);
  const std::vector<RetryRequest> requests{{"c", 1}, {"a", 1}, {"c", 1}, {"nobody", 1}, {"b", 2}};
  const auto retried = queue().retry_all(requests);
  ASSERT_EQ(retried.size(), requests.size());
  EXPECT_EQ(retried[0], RetryOutcome::retried);
  EXPECT_EQ(retried[1], RetryOutcome::not_failed);
  EXPECT_EQ(retried[2], RetryOutcome::not_failed);
  EXPECT_EQ(retried[3].error().code, Code::not_found);
  EXPECT_EQ(retried[4], RetryOutcome::retried);
  EXPECT_EQ(rig().lease_ids({.worker = "w", .count = 10}), (std::vector<std::string>{"b", "c"}));
}

TEST_P(TaskQueueContract, ListPagesByIdAndFilters) {
  for (const char* id : {"d", "b", "a", "c"}) rig().submit(task_named(id, id[0] < 'c' ? "EARLY" : "LATE"));
  const auto ids = [&](const TaskFilter& filter) {
    std::string text;
    const auto tasks = queue().list(filter).value();
    for (const Task& task : tasks) text += task.spec.id;
    return text;
  };
  EXPECT_EQ(ids({}), "abcd");
  EXPECT_EQ(ids({.limit = 3}), "abc");
  EXPECT_EQ(ids({.after = "c"}), "d");
  EXPECT_EQ(ids({.type = "LATE"}), "cd");
  rig().lease_one();
  EXPECT_EQ(ids({.state = TaskState::running}), "d");
  EXPECT_EQ(ids({.state = TaskState::pending}), "abc");
  EXPECT_EQ(queue().counts(), (TaskCounts{3, 1}));
}

TEST_P(TaskQueueContract, PruneForgetsOnlyWhatHasBeenOverForLong) {
  for (const char* id : {"a", "b", "c"}) rig().submit(task_named(id));
  rig().commit(rig().lease_one().key);
  wait(Seconds(100));
  rig().commit(rig().lease_one().key);
  EXPECT_EQ(queue().prune({.over_before = kQueueStart + Seconds(100)}), 1U);
  EXPECT_EQ(queue().get("a").error().code, Code::not_found);
  EXPECT_EQ(rig().state("b"), TaskState::succeeded);
  EXPECT_EQ(rig().state("c"), TaskState::pending);
  EXPECT_EQ(rig().submit(task_named("a", "MAIL", "7")), SubmitOutcome::accepted);
}

TEST_P(TaskQueueContract, PruneCanKeepWhatFailedOrWhatSucceeded) {
  for (const char* id : {"done-1", "dead-1", "done-2", "dead-2", "waits"}) rig().submit(task_named(id));
  for (const char* id : {"dead-1", "dead-2"}) EXPECT_EQ(queue().cancel(id), CancelOutcome::cancelled);
  for (int i = 0; i < 2; ++i) rig().commit(rig().lease_one().key);
  const Instant later = kQueueStart + Seconds(1);
  EXPECT_EQ(queue().prune({.over_before = kQueueStart, .state = TaskState::succeeded}), 0U);
  EXPECT_EQ(queue().prune({.over_before = later, .state = TaskState::pending}), 0U);
  EXPECT_EQ(queue().prune({.over_before = later, .state = TaskState::succeeded}), 2U);
  EXPECT_EQ(queue().get("done-1").error().code, Code::not_found);
  EXPECT_EQ(rig().state("dead-1"), TaskState::failed);
  EXPECT_EQ(queue().prune({.over_before = later, .state = TaskState::failed, .limit = 1}), 1U);
  EXPECT_EQ(queue().prune({.over_before = later, .state = TaskState::failed}), 1U);
  EXPECT_EQ(queue().counts(), (TaskCounts{1, 0}));
}

TEST_P(TaskQueueContract, AListIsReadAPartAtATimeUntilItsPageIsComplete) {
  for (const char* id : {"a", "b", "c"}) rig().submit(task_named(id));
  const auto page_of = [&](const TaskFilter& filter) {
    const auto scan = queue().begin_list(filter);
    Result<std::optional<TaskPage>> page = std::nullopt;
    for (int part = 0; page && !*page && part < 100; ++part) page = scan->next_part();
    EXPECT_TRUE(page && *page);
    return page && *page ? **page : TaskPage();
  };
  const TaskPage first = page_of({.limit = 2});
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first.next, "b");
  const TaskPage last = page_of({.after = first.next, .limit = 2});
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].spec.id, "c");
  EXPECT_EQ(last.next, "");
}

TEST_P(TaskQueueContract, ARemovalSaysHowManyItHasRemovedSoFar) {
  for (const char* id : {"a", "b"}) rig().submit(task_named(id));
  for (int i = 0; i < 2; ++i) rig().commit(rig().lease_one().key);
  const auto nothing = queue().begin_prune({.over_before = kQueueStart + Seconds(1), .limit = 0});
  EXPECT_EQ(nothing->next_part(), true);
  EXPECT_EQ(nothing->removed(), 0U);
  const auto scan = queue().begin_prune({.over_before = kQueueStart + Seconds(1)});
  Result<bool> is_done = false;
  for (int part = 0; is_done && !*is_done && part < 100; ++part) is_done = scan->next_part();
  EXPECT_EQ(is_done, true);
  EXPECT_EQ(scan->removed(), 2U);
}

TEST_P(TaskQueueContract, TheRetentionRemovesWhatIsTooOldAndTheOldestOfTooMany) {
  const auto remove_with = [&](const TaskRetention& keeps) {
    const auto scan = queue().begin_retention(keeps, now(rig().clock));
    Result<bool> is_done = false;
    for (int part = 0; is_done && !*is_done && part < 100; ++part) is_done = scan->next_part();
    EXPECT_EQ(is_done, true);
    return scan->removed();
  };
  // Hours apart: files are told apart by the hour in which they were written.
  for (const char* id : {"a", "b", "c", "d"}) {
    rig().submit(task_named(id));
    rig().commit(rig().lease_one().key);
    wait(Seconds(2 * 3600));
  }
  rig().submit(task_named("waits"));
  EXPECT_EQ(remove_with({.age = Seconds(7 * 3600), .most = 10}), 1U);
  EXPECT_EQ(queue().get("a").error().code, Code::not_found);
  EXPECT_EQ(remove_with({.age = Seconds(9 * 3600), .most = 1}), 2U);
  EXPECT_EQ(queue().get("c").error().code, Code::not_found);
  EXPECT_EQ(rig().state("d"), TaskState::succeeded);
  EXPECT_EQ(rig().state("waits"), TaskState::pending);
}

TEST_P(TaskQueueContract, ItTellsWhenATaskIsReadyThatNoLeaseHasFoundReady) {
  EXPECT_EQ(queue().next_ready(), std::nullopt);
  NewTask later = task_named("later");
  later.run_at = kQueueStart + Seconds(30);
  rig().submit(later);
  EXPECT_EQ(queue().next_ready(), kQueueStart + Seconds(30));
  rig().submit(task_named("new", "SMS"));
  EXPECT_EQ(queue().next_ready(), kQueueStart);
  // Found ready, though nobody wanted it: asking again at any time changes nothing.
  EXPECT_TRUE(rig().lease({.worker = "w", .types = {"MAIL"}}).empty());
  EXPECT_EQ(queue().next_ready(), kQueueStart + Seconds(30));
  wait(Seconds(30));
  EXPECT_EQ(rig().lease_ids({.worker = "w", .count = 9}), (std::vector<std::string>{"new", "later"}));
  EXPECT_EQ(queue().next_ready(), std::nullopt);
}

TEST_P(TaskQueueContract, AnAttemptThatFailedIsReadyAgainAfterItsBackOff) {
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one();
  ASSERT_TRUE(queue().fail_attempt({lease.key, "no luck"}));
  const auto ready = queue().next_ready();
  ASSERT_TRUE(ready);
  EXPECT_GT(*ready, kQueueStart);
  EXPECT_EQ(*ready, *queue().get("a")->spec.run_at);
}

TEST_P(TaskQueueContract, TheSummaryCountsWhatWaitsRunsAndHasEnded) {
  NewTask later = task_named("later", "SMS");
  later.run_at = kQueueStart + Seconds(3600);
  for (const char* id : {"a", "b", "c", "d", "e"}) rig().submit(task_named(id));
  rig().submit(later);
  rig().commit(rig().lease_one().key);
  NewTask once = task_named("once");
  once.retry.max_attempts = 1;
  once.priority = 9;
  rig().submit(once);
  ASSERT_TRUE(queue().fail_attempt({rig().lease_one().key, "boom"}));
  rig().lease_one();
  EXPECT_EQ(queue().cancel("c"), CancelOutcome::cancelled);
  wait(Seconds(7));
  const TaskSummary summary = queue().summary().value();
  EXPECT_EQ(summary.counts, (TaskCounts{3, 1}));
  EXPECT_EQ(summary.types,
            (std::vector<TaskSummary::OfType>{
                {TaskState::pending, "MAIL", 2}, {TaskState::pending, "SMS", 1}, {TaskState::running, "MAIL", 1}}));
  EXPECT_EQ(summary.ended,
            (std::vector<TaskSummary::OfType>{{TaskState::succeeded, "MAIL", 1}, {TaskState::failed, "MAIL", 1}}));
  EXPECT_EQ(summary.cancelled, (std::vector<TaskSummary::OfType>{{TaskState::failed, "MAIL", 1}}));
  EXPECT_EQ(summary.oldest_pending, Seconds(7));
  EXPECT_EQ(summary.problem, std::nullopt);
}

TEST_P(TaskQueueContract, AQueueInOrderHasNotStoppedAndLeavesNothingUnfinished) {
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one();
  ASSERT_TRUE(queue().commit({.key = lease.key, .result = "", .follow_ups = {task_named("b")}}));
  EXPECT_FALSE(queue().has_unfinished());
  EXPECT_FALSE(queue().has_stopped());
  EXPECT_EQ(queue().stopped(), std::nullopt);
  EXPECT_EQ(queue().next_expiry(), std::nullopt);
}

TEST_P(TaskQueueContract, RequestsOutOfRangeAreRefused) {
  EXPECT_EQ(queue().lease({.worker = "", .types = {}}).error().code, Code::invalid);
  EXPECT_EQ(queue().lease({.worker = "w", .count = 0}).error().code, Code::invalid);
  EXPECT_EQ(queue().lease({.worker = "w", .count = kMostLeases + 1}).error().code, Code::invalid);
  EXPECT_EQ(queue().lease({.worker = "w", .types = {"a b"}}).error().code, Code::invalid);
  EXPECT_EQ(queue().lease({.worker = "w", .count = 1, .term = Seconds(0)}).error().code, Code::invalid);
  rig().submit(task_named("a"));
  const Lease lease = rig().lease_one();
  EXPECT_EQ(queue().commit({.key = lease.key, .result = "\xff"}).error().code, Code::invalid);
  EXPECT_EQ(queue().commit({.key = lease.key, .result = "", .files = {{"../x", ""}}}).error().code, Code::invalid);
  EXPECT_EQ(queue().commit({.key = lease.key, .result = "", .follow_ups = {task_named(".x")}}).error().code,
            Code::invalid);
  EXPECT_EQ(rig().commit(lease.key), LeaseOutcome::accepted);
}

}  // namespace kron::testing
