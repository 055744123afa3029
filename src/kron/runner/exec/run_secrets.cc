#include "kron/runner/exec/run_secrets.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <unistd.h>

#include "kron/runner/exec/env_file.h"
#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

constexpr std::string_view kOwnPrefix = "KRON_";
constexpr std::size_t kSpareVariables = 2;  // the null at their end, and that of attempts

std::size_t name_size(const char* variable) { return std::strcspn(variable, "="); }

}  // namespace

RunSecrets::~RunSecrets() { std::free(variables_); }

const char* RunSecrets::say(const char* verb, const char* object, const char* problem) {
  std::snprintf(problem_, sizeof problem_, "cannot %s %.200s: %s", verb, object, problem);
  return problem_;
}

const char* RunSecrets::take(Instructions& instructions) {
  if (instructions.env_file_count == 0 && instructions.credential_count == 0) return nullptr;
  const uid_t user = instructions.user.value_or(::geteuid());
  const gid_t group = instructions.group.value_or(::getegid());
  masks_ = instructions.masks_output;
  // From here on we hold what our own user may not look at through us, nor find in a core dump.
  ::prctl(PR_SET_DUMPABLE, 0);
  if (!begin_variables(instructions)) return "there is no memory for the variables";
  if (const char* problem = read_env_files(instructions, user)) return problem;
  if (const char* problem = take_credentials(instructions, user, group)) return problem;
  if (!masked_.finish()) return "there is no memory for what is masked";
  instructions.variables = variables_;
  instructions.more = variables_ + count_;
  return nullptr;
}

// The list that came with the instructions has no room for more.
bool RunSecrets::begin_variables(Instructions& instructions) {
  std::size_t given = 0;
  while (instructions.variables[given] != nullptr) ++given;
  room_ = given + instructions.env_file_count * kMostEnvLines + 1;
  variables_ = static_cast<char**>(std::calloc(room_ + kSpareVariables, sizeof(char*)));
  if (variables_ == nullptr) return false;
  std::memcpy(variables_, instructions.variables, given * sizeof(char*));
  count_ = given;
  return true;
}

// In the place of one of the same name. What names the run is not a file's to change.
bool RunSecrets::set(char* variable, bool is_own) {
  const std::size_t size = name_size(variable) + 1;
  if (!is_own && std::strncmp(variable, kOwnPrefix.data(), kOwnPrefix.size()) == 0) return true;
  std::size_t at = 0;
  while (at < count_ && std::strncmp(variables_[at], variable, size) != 0) ++at;
  if (at == room_) return false;
  variables_[at] = variable;
  if (at == count_) ++count_;
  return true;
}

const char* RunSecrets::mask(std::string_view value) {
  if (!masks_ || masked_.add_lines_of(value)) return nullptr;
  return "mask_output is asked for more than 4096 values, or there is no memory for them";
}

const char* RunSecrets::read_env_files(Instructions& instructions, uid_t user) {
  for (std::size_t i = 0; i < instructions.env_file_count; ++i) {
    const char* const path = instructions.env_files[i];
    SecretText& text = files_[i];
    if (const char* problem = text.read(path, user)) return say("read the env_file", path, problem);
    EnvFile file(text.bytes(), text.size());
    while (char* variable = file.next()) {
      if (const char* problem = mask(variable + name_size(variable) + 1)) return problem;
      if (!set(variable, false)) return say("take the env_file", path, "there are too many variables");
    }
    if (file.problem() == nullptr) continue;
    char place[160];
    std::snprintf(place, sizeof place, "line %zu: %s", file.line(), file.problem());
    return say("take the env_file", path, place);
  }
  return nullptr;
}

const char* RunSecrets::take_credentials(Instructions& instructions, uid_t user, gid_t group) {
  if (instructions.credential_count == 0) return nullptr;
  if (const char* verb = directory_.make(instructions.credentials_at, instructions.run_id)) {
    return say(verb, instructions.credentials_at, strerrordesc_np(errno));
  }
  for (std::size_t i = 0; i < instructions.credential_count; ++i) {
    const CredentialFile& credential = instructions.credentials[i];
    SecretText& text = credentials_[i];
    if (const char* problem = text.read(credential.path, user)) {
      return say("read the credential", credential.path, problem);
    }
    const std::string_view content(text.bytes(), text.size());
    if (const char* verb = directory_.add(credential.name, content, user, group)) {
      return say(verb, credential.name, strerrordesc_np(errno));
    }
    if (const char* problem = mask(content)) return problem;
  }
  if (const char* verb = directory_.give_to(user, group)) {
    return say(verb, instructions.credentials_at, strerrordesc_np(errno));
  }
  std::snprintf(directory_variable_, sizeof directory_variable_, "%s=%s", runner::kCredentialsVariable,
                directory_.path());
  (void)set(directory_variable_, true);
  return nullptr;
}

}  // namespace kron::exec
