#pragma once

#include <cstdint>

#include "kron/runner/exec/command.h"
#include "kron/runner/exec/exit_writer.h"
#include "kron/runner/exec/instruction_reader.h"
#include "kron/runner/exec/lease.h"
#include "kron/runner/exec/output_file.h"
#include "kron/runner/exec/syslog_lines.h"

namespace kron::exec {

// Starts the command and stays with it until it has ended: copies its output, forwards the end that the daemon or the
// timeout asks for to its whole process group, and tells how it ended. Signals must be blocked already.
class Supervisor {
 public:
  Supervisor(const Instructions& instructions, RunDirectory& directory);

  // Everything that can be done before the gate opens; may fail, which run() then reports.
  void prepare();

  Ending run();

 private:
  // TERM gives the group its grace; KILL gives what is left of it a moment to vanish.
  enum class Phase : std::uint8_t { running, terminating, killed };

  struct Sink {
    int fd = -1;  // the end we read; -1: none, or at its end
    bool captured = false;
    SyslogLines lines;
  };

  int open_sink(const Stream& stream, Sink& sink, int inherited, int priority);
  int input_descriptor();
  bool start();
  void refuse(const Refusal& refusal);

  void turn();
  void read_signals();
  void reap();
  void read_sink(Sink& sink, std::size_t most);
  void drain();
  void act_on_time();
  std::int64_t next_deadline() const;
  bool is_over();
  bool group_is_empty() const;
  void terminate(const char* reason);
  void kill_group();
  void end_lease();
  void add_reason(const char* reason);
  void describe_end();

  const Instructions& instructions_;
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
  bool has_ended_ = false;  // the command itself; others of its group may live on
  Phase phase_ = Phase::running;
  std::int64_t deadline_ = 0;  // of the phase, on the monotonic clock; 0: none
  Ending ending_;
};

}  // namespace kron::exec
