#pragma once

#include <map>
#include <optional>
#include <string>

#include "kron/env/clock.h"
#include "kron/jobs/definition.h"
#include "kron/runner/accounts.h"

namespace kron::cli {

// Looks whether what jobs name is on this host. Each user, program and directory is looked at once. What we may not
// look at counts as being there.
class HostCheck {
 public:
  HostCheck() : accounts_(clock_) {}

  // Why the job cannot run here: no such user or group, directory, shell or program. Nothing when all is there.
  std::optional<std::string> problem_of(const jobs::JobDefinition& definition);

 private:
  std::optional<std::string> account_problem(const jobs::RunOptions& options);
  std::optional<std::string> directory_problem(const jobs::RunOptions& options);
  std::optional<std::string> program_problem(const jobs::JobDefinition& definition);

  RealClock clock_;
  runner::Accounts accounts_;
  std::map<std::string, std::optional<std::string>> looked_at_;  // what was asked → what is wrong with it
};

// A word that is a user of this host, and no program of the usual directories.
bool is_only_a_user(const std::string& word);

}  // namespace kron::cli
