#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/resource.h>
#include <sys/types.h>

#include "kron/base/process_settings.h"
#include "kron/base/secret_files.h"
#include "kron/env/output_kind.h"

// kron-exec: static, small, quick to start. Its files use no library beyond libc and raise no exception.
namespace kron::exec {

struct Stream {
  OutputKind kind = OutputKind::capture;
  const char* path = nullptr;  // file only
};

struct Limit {
  int resource;
  rlimit values;
};

struct CredentialFile {
  const char* name;
  const char* path;
};

// What is to be run. Texts point into the bytes that were read; the three lists are its own.
struct Instructions {
  static constexpr std::size_t kFew = 64;

  Instructions() = default;
  ~Instructions();
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;

  const char* run_id = nullptr;
  char** arguments = nullptr;  // null-terminated, as is `variables`
  char** variables = nullptr;
  char** more = nullptr;  // the place of two more of them: kHelperVariable, kAttemptVariable
  const char* directory = nullptr;
  bool directory_may_fail = false;
  std::optional<std::string_view> input;
  std::optional<uid_t> user;
  std::optional<gid_t> group;
  gid_t* groups = nullptr;
  std::optional<std::size_t> group_count;
  ProcessSettings process;
  Limit limits[RLIM_NLIMITS] = {};
  std::size_t limit_count = 0;
  Stream out;
  Stream err;
  std::uint64_t capture = 0;
  std::int64_t timeout = 0;  // nanoseconds; 0: none
  std::int64_t grace = 0;
  const char* cgroup = nullptr;
  bool has_lease = false;
  bool masks_output = false;
  const char* env_files[kMostEnvFiles];
  std::size_t env_file_count = 0;
  CredentialFile credentials[kMostCredentials];
  std::size_t credential_count = 0;
  const char* credentials_at = nullptr;
  const char* failure = nullptr;
  int failure_code = 0;
  char* few[kFew] = {};  // arguments and variables that are few: memory that has to be asked for takes longer
};

// Null, or what is wrong with the bytes. Once for each Instructions.
const char* read_instructions(char* bytes, std::size_t size, Instructions& instructions);

}  // namespace kron::exec
