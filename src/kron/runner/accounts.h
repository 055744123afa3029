#pragma once

#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "kron/base/result.h"
#include "kron/env/clock.h"

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

// The number of a group. Code not_found.
Result<gid_t> group_of(const std::string& group);

// Looks up users and groups, and remembers the answers for a few seconds: a thousand runs of one user ask once.
class Accounts {
 public:
  explicit Accounts(const Clock& clock) : clock_(clock) {}

  // An empty user is the one we are; an empty group is the user's own. Refused: who we are not, unless we are root.
  Result<std::shared_ptr<const Account>> find(const std::string& user, const std::string& group);

 private:
  struct Entry {
    std::shared_ptr<const Account> account;
    Nanoseconds until{0};
  };

  const Clock& clock_;
  std::map<std::pair<std::string, std::string>, Entry> known_;
};

}  // namespace kron::runner
