#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "kron/api/attribution.h"
#include "kron/api/paths.h"
#include "kron/api/state_records.h"
#include "kron/base/text.h"
#include "kron/env/real_file_system.h"
#include "kron/json/fields.h"

namespace kron::api {
namespace {

// What one turn of the loop forgets at most; the rest waits for its next turn.
constexpr std::size_t kForgottenAtOnce = 500;

// Reading many files takes its time, which is not the loop's. Records are replaced as a whole, so this needs no lock.
void read_aside(Parts& parts, const CallPtr& call, std::function<Result<std::string>(Directory&)> answer) {
  const bool taken = parts.aside([path = parts.state.directory, call, answer = std::move(answer)] {
    RealFileSystem files;
    const auto directory = files.open_directory(path);
    const Result<std::string> body = directory ? answer(**directory) : fail(directory.error());
    if (!body) return call->refuse(body.error());
    call->send_json(*body);
  });
  if (!taken) call->refuse(too_busy());
}

void list_records(Parts& parts, const CallPtr& call) {
  const auto limit = limit_parameter(call->request);
  if (!limit) return call->refuse(limit.error());
  read_aside(parts, call, [after = text_parameter(call->request, "after"), limit = *limit](Directory& directory) {
    return records_json(directory, after, limit);
  });
}

void get_record(Parts& parts, const CallPtr& call) {
  read_aside(parts, call, [name = call->names.front()](Directory& directory) { return record_json(directory, name); });
}

void reset(Parts& parts, const CallPtr& call) {
  const auto from = attribution_of(call->request);
  if (!from) return call->refuse(from.error());
  parts.on_loop([&parts, call, from = *from] {
    const std::string& name = call->names.front();
    if (const Status done = parts.scheduler.reset(name); !done) return call->refuse(done.error());
    parts.log.info("reset_requested", {{"identity", name}, {"by", from.by}, {"note", from.note}});
    const auto view = parts.scheduler.view(name);
    call->send_json(reset_json(name, view ? view->known : KnownJob{}));
  });
}

Result<bool> is_dry_run(const std::string& body) {
  const auto document = object_in(body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(std::array<std::string_view, 1>{"dryRun"});
  const bool dry_run = fields.boolean("dryRun").value_or(false);
  if (!errors.empty()) return fail(errors.front());
  return dry_run;
}

// Jobs on their way out, some in each turn of the loop.
struct Pruning {
  CallPtr call;
  std::vector<PrunedJob> jobs;
  std::size_t at = 0;
  std::vector<PrunedJob> done = {};
};

void forget_some(Parts& parts, const std::shared_ptr<Pruning>& pruning) {
  parts.on_loop([&parts, pruning] {
    std::vector<Sha256> hashes;
    for (; pruning->at < pruning->jobs.size() && hashes.size() < kForgottenAtOnce; ++pruning->at) {
      PrunedJob& job = pruning->jobs[pruning->at];
      if (parts.scheduler.knows(job.identity)) continue;  // a reload has brought it back
      hashes.push_back(job.hash);
      pruning->done.push_back(std::move(job));
    }
    if (const Status forgotten = parts.state.forget(hashes); !forgotten)
      return pruning->call->refuse(forgotten.error());
    if (pruning->at < pruning->jobs.size()) return forget_some(parts, pruning);
    pruning->call->send_json(pruned_json(pruning->done, false));
  });
}

void prune_unconfigured(Parts& parts, const CallPtr& call, bool dry_run, const std::vector<std::string>& configured) {
  const bool taken = parts.aside([&parts, call, dry_run, configured] {
    RealFileSystem files;
    const auto directory = files.open_directory(parts.state.directory);
    auto jobs = directory ? jobs_to_prune(**directory, configured, parts.clock.boot_id())
                          : Result<std::vector<PrunedJob>>(fail(directory.error()));
    if (!jobs) return call->refuse(jobs.error());
    if (dry_run || jobs->empty()) return call->send_json(pruned_json(*jobs, dry_run));
    forget_some(parts, std::make_shared<Pruning>(Pruning{call, *std::move(jobs)}));
  });
  if (!taken) call->refuse(too_busy());
}

void prune_state(Parts& parts, const CallPtr& call) {
  const auto dry_run = is_dry_run(call->request.body);
  if (!dry_run) return call->refuse(dry_run.error());
  parts.on_loop([&parts, call, dry_run = *dry_run] {
    const auto configured = parts.state.configured();
    if (!configured) return call->refuse(configured.error());
    prune_unconfigured(parts, call, dry_run, *configured);
  });
}

}  // namespace

std::vector<Route> state_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/state", Right::read, with(parts, list_records), {"limit", "after"}},
      {"POST", "/api/v1/state/prune", Right::admin, with(parts, prune_state)},
      {"GET", "/api/v1/state/{name}", Right::read, with(parts, get_record)},
      {"POST", "/api/v1/state/{name}/reset", Right::admin, with(parts, reset)},
  };
}

}  // namespace kron::api
