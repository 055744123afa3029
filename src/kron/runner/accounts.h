#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kron/base/result.h"
#include "kron/env/clock.h"
#include "kron/runner/account_lookup.h"

namespace kron::runner {

// Looks up users and groups on threads of its own, and remembers the answers, failures too, for a few seconds: a
// thousand runs of one user ask once. A database that hangs holds up its caller once, for `patience`; after that nobody
// waits for it until it has answered as quickly again. Not for several threads.
class Accounts {
 public:
  using LookUp = std::function<Result<Account>(const std::string& user, const std::string& group)>;

  struct Options {
    LookUp look_up = look_up_account;
    Nanoseconds patience = std::chrono::seconds(2);
  };

  explicit Accounts(const Clock& clock) : Accounts(clock, Options{}) {}
  Accounts(const Clock& clock, Options options);
  // Does not wait for a lookup that hangs.
  ~Accounts();
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  // Asks ahead of time, and does not wait.
  void prepare(const std::string& user, const std::string& group);

  // As look_up_account answers. When the databases do not answer now, the account they named last; unreachable when
  // they have not named it yet.
  Result<std::shared_ptr<const Account>> find(const std::string& user, const std::string& group);

 private:
  class Lookups;

  const Clock& clock_;
  Nanoseconds patience_;
  std::shared_ptr<Lookups> lookups_;  // shared with the threads: one that hangs may outlive us
};

}  // namespace kron::runner
