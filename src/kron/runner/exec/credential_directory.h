#pragma once

#include <climits>
#include <cstddef>
#include <string_view>
#include <sys/types.h>

namespace kron::exec {

// The directory with the copies of a run's credentials, <above>/<run id>: 0500 and the job's user's, its files 0400.
// A lock on it is held as long as this process lives, whatever ends it: what is not locked is left over, and krond
// removes it (runner/credentials.h).
class CredentialDirectory {
 public:
  CredentialDirectory() = default;
  // Removes it with all that is in it.
  ~CredentialDirectory() { remove(); }
  CredentialDirectory(const CredentialDirectory&) = delete;
  CredentialDirectory& operator=(const CredentialDirectory&) = delete;

  // Makes it, and the one above if need be. Null, or why not (`errno` tells more).
  const char* make(const char* above, const char* run_id);
  // Null, or why not.
  const char* add(const char* name, std::string_view content, uid_t user, gid_t group) const;
  // From here on it is the user's, who may read it.
  const char* give_to(uid_t user, gid_t group) const;

  const char* path() const { return path_; }
  void remove();

 private:
  int above_ = -1;
  int directory_ = -1;
  const char* name_ = nullptr;
  const char* above_path_ = nullptr;
  char path_[PATH_MAX] = "";
};

// Removes what is in a directory, by its descriptor, links not followed. False: something stayed.
bool empty_directory(int directory, int depth = 0);

}  // namespace kron::exec
