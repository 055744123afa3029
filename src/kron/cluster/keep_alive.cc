#include "kron/cluster/keep_alive.h"

#include <algorithm>
#include <utility>

#include "kron/cluster/calls.h"
#include "kron/cluster/rundata.h"
#include "kron/env/descriptor.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/process_identity.h"
#include "kron/runner/protocol.h"

namespace kron::cluster {
namespace {

constexpr std::size_t kMostKept = 250;  // of a call: a script stops everybody else
constexpr Nanoseconds kLeastRenewal = std::chrono::milliseconds(200);
constexpr Nanoseconds kSoon = std::chrono::milliseconds(100);
constexpr Nanoseconds kAfterRefusal = std::chrono::milliseconds(200);

Nanoseconds renewal_of(const ActiveRun& run) { return std::max(run.claim.grant.ttl / 3, kLeastRenewal); }

bool has_run(const std::vector<std::string>& runs, const std::string& run_id) {
  return std::ranges::find(runs, run_id) != runs.end();
}

}  // namespace

void kill_by_lease(const ProcessIdentity& helper) {
  if (helper.pid <= 0) return;
  // The descriptor first, then the check: whoever has that PID and start time now is the one the descriptor is for.
  const Descriptor process(runner::open_pidfd(helper.pid));
  if (!process || runner::start_time_of(helper.pid) != helper.start_time) return;
  (void)runner::signal_pidfd(process.get(), runner::kKillSignal);
}

KeepAlive::KeepAlive(ActiveRuns& runs, Link& link, Keys keys, const Clock& clock, Log& log, Options options)
    : runs_(runs), link_(link), keys_(std::move(keys)), clock_(clock), log_(log), options_(std::move(options)) {
  if (!options_.kill) options_.kill = kill_by_lease;
}

KeepAlive::KeepAlive(ActiveRuns& runs, Link& link, Keys keys, const Clock& clock, Log& log)
    : KeepAlive(runs, link, std::move(keys), clock, log, Options{}) {}

Nanoseconds KeepAlive::tick() {
  const Nanoseconds now = clock_.boot_time();
  Nanoseconds next = now + kLongestStep;
  std::vector<Asked> due;
  runs_.for_each([&](ActiveRun& run) {
    const bool renews = run.is_locked() && !run.has_lost_lock;
    // The claim was the first heartbeat and the first renewal. After a restart nobody knows when the last were.
    if (run.beat_at == Nanoseconds(0)) {
      const Nanoseconds sent = run.claim.grant.sent;
      run.beat_at = sent == Nanoseconds(0) ? now : sent + options_.heartbeat;
      run.renew_at = sent == Nanoseconds(0) ? now : sent + renewal_of(run);
    }
    // The answer sets when it is due next, and wakes nobody.
    const Nanoseconds look_again = now + (renews ? renewal_of(run) / 2 : kLongestStep);
    if (run.is_asked) {
      next = std::min(next, look_again);
      return;
    }
    // Those that are due soon go with those that are due.
    const bool is_for_lock = renews && run.renew_at - std::min(renewal_of(run) / 10, kSoon) <= now;
    if (is_for_lock || run.beat_at <= now) {
      run.is_asked = true;
      due.push_back({run.claim.grant.run_id, is_for_lock});
      next = std::min(next, look_again);
      return;
    }
    next = std::min({next, run.beat_at, renews ? run.renew_at : kNoDeadline});
  });
  for (std::size_t at = 0; at < due.size(); at += kMostKept) {
    const std::size_t end = std::min(due.size(), at + kMostKept);
    post({due.begin() + static_cast<std::ptrdiff_t>(at), due.begin() + static_cast<std::ptrdiff_t>(end)});
  }
  return std::max(next - clock_.boot_time(), Nanoseconds(0));
}

void KeepAlive::post(std::vector<Asked> asked) {
  KeepCall call;
  for (const Asked& each : asked) {
    call.runs.push_back(each.run_id);
    if (!each.is_for_lock) continue;
    runs_.with(each.run_id, [&](const ActiveRun& run) {
      call.locks.push_back({run.claim.grant.lock_key, each.run_id, run.claim.grant.ttl});
    });
  }
  link_.post(call.command(keys_), Link::Urgency::urgent,
             [this, asked = std::move(asked)](const TimedReply& reply) { take(asked, reply); });
}

// On the link's thread.
void KeepAlive::take(const std::vector<Asked>& asked, const TimedReply& reply) {
  Result<KeepAnswer> answer =
      reply.reply.is_reply() ? KeepAnswer::parse(reply.reply.value) : fail(Code::unreachable, reply.reply.why);
  if (!answer && reply.reply.how == RedisReply::How::error) {
    log_.error("keep_refused", {{"reason", answer.error().message}});
  }
  for (const Asked& each : asked) {
    runs_.with(each.run_id, [&](ActiveRun& run) {
      run.is_asked = false;
      if (!answer) {
        run.beat_at = std::max(run.beat_at, reply.received + kAfterRefusal);
        run.renew_at = std::max(run.renew_at, reply.received + kAfterRefusal);
        return;
      }
      run.beat_at = reply.sent + options_.heartbeat;
      if (has_run(answer->gone, each.run_id) && !run.exit && !std::exchange(run.is_known_gone, true)) {
        log_.warning("run_not_active", {{"identity", run.claim.grant.job}, {"runId", each.run_id}});
      }
      if (!each.is_for_lock) return;
      run.renew_at = reply.sent + renewal_of(run);
      if (has_run(answer->lost, each.run_id)) return lose(run);
      extend(run, reply.sent);
    });
  }
}

// From when it was sent: Redis has counted from then on, or later.
void KeepAlive::extend(ActiveRun& run, Nanoseconds sent) {
  const Nanoseconds deadline = lease_deadline(sent, run.claim.grant.ttl);
  if (deadline > run.deadline && run.file.set_deadline(deadline)) run.deadline = deadline;
}

void KeepAlive::assert_runs() {
  std::vector<AssertCall> calls;
  runs_.for_each([&](ActiveRun& run) {
    if (run.exit || run.has_lost_lock) return;
    run.is_asserting = true;
    const Grant& grant = run.claim.grant;
    const std::string blob = running_blob(options_.dialect, options_.host, grant.job).with(grant.start_time);
    calls.push_back({grant.run_id, options_.owner, grant.fence, grant.start_time, blob, grant.lock_key, grant.ttl});
  });
  for (const AssertCall& call : calls) {
    link_.post(call.command(keys_), Link::Urgency::urgent,
               [this, run_id = call.run_id](const TimedReply& reply) { take_assertion(run_id, reply); });
  }
}

// On the link's thread.
void KeepAlive::take_assertion(const std::string& run_id, const TimedReply& reply) {
  const Result<AssertAnswer> answer =
      reply.reply.is_reply() ? AssertAnswer::parse(reply.reply.value) : fail(Code::unreachable, reply.reply.why);
  runs_.with(run_id, [&](ActiveRun& run) {
    run.is_asserting = false;
    if (!answer) return log_.error("assert_refused", {{"runId", run_id}, {"reason", answer.error().message}});
    switch (answer->word) {
      case AssertAnswer::Word::ok:
        if (run.is_locked()) extend(run, reply.sent);
        return;
      case AssertAnswer::Word::over:
        return log_.warning("run_not_active", {{"identity", run.claim.grant.job}, {"runId", run_id}});
      case AssertAnswer::Word::taken:
        return lose(run);
    }
  });
}

void KeepAlive::lose(ActiveRun& run) {
  // Whoever has ended needs no lock; and whether writes were lost is found out by asserting the run.
  if (run.exit || run.is_asserting || run.has_lost_lock) return;
  run.has_lost_lock = true;
  run.deadline = clock_.boot_time();
  (void)run.file.set_deadline(run.deadline);
  log_.error("lock_lost", {{"identity", run.claim.grant.job}, {"runId", run.claim.grant.run_id}});
  options_.kill(run.claim.process);
}

}  // namespace kron::cluster
