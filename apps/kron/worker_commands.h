#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/real_file_system.h"
#include "kron/queue/task_queue.h"
#include "kron/runner/real_process_runner.h"

namespace kron::cli {

struct CommandOptions {
  std::vector<std::string> command;
  std::optional<Seconds> timeout = {};  // of tasks that have none of their own
  Seconds grace{10};                    // between TERM and KILL
};

// What a command that ended leaves to be committed.
struct Output {
  std::string result;
  std::vector<NewTask> follow_ups;
  std::vector<StagedFile> files;
};

struct EndedCommand {
  std::uint64_t token = 0;
  std::optional<int> code;  // none: nobody saw how it ended
  std::string reason = {};  // of an end that was not its own; may be empty
};

// The commands that a worker runs, one for each lease, known by the lease's token.
class CommandsOfWorker {
 public:
  virtual ~CommandsOfWorker() = default;

  // Code io and the like: nothing runs. Else its end will come, that of a program that is not there too.
  virtual Status start(const Lease& lease) = 0;
  virtual void terminate(std::uint64_t token) = 0;
  virtual std::vector<EndedCommand> drain() = 0;
  virtual std::size_t running() const = 0;

  // What a command that ended has left. Code invalid: something that cannot be committed.
  virtual Result<Output> output_of(std::uint64_t token) = 0;
  // Removes all of it.
  virtual void forget(std::uint64_t token) = 0;

  // Readable when drain() has something to do.
  virtual int descriptor() const = 0;
};

// As processes. Each has a place of its own below the worker's directory for what it stages, and goes by kron-exec: its
// process group, its timeout, its output.
class Commands : public CommandsOfWorker {
 public:
  // Ends the commands that an earlier worker of this directory left when it was killed: nobody would commit them.
  // `directory` is absolute and made if missing; code conflict when another worker has it. `helper`: find_kron_exec.
  static Result<std::unique_ptr<Commands>> open(const std::string& directory, const std::string& helper,
                                                const Clock& clock, CommandOptions options);

  Status start(const Lease& lease) override;
  void terminate(std::uint64_t token) override;
  std::vector<EndedCommand> drain() override;
  std::size_t running() const override { return runner_->alive(); }
  Result<Output> output_of(std::uint64_t token) override;
  void forget(std::uint64_t token) override;
  int descriptor() const override { return runner_->descriptor(); }

 private:
  Commands(const Clock& clock, std::string directory, CommandOptions options);

  Status end_leftovers();
  RunSpec spec_of(const Lease& lease) const;
  std::string place_of(std::uint64_t token) const;
  Result<std::string> result_of(std::uint64_t token);

  const Clock& clock_;
  std::string directory_;
  CommandOptions options_;
  RealFileSystem files_;
  std::unique_ptr<Directory> root_;
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<runner::RealProcessRunner> runner_;
  std::vector<std::pair<std::string, std::string>> environment_;  // ours, which commands inherit
  std::string working_directory_;
};

}  // namespace kron::cli
