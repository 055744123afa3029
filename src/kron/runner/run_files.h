#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/env/process_runner.h"
#include "kron/runner/started_record.h"

namespace kron::runner {

// Letters, digits, `.`, `_` and `-`, not starting with a dot, at most 128 bytes: a run's directory is named after it.
bool is_run_id(std::string_view text);
Status check_run_id(std::string_view text);

// <state-dir>/runs: a directory for each run that started, 0700, with `started`, `output` and `exit` in it, 0600.
// kron-exec makes them.
class RunFiles {
 public:
  // Makes <state-dir>/runs if it is missing; the state directory must exist.
  static Result<RunFiles> open(std::string_view state_directory);

  // What kron-exec recorded, or nothing: it has not ended, or was killed, or the record was lost in a crash of the
  // machine.
  std::optional<RunExit> read_exit(std::string_view run_id) const;

  // Whether the run was let go: kron-exec says so before it executes anything.
  bool has_started(std::string_view run_id) const;
  // The session of the run's command, or nothing: it was not executed yet, or its kron-exec is older than this.
  std::optional<Session> read_started(std::string_view run_id) const;

  // Whether the run has a directory, and not one that says that it never ran: it was let go, and is not forgotten.
  bool has(std::string_view run_id) const;

  // Where the captured output of a run is, if it wrote any.
  std::string output_path(std::string_view run_id) const;

  // The run's directory with all that is in it. What is not there is no error.
  Status remove(std::string_view run_id);

  // Every run that has a directory, in no order.
  Status list(const std::function<void(std::string_view run_id)>& visit) const;

  const std::string& path() const { return path_; }
  int descriptor() const { return directory_.get(); }

 private:
  std::optional<std::string> read(std::string_view run_id, std::string_view name) const;

  RunFiles(Descriptor directory, std::string path) : directory_(std::move(directory)), path_(std::move(path)) {}

  Descriptor directory_;
  std::string path_;
};

}  // namespace kron::runner
