#include "kron/cluster/cluster_runner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/cluster/rundata.h"

namespace kron::cluster {
namespace {

constexpr char kFenceVariable[] = "KRON_FENCING_TOKEN";
constexpr char kHostVariable[] = "KRON_HOST";

// Whatever a definition says of them: a token that is not ours fences nobody.
void set_variable(RunSpec& spec, const std::string& name, std::string value) {
  std::erase_if(spec.environment, [&](const auto& variable) { return variable.first == name; });
  spec.environment.emplace_back(name, std::move(value));
}

RunExit never_let_go(const std::string& run_id) {
  RunExit exit{run_id, std::nullopt, "the daemon ended before it let this run go"};
  exit.never_ran = true;
  return exit;
}

}  // namespace

Result<ProcessIdentity> ClusterRunner::start(const RunSpec& spec) {
  if (held_.contains(spec.run_id) || parts_.runs.has(spec.run_id)) {
    return fail(Code::conflict, "the run " + spec.run_id + " is already there");
  }
  held_.emplace(spec.run_id, spec);
  return ProcessIdentity{-1, 0, parts_.host.boot_id()};
}

void ClusterRunner::abandon(std::string_view run_id) {
  const auto found = held_.find(run_id);
  if (found != held_.end()) held_.erase(found);
}

Status ClusterRunner::open_gate(std::string_view run_id) {
  const auto found = held_.find(run_id);
  if (found == held_.end()) return fail(Code::not_found, "no run " + std::string(run_id) + " is held at a gate");
  RunSpec spec = std::move(found->second);
  held_.erase(found);
  const std::optional<Grant> grant = parts_.grants.take(run_id);
  if (grant) return start_claimed(std::move(spec), *grant);
  // Redis has no such claim, so there is nothing to end there.
  RunExit exit{spec.run_id, std::nullopt, "start failed: nobody was granted this run"};
  exit.never_ran = true;
  exits_.push_back(exit);
  if (parts_.exits) parts_.exits();
  return fail(Code::conflict, exit.reason);
}

// If we die before the file is there, nobody of this host knows of the claim: the reaper ends it, and its lock lapses.
// Before the PID is in it: nothing was let go, and the next daemon says so. After: the next daemon adopts the run, or
// finds that it ended at its gate.
Status ClusterRunner::start_claimed(RunSpec spec, const Grant& grant) {
  ActiveRun run;
  run.claim.grant = grant;
  run.deadline = grant.lock_key.empty() ? kNoDeadline : lease_deadline(grant.sent, grant.ttl);
  Result<ClaimFile> file = parts_.runs.claims().create(run.claim, run.deadline);
  if (!file) return fail_to_start(std::move(run), file.error());
  run.file = *std::move(file);

  set_variable(spec, kFenceVariable, std::to_string(grant.fence));
  set_variable(spec, kHostVariable, parts_.instance());
  if (run.is_locked()) spec.lease = run.file.descriptor();
  const Result<ProcessIdentity> process = parts_.processes.start(spec);
  if (!process) return fail_to_start(std::move(run), process.error());
  run.claim.process = *process;
  if (const Status written = run.file.write(run.claim); !written) {
    parts_.processes.abandon(spec.run_id);
    run.claim.process = {};
    return fail_to_start(std::move(run), written.error());
  }
  parts_.runs.add(std::move(run));
  return parts_.processes.open_gate(spec.run_id);
}

// Its claim stands in Redis: the shipper ends it, as failed.
Status ClusterRunner::fail_to_start(ActiveRun run, const Error& why) {
  RunExit exit{run.claim.grant.run_id, std::nullopt, "start failed: " + why.message};
  exit.never_ran = true;
  exit.ended = now(parts_.clock);
  parts_.log.error("start_failed",
                   {{"identity", run.claim.grant.job}, {"runId", exit.run_id}, {"reason", why.message}});
  parts_.runs.add(std::move(run));
  parts_.runs.end(exit, true);
  exits_.push_back(std::move(exit));
  if (parts_.exits) parts_.exits();
  return fail(why);
}

Status ClusterRunner::recover() {
  Result<std::vector<Claims::Found>> found = parts_.runs.claims().read_all();
  if (!found) return fail(found.error());
  for (Claims::Found& claim : *found) take_up(std::move(claim));
  return {};
}

void ClusterRunner::take_up(Claims::Found found) {
  const std::string run_id = found.run_id;
  if (!found.damage.empty()) {
    // Nobody extends its lease, so its command ends with its lock; in Redis the reaper ends it.
    parts_.log.error("claim_damaged", {{"runId", run_id}, {"reason", found.damage}});
    return parts_.runs.claims().remove(run_id);
  }
  ActiveRun run;
  run.claim = std::move(found.claim);
  run.file = std::move(found.file);
  run.deadline = run.file.deadline();
  std::optional<RunExit> exit;
  if (run.claim.process.pid <= 0) {
    exit = never_let_go(run_id);
  } else {
    exit = parts_.processes.adopt(run_id, run.claim.process);
  }
  if (exit) on_cluster_time(*exit, run.claim.grant.start_time);
  parts_.runs.add(std::move(run));
  if (!exit) return;
  parts_.runs.end(*exit, false);
  ended_before_.insert_or_assign(run_id, *std::move(exit));
}

std::optional<RunExit> ClusterRunner::adopt(std::string_view run_id, const ProcessIdentity& /*placeholder*/) {
  if (const auto ended = ended_before_.find(run_id); ended != ended_before_.end()) {
    RunExit exit = std::move(ended->second);
    ended_before_.erase(ended);
    parts_.runs.told(run_id);
    return exit;
  }
  if (parts_.runs.has(run_id)) return std::nullopt;
  return RunExit{std::string(run_id), std::nullopt, "this host knows nothing of it any more"};
}

std::optional<RunExit> ClusterRunner::earlier_run(std::string_view run_id) {
  return parts_.processes.earlier_run(run_id);
}

void ClusterRunner::terminate(std::string_view run_id) { parts_.processes.terminate(run_id); }
void ClusterRunner::kill(std::string_view run_id) { parts_.processes.kill(run_id); }

std::vector<RunExit> ClusterRunner::drain_exits() {
  std::vector<RunExit> exits = parts_.processes.drain_exits();
  for (RunExit& exit : exits) {
    std::string start_time;
    parts_.runs.with(exit.run_id, [&](const ActiveRun& run) { start_time = run.claim.grant.start_time; });
    on_cluster_time(exit, start_time);
    parts_.runs.end(exit, true);
  }
  std::ranges::move(std::exchange(exits_, {}), std::back_inserter(exits));
  return exits;
}

// kron-exec stamps by the host's clock. No run ends before it started.
void ClusterRunner::on_cluster_time(RunExit& exit, std::string_view start_time) const {
  if (!exit.ended) return;
  *exit.ended += std::chrono::round<Seconds>(parts_.clock.wall() - parts_.host.wall());
  if (const auto start = time_of(start_time)) exit.ended = std::max(*exit.ended, std::chrono::floor<Seconds>(*start));
}

}  // namespace kron::cluster
