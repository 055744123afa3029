#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kron/base/result.h"
#include "operate_verbs.h"

namespace kron::cli {

// The records of a state directory: a running krond's, asked by its API, or our own while no krond runs, under the lock
// that krond would have. The answers are those of the API (docs/formats.md), whoever gives them.
class StateAccess {
 public:
  virtual ~StateAccess() = default;

  // A socket that was named is asked, and nobody else, unless $KRON_SOCKET names it and a state directory was named
  // too. Conflict: a krond works there that does not answer.
  static Result<std::unique_ptr<StateAccess>> open(const DaemonOptions& options);

  virtual Result<std::string> page(const std::string& after) = 0;
  virtual Result<std::string> show(const std::string& identity) = 0;
  virtual Result<std::string> reset(const std::string& identity) = 0;
  // `config`: where the job files are, when there is no krond to know it.
  virtual Result<std::string> prune(bool dry_run, const std::vector<std::string>& config) = 0;
};

}  // namespace kron::cli
