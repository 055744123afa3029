#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kron/base/process_settings.h"
#include "kron/base/secret_files.h"
#include "kron/core/alarm.h"
#include "kron/core/job.h"

namespace kron::jobs {

enum class Spelling : std::uint8_t { kron, yaml, crontab, cronken };
std::string_view name_of(Spelling spelling);

inline constexpr Seconds kDefaultGrace{10};
inline constexpr std::uint32_t kDefaultHistory = 20;
inline constexpr std::string_view kUsualShell = "/bin/sh";  // of shell=true

// What the kernel is asked to hold a run to (setrlimit); absent: as inherited.
struct ResourceLimits {
  std::optional<Seconds> cpu;
  std::optional<std::uint64_t> memory;     // bytes of address space
  std::optional<std::uint64_t> file_size;  // bytes
  std::optional<std::uint64_t> core;       // bytes
  std::optional<std::uint64_t> files;
  std::optional<std::uint64_t> processes;

  bool operator==(const ResourceLimits&) const = default;
};

// A pause that job_state of a cronken definition tells of. All but the fact is ours (`kron_pause`), and not known of a
// pause by another program.
struct ClusterPause {
  std::optional<Instant> since = {};
  std::string by = {};
  std::string note = {};

  bool operator==(const ClusterPause&) const = default;
};

// What only a cronken definition says: the lock that all hosts contend for, and the paused flag of its job_state.
struct ClusterTerms {
  bool locked = true;
  std::string lock_name;  // empty: the job's name
  Seconds ttl{0};
  bool paused = false;

  bool operator==(const ClusterTerms&) const = default;
};

// What limits how many runs of several jobs are active at once: each run of a job that names the pool has one of its
// slots. A pool is the host's, whichever file names it.
struct SlotPool {
  std::string name;
  std::uint32_t slots = 0;  // 0: another place says it (jobs/pools.h); of a definition that is used, at least 1

  bool operator==(const SlotPool&) const = default;
};
inline constexpr std::uint32_t kMostSlots = 100'000;

using Environment = std::vector<std::pair<std::string, std::string>>;

// What a run of a job does: it executes a command, …
struct Command {
  std::string text;  // as written: words_of splits it, unless RunOptions::shell reads it

  bool operator==(const Command&) const = default;
};

// … or it submits a task of this type to the queue, with RunOptions::input as its payload.
struct SubmitTask {
  std::string type;

  bool operator==(const SubmitTask&) const = default;
};

using Action = std::variant<Command, SubmitTask>;

// How a job runs, beyond its command. Most jobs of a file share one of these.
struct RunOptions {
  std::string shell;        // empty: the command's words are executed directly; else this program with -c
  std::string user, group;  // empty: the daemon's
  std::string cwd;          // absolute, or `~`: $HOME as the job sees it; empty: the daemon's default
  Environment env;          // in the order given; a name once
  SecretFiles secrets;
  ProcessSettings process;
  Seconds timeout{0};  // 0: none
  Seconds grace = kDefaultGrace;
  std::string out, err;  // empty: captured; `discard`, `inherit`, `syslog`; or an absolute path that is appended to
  ResourceLimits limits;
  std::uint32_t history = kDefaultHistory;
  std::string description;
  std::optional<std::string> input;   // the command's standard input, or the task's payload
  std::optional<AlarmTerms> notify;   // none: nobody is told
  std::string ping;                   // the URL of a check that hears of each run, a secret; empty: none does
  std::optional<SlotPool> pool;       // none: no other job's runs are in the way
  std::optional<ClusterTerms> terms;  // cronken only

  bool operator==(const RunOptions&) const = default;
};

// A job as its author wrote it: what decides (Job), what it runs, and where it stands. A value, and a small one: a
// daemon holds a million. Equality is about what is said, not about where.
struct JobDefinition {
  Job job;
  Action action;
  std::shared_ptr<const RunOptions> options;  // never null
  std::shared_ptr<const std::string> file;    // never null
  // The schedule's text, where it is not what expression_of(job.schedule) says; null otherwise, as it mostly is.
  std::shared_ptr<const std::string> schedule_text;
  std::shared_ptr<const ClusterPause> pause;  // that a cronken definition tells of; null when it tells of none
  std::uint32_t line = 0;
  Spelling spelling = Spelling::kron;

  JobDefinition();
  bool operator==(const JobDefinition& other) const;
};

// What schedule_text is to hold of a schedule that was written so.
std::shared_ptr<const std::string> kept_schedule_text(const std::string& text, const Schedule& schedule);
// The schedule as its author wrote it; nothing when no text said it (cron_args).
std::optional<std::string> schedule_as_written(const JobDefinition& definition);

bool submits_task(const JobDefinition& definition);
const std::string& command_of(const JobDefinition& definition);  // as written; empty for a task

// Hands out one shared copy for equal options, as long as they come close together (as they do in one file).
class OptionsPool {
 public:
  std::shared_ptr<const RunOptions> share(RunOptions options);

 private:
  static constexpr std::size_t kKept = 16;
  std::vector<std::shared_ptr<const RunOptions>> recent_;
  std::size_t next_ = 0;
};

// `[a-z0-9]([a-z0-9._/-]*[a-z0-9])?`, at most 200 bytes: what a job file may call a job.
bool is_job_name(std::string_view name);

// exit, stderr, nothing
std::string_view name_of(FailsOn on);
Result<FailsOn> parse_fails_on(std::string_view text);

// 50%, 150%: of one processor.
Result<std::uint32_t> parse_percent(std::string_view text, std::uint32_t most);

// 64k, 2M, 1G, 512: powers of 1024, or plain bytes.
Result<std::uint64_t> parse_size(std::string_view text);
std::string size_text(std::uint64_t bytes);

}  // namespace kron::jobs
