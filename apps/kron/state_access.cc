#include "state_access.h"

#include <cstdlib>
#include <unistd.h>

#include "daemon_client.h"
#include "flag_values.h"
#include "kron/api/state_records.h"
#include "kron/base/text.h"
#include "kron/daemon/reload.h"
#include "kron/env/places.h"
#include "kron/env/real_file_system.h"
#include "kron/env/safe_place.h"
#include "kron/jobs/disk.h"
#include "kron/ledger/file_ledger.h"
#include "kron/log/line_log.h"

namespace kron::cli {
namespace {

constexpr std::size_t kRecordsAtOnce = 1000;

class AskedState : public StateAccess {
 public:
  explicit AskedState(const http::Endpoint& place) : client_(place) {}

  Result<std::string> page(const std::string& after) override {
    return client_.get(Target("state").parameter("after", after).parameter("limit", std::to_string(kRecordsAtOnce)));
  }
  Result<std::string> show(const std::string& identity) override {
    return client_.get(Target("state").segment(identity));
  }
  Result<std::string> reset(const std::string& identity) override {
    return client_.post(Target("state").segment(identity).segment("reset"));
  }
  Result<std::string> prune(bool dry_run, const std::vector<std::string>& /*config*/) override {
    return client_.post(Target("state").segment("prune"), dry_run ? R"({"dryRun":true})" : "{}");
  }

 private:
  DaemonClient client_;
};

class OwnState : public StateAccess {
 public:
  OwnState() : log_(STDERR_FILENO, clock_, LogFormat::text, LogLevel::error) {}

  Status open(const std::string& path) {
    // A misspelt directory is told, not made.
    auto directory = files_.open_directory(path);
    if (!directory) return fail(directory.error());
    if (Status safe = check_place(path); !safe) return safe;
    directory_ = *std::move(directory);
    auto ledger = FileLedger::open(files_, path, log_);
    if (!ledger) return fail(ledger.error());
    ledger_ = *std::move(ledger);
    return {};
  }

  Result<std::string> page(const std::string& after) override {
    return api::records_json(*directory_, after, kRecordsAtOnce);
  }
  Result<std::string> show(const std::string& identity) override { return api::record_json(*directory_, identity); }

  Result<std::string> reset(const std::string& identity) override {
    const Result<bool> alive = api::has_run_alive(*directory_, identity, clock_.boot_id());
    if (!alive) return fail(alive.error());
    if (*alive) {
      return fail(Code::conflict, "a run of " + quoted(identity, 200) + " is active; wait for its end, or kill it");
    }
    const Result<KnownJob> anew = ledger_->reset(identity, now(clock_), clock_.boot_id());
    if (!anew) return fail(anew.error());
    return api::reset_json(identity, *anew);
  }

  Result<std::string> prune(bool dry_run, const std::vector<std::string>& config) override {
    const auto configured = configured_jobs(config);
    if (!configured) return fail(configured.error());
    const auto jobs = api::jobs_to_prune(*directory_, *configured, clock_.boot_id());
    if (!jobs) return fail(jobs.error());
    std::vector<Sha256> hashes;
    for (const api::PrunedJob& job : *jobs) hashes.push_back(job.hash);
    if (!dry_run && !hashes.empty()) {
      if (const Status forgotten = ledger_->forget(hashes); !forgotten) return fail(forgotten.error());
    }
    return api::pruned_json(*jobs, dry_run);
  }

 private:
  static Result<std::vector<std::string>> configured_jobs(std::vector<std::string> paths) {
    if (paths.empty()) {
      auto usual = default_config();
      if (!usual) return fail(usual.error());
      paths.push_back(*std::move(usual));
    }
    ZoneDatabase zones;
    const jobs::LoadOptions load{.host = jobs::host_zone(zones), .now = present()};
    return daemon::names_of(jobs::load_paths(paths, jobs::disk_files(jobs::Trust::own_only), zones, load));
  }

  RealClock clock_;
  LineLog log_;
  RealFileSystem files_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<FileLedger> ledger_;
};

// A socket that was named may be another host's than the usual state directory.
bool may_own(const DaemonOptions& options) {
  const char* variable = std::getenv("KRON_SOCKET");
  const bool has_variable = variable != nullptr && *variable != '\0';
  return options.socket.empty() && (!has_variable || !options.state_dir.empty());
}

}  // namespace

Result<std::unique_ptr<StateAccess>> StateAccess::open(const DaemonOptions& options) {
  const auto place = krond_place(options);
  if (!place) return fail(place.error());
  // Whatever krond has to say, even that it will not: where it is, its word counts.
  const auto status = DaemonClient(*place).get(Target("status"));
  if (place->is_remote() || !may_own(options) || status || status.error().code != Code::unreachable) {
    return std::make_unique<AskedState>(*place);
  }
  const auto state =
      options.state_dir.empty() ? default_state_directory() : Result<std::string>(absolute_path(options.state_dir));
  if (!state) return fail(state.error());
  auto own = std::make_unique<OwnState>();
  if (const Status opened = own->open(*state); !opened) return fail(opened.error());
  return own;
}

}  // namespace kron::cli
