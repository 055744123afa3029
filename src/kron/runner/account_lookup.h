#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "kron/base/result.h"

namespace kron::runner {

// As whom a command runs, in numbers: kron-exec is static and cannot ask the system's databases.
struct Account {
  std::string user;
  std::string home;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;   // gid among them
  bool changes_user = false;   // to uid, gid and groups
  bool changes_group = false;  // to gid alone
};

// These ask the system's databases, which may be a server somewhere, and return when they have answered.

// The number of a group. Code not_found.
Result<gid_t> group_of(const std::string& group);

// An empty user is the one we are; an empty group is the user's own. Refused: who we are not, unless we are root.
Result<Account> look_up_account(const std::string& user, const std::string& group);

}  // namespace kron::runner
