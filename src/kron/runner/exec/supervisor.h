#pragma once

#include <cstdint>
#include <sys/resource.h>

#include "kron/runner/exec/command.h"
#include "kron/runner/exec/exit_writer.h"
#include "kron/runner/exec/instruction_reader.h"
#include "kron/runner/exec/lease.h"
#include "kron/runner/exec/output_file.h"
#include "kron/runner/exec/output_mask.h"
#include "kron/runner/exec/run_secrets.h"
#include "kron/runner/exec/syslog_lines.h"

namespace kron::exec {

// Starts the command and stays with it until it has ended: copies its output, forwards the end that the daemon or the
// timeout asks for to its whole process group, and tells how it ended. A command that failed is started again where the
// job asks for it: one run, with one timeout and one output, whose end is that of the last attempt. Signals must be
// blocked already.
class Supervisor {
 public:
  // The instructions' variables become those that the run's files add to.
  Supervisor(Instructions& instructions, RunDirectory& directory);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Everything that can be done before the gate opens; may fail, which run() then reports.
  void prepare();

  Ending run();

 private:
  // TERM gives the group its grace; KILL gives what is left of it a moment to vanish. Between two attempts there is no
  // group: whatever ends a run then ends the waiting.
  enum class Phase : std::uint8_t { running, terminating, killed, waiting, given_up };

  struct Sink {
    int fd = -1;  // the end we read; -1: none, or at its end
    bool captured = false;
    int inherited = -1;  // the daemon's own, kept for further attempts
    SyslogLines lines;
    OutputMask mask;
  };

  bool open_descriptors();
  int open_sink(const Stream& stream, Sink& sink, int inherited, int priority);
  int open_pipe(Sink& sink) const;
  int inherit(Sink& sink, int standard) const;
  int input_descriptor();
  void name_helper();
  bool may_start();
  bool take_secrets();
  void refuse_with(const char* reason);
  void attempt();
  bool start();
  void release_descriptors();
  void refuse(const Refusal& refusal);

  bool is_to_try_again() const;
  bool wait_for_next();
  void give_up(const char* reason);
  void mark_attempt();

  void turn();
  void read_signals();
  void reap();
  void count(const rusage& used);
  void read_sink(Sink& sink, std::size_t most);
  void store(Sink& sink, const char* bytes, std::size_t size);  // null: what was kept back
  bool masks() const { return secrets_ != nullptr && !secrets_->masked().empty(); }
  void drain();
  void act_on_time();
  std::int64_t next_deadline() const;
  bool is_over();
  bool group_is_empty() const;
  void terminate(const char* reason);
  void kill_now();
  void kill_group();
  void end_lease();
  void add_reason(const char* reason);
  void describe_end();
  void judge(bool was_ended);
  bool counts_errors() const { return instructions_.process.fails_on == FailsOn::standard_error; }

  Instructions& instructions_;
  RunDirectory& directory_;
  RunCgroup cgroup_;
  OutputFile output_;
  Lease lease_;
  Sink sinks_[2];
  Descriptors descriptors_;
  int signals_ = -1;
  int null_ = -1;
  Refusal refusal_;
  pid_t command_ = -1;
  int status_ = 0;
  bool has_ended_ = false;     // the command itself; others of its group may live on
  bool wrote_errors_ = false;  // to standard error, in this attempt; known where counts_errors()
  Phase phase_ = Phase::running;
  std::int64_t deadline_ = 0;      // of the phase, on the monotonic clock; 0: none
  std::int64_t next_attempt_ = 0;  // on the same clock, while waiting for it
  std::uint32_t retries_ = 0;      // how many attempts there may be beyond the first
  std::uint32_t backoff_ = 0;      // seconds from the last attempt to the next
  char helper_variable_[32] = "";
  char attempt_variable_[32] = "";
  RunSecrets* secrets_ = nullptr;  // null: the run has none
  std::uint64_t killed_for_memory_ = 0;
  RunUsage used_;
  Ending ending_;
};

}  // namespace kron::exec
