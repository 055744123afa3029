#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kron/api/parts.h"
#include "kron/core/time_zone.h"
#include "kron/daemon/job_files.h"
#include "kron/daemon/job_reader.h"
#include "kron/daemon/options.h"
#include "kron/env/mailbox.h"

namespace kron::daemon {

// The jobs of a krond that reads them from files: at its start on the loop, and for reloads beside it. Used by the loop
// alone.
class FileJobs {
 public:
  // All of it outlives the jobs.
  struct World {
    const Options& options;
    const Clock& clock;
    Log& log;
    Mailbox& mailbox;
    Scheduler& scheduler;
    std::function<void(const std::vector<jobs::JobDefinition>&)> prepare;  // before jobs are handed to the scheduler
    std::function<void()> before_reload;
    std::function<void(bool ok)> after_reload;  // false: it failed, or some files keep their earlier jobs
  };
  explicit FileJobs(World world);

  // Unreadable: there are no such files.
  Status check() const;

  // What is in order in the files runs; what became due since `on_time_since` is on time.
  Status start(const std::function<std::optional<Instant>()>& on_time_since);

  // Answers when they have been read again; `answer` may be empty.
  void reload(JobReader::Answer answer) { reader_.ask(std::move(answer)); }

  // The names of all jobs that are configured, or in force. Refused when a file has errors.
  Result<std::vector<std::string>> configured();

  const api::JobFilesStatus& status() const { return files_.status(); }

 private:
  JobReader::Hooks hooks();
  jobs::LoadedJobs read();
  void report(const jobs::LoadedJobs& jobs);
  Result<api::ReloadReport> take(jobs::LoadedJobs read);

  World world_;
  ZoneDatabase zones_;
  JobFiles files_;
  JobReader reader_;  // last: its thread uses the above
};

// Reading many jobs takes several times what they need when they rest.
void give_back_memory();

}  // namespace kron::daemon
