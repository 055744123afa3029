"""Ways to break Kron, each with the test program that must notice.

A mutant is a text that stands once in its file, and what takes its place. When the code changes and the text is no
longer there, the mutant must change with it: `scripts/mutants` says so and fails.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    program: str
    tests: str = "*"


MUTANTS = [
    # First the record, then the run.
    Mutant("a run goes although its record was refused", "src/kron/scheduler/scheduler_answers.cc",
           "case Written::How::unknown:\n      undo(step);", "case Written::How::unknown:\n      let_go(step);",
           "kron_scheduler_test"),
    Mutant("a refused step leaves its job as if it had been taken", "src/kron/scheduler/scheduler_answers.cc",
           "  jobs_.wake(step.job).known = std::move(step.before);\n", "", "kron_scheduler_test"),
    Mutant("a job is judged while its step is on its way", "src/kron/scheduler/scheduler_commit.cc",
           "if (in_flight_ && in_flight_->steps.contains(job)) finish_write();", "(void)job;", "kron_scheduler_test"),
    Mutant("ends are mixed with starts", "src/kron/scheduler/scheduler_commit.cc",
           "  if (!steps_.empty()) begin_write(Where::aside);\n}\n\n// Nothing", "}\n\n// Nothing", "kron_scheduler_test"),
    Mutant("a run whose record is gone runs again", "src/kron/scheduler/scheduler_runs.cc",
           "  if (!earlier) return false;\n", "  return false;\n", "kron_scheduler_test"),
    Mutant("a period that another has run is run again", "src/kron/scheduler/scheduler_runs.cc",
           "const bool has_run = verdict == Verdict::ran;", "const bool has_run = false;", "kron_scheduler_test"),
    Mutant("a reboot job runs at each start of krond", "src/kron/scheduler/scheduler_runs.cc",
           "    if (known.last_boot_id == world_.clock.boot_id()) continue;\n", "", "kron_scheduler_test"),
    # What is handled stays handled.
    Mutant("L follows the last period and not the highest", "src/kron/core/open_periods.cc",
           "state.last_handled = std::max(state.last_handled.value_or(period), period);",
           "state.last_handled = period;", "kron_core_test", "*OpenPeriods*:*Edits*:*WrongClock*"),
    Mutant("a handled period stays in its span", "src/kron/core/open_periods.cc",
           "  std::erase(state.open_periods, period);\n  cut_from_spans(state.passed_over, period, period);\n",
           "  std::erase(state.open_periods, period);\n", "kron_core_test", "*OpenPeriods*"),
    Mutant("the span of the present may be given up", "src/kron/core/open_periods.cc",
           "std::tuple(is_ahead, is_ahead && view.holds_present(span), view.count(span))",
           "std::tuple(is_ahead && false, false, view.count(span))", "kron_core_test", "*OpenPeriods*"),
    Mutant("what was passed over is not opened again", "src/kron/core/open_periods.cc",
           "  reopen_what_is_ahead(job, state, now);\n", "  if (now < kFirstInstant) reopen_what_is_ahead(job, state, now);\n", "kron_core_test", "*OpenPeriods*"),
    Mutant("an edit of the schedule is not noticed", "src/kron/core/open_periods.cc",
           "  state.schedule = {hash, now};\n  return late;", "  return late;", "kron_core_test", "*OpenPeriods*:*Edits*"),
    Mutant("the seed forgets the salt", "src/kron/core/decision.cc",
           'decision.period_key.view(), "\\n", job.salt}', 'decision.period_key.view(), "\\n"}', "kron_core_test"),
    Mutant("the end of a window is never drawn", "src/kron/core/decision.cc",
           "static_cast<double>(width + 1)", "static_cast<double>(width)", "kron_core_test"),
    # Durable writes.
    Mutant("a sync that failed is passed by", "src/kron/env/durable.cc",
           "      if (!synced && !result_.fatal) stop(synced.error());\n", "      (void)synced;\n", "kron_env_test"),
    Mutant("names are not synced", "src/kron/env/durable.cc",
           "    if (!result_.fatal && renamed_) sync_directory();\n", "", "kron_env_test"),
    Mutant("what was replaced is written over before the new name is on the disk", "src/kron/env/durable.cc",
           "      is_exchanged_[entry] = *exchanged;\n      if (*exchanged) return {};",
           "      if (*exchanged) return spares_->give(temporaries_[entry]) ? Status() : Status();", "kron_env_test"),
    Mutant("a ledger whose disk failed goes on", "src/kron/ledger/file_ledger.cc",
           "  if (batch.fatal) broken_ = std::move(batch.fatal);\n", "", "kron_ledger_test"),
    Mutant("a record that others may change is believed", "src/kron/ledger/file_ledger.cc",
           "(file->info.mode & kOthersMayWrite) == 0)) return file;", "true)) return file;", "kron_ledger_test"),
    # Tasks: leases, fences, commits.
    Mutant("an old token commits", "src/kron/queue/transitions.cc",
           "found->token == key.token && !has_expired", "!has_expired", "kron_queue_test"),
    Mutant("a lease that has run out commits", "src/kron/queue/transitions.cc",
           "found->token == key.token && !has_expired", "found->token == key.token && (has_expired || !has_expired)",
           "kron_queue_test"),
    Mutant("a second commit is accepted", "src/kron/queue/transitions.cc",
           "  if (has_committed(task)) return LeaseOutcome::duplicate;\n", "", "kron_queue_test"),
    Mutant("tokens are handed out before their block is durable", "src/kron/queue/token_reserve.cc",
           "    if (!written) return fail(written.status.error());\n", "", "kron_queue_test"),
    Mutant("tokens begin anew after a restart", "src/kron/queue/token_reserve.cc",
           "  begin_behind(static_cast<std::uint64_t>(*number));\n", "", "kron_queue_test"),
    Mutant("a move back is not synced", "src/kron/queue/task_files.cc",
           "    if (place > *furthest_back && has_removals_[static_cast<std::size_t>(place)] && synced) synced = sync(place);\n",
           "    (void)place;\n", "kron_queue_test"),
    Mutant("follow-ups are not made after a crash", "src/kron/queue/file_queue_recovery.cc",
           "  finish(std::move(committed));\n", "", "kron_queue_test"),
    Mutant("the nearer of two copies wins", "src/kron/queue/file_queue_recovery.cc",
           "    if (further <= place) continue;\n", "    if (further >= place) continue;\n", "kron_queue_test"),
    Mutant("a lease has a whole term after each restart", "src/kron/queue/file_queue_recovery.cc",
           "  if (is_believed) held.lease_ends = *deadline;\n", "", "kron_queue_test"),
    # The cluster. What a simulation notices while it runs is in tests/cluster_simulation/mutants_test.cc.
    Mutant("a record that is made anew begins with the first revision", "src/kron/cluster/scripts/make.lua",
           "local revision = string.format('%.0f', tonumber(t[1]) * 1000000 + tonumber(t[2]))",
           "local revision = '1'", "kron_cluster_test", "ClusterLedger*"),
    Mutant("a step is judged by a record that its caller was not given", "src/kron/cluster/cluster_ledger.cc",
           "    if (given != pending.record.revision) return Written::newer(known_job(step.identity).periods);\n",
           "    (void)given;\n", "kron_cluster_test", "ClusterLedger*"),
]
