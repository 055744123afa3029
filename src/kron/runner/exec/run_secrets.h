#pragma once

#include "kron/base/secret_files.h"
#include "kron/runner/exec/credential_directory.h"
#include "kron/runner/exec/instruction_reader.h"
#include "kron/runner/exec/output_mask.h"
#include "kron/runner/exec/secret_file.h"

namespace kron::exec {

// What a run gets from files that its definition names: variables and credentials. In memory of our own, and in no
// other place that outlives the run.
class RunSecrets {
 public:
  static constexpr std::size_t kMostProblem = 400;

  RunSecrets() = default;
  ~RunSecrets();
  RunSecrets(const RunSecrets&) = delete;
  RunSecrets& operator=(const RunSecrets&) = delete;

  // Reads all files and makes the credentials; `instructions.variables` are then those with what the files give: a
  // later one takes the place of an earlier one. Null, or what is wrong, which names no value. The instructions may
  // go only after this.
  const char* take(Instructions& instructions);

  // The run is over.
  void remove() { directory_.remove(); }

  const MaskedValues& masked() const { return masked_; }

 private:
  const char* say(const char* verb, const char* object, const char* problem);
  const char* read_env_files(Instructions& instructions, uid_t user);
  const char* take_credentials(Instructions& instructions, uid_t user, gid_t group);
  const char* mask(std::string_view value);
  bool begin_variables(Instructions& instructions);
  bool set(char* variable, bool is_own);

  SecretText files_[kMostEnvFiles];
  SecretText credentials_[kMostCredentials];
  CredentialDirectory directory_;
  MaskedValues masked_;
  bool masks_ = false;
  char** variables_ = nullptr;  // null-terminated
  std::size_t count_ = 0;
  std::size_t room_ = 0;
  char directory_variable_[PATH_MAX + 32] = "";
  char problem_[kMostProblem] = "";
};

}  // namespace kron::exec
