#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kron/log/line_log.h"
#include "task_client.h"
#include "worker_commands.h"

namespace kron::cli {

// When a worker ends by itself.
enum class WorkUntil : std::uint8_t {
  stopped,  // never
  drained,  // no task of its types waits or runs
  idle,     // none is ready now
};

struct WorkerOptions {
  std::string name;
  std::vector<std::string> types = {};  // empty: any
  std::size_t concurrency = 1;
  Seconds lease{60};
  WorkUntil until = WorkUntil::stopped;
};

// Leases tasks, runs a command for each, and commits what it leaves. Exit status 0 commits, 75 asks for a retry that
// does not count, anything else is a failed attempt. A command whose lease is lost is ended, and nothing of it is
// committed.
class Worker {
 public:
  // All outlive the worker.
  Worker(TaskClient& client, CommandsOfWorker& commands, const Clock& clock, LineLog& log, WorkerOptions options)
      : client_(client), commands_(commands), clock_(clock), log_(log), options_(std::move(options)) {}

  // TERM or INT once: leases no more, and ends when what runs has ended; twice: ends what runs too, and gives the
  // leases back. Fails when the tasks cannot be reached for good, and when the command is none that can be executed:
  // then no attempt is used up.
  Status run();

 private:
  struct Work {
    Lease lease;
    Nanoseconds renew_at{0};  // on Clock::boot_time, as the next
    Nanoseconds ends_at{0};   // after this the lease is not ours any more, whatever nobody could tell us
    bool is_lost = false;
    std::optional<EndedCommand> ended = {};
  };
  using Works = std::map<std::uint64_t, Work>;  // by token

  Status turn();
  void stop(int signal);
  void renew_due();
  void lose(Work& work, std::string_view why);
  Status settle();
  Status commit(const std::vector<std::uint64_t>& tokens);
  Status give_up(const std::vector<FailRequest>& requests);
  FailRequest failure_of(const Work& work, const Error* problem) const;
  void note_trouble(const Error& error);
  bool cannot_execute(const Work& work) const;
  void finish(std::uint64_t token, LogLevel level, std::string_view event, std::string_view reason);
  LeaseRequest request_for(std::size_t room) const;
  Status lease_more();
  Status start(std::vector<Lease> leases);
  Result<bool> is_over();
  std::optional<Nanoseconds> next_deadline() const;
  bool goes_on() const { return stops_ == 0 && !broken_command_; }
  bool has_room() const { return goes_on() && works_.size() < options_.concurrency; }

  TaskClient& client_;
  CommandsOfWorker& commands_;
  const Clock& clock_;
  LineLog& log_;
  WorkerOptions options_;
  Works works_;
  int stops_ = 0;             // how often it was told to
  bool has_trouble_ = false;  // the tasks could not be reached: tried again soon
  bool found_none_ = false;   // the last request for leases got fewer than it asked for
  bool is_cut_off_ = false;   // the last request for leases did not reach them, and it was said
  std::optional<Error> broken_command_ = {};

  // What came with the last commits, and is to be started in the same turn.
  struct Leased {
    Result<std::vector<Lease>> leases;
    Nanoseconds asked{0};  // on Clock::boot_time
  };
  std::optional<Leased> leased_ = {};
};

}  // namespace kron::cli
