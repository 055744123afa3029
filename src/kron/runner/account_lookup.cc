#include "kron/runner/account_lookup.h"

#include <cstdlib>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <unistd.h>

#include "kron/base/text.h"
#include "kron/env/system_error.h"

namespace kron::runner {
namespace {

constexpr std::size_t kMostEntry = 1 << 20;  // bytes of one line of the databases

// Calls a *_r function of the databases with a buffer that is large enough. 0: found, or not there (found is null).
template <class Call>
int with_buffer(std::vector<char>& buffer, Call call) {
  buffer.resize(4096);
  int error = call();
  while (error == ERANGE && buffer.size() < kMostEntry) {
    buffer.resize(buffer.size() * 4);
    error = call();
  }
  // What the several databases answer for "no such name".
  return error == ENOENT || error == ESRCH || error == EBADF || error == EPERM ? 0 : error;
}

Result<std::optional<Account>> account_of(const std::string& user) {
  std::vector<char> buffer;
  passwd entry{};
  passwd* found = nullptr;
  const int error = with_buffer(buffer, [&] {
    if (user.empty()) return ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
    return ::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  });
  if (error != 0) return fail(system_error("look up the user", user, error));
  if (found == nullptr) return std::optional<Account>();
  return std::optional<Account>({found->pw_name, found->pw_dir, found->pw_uid, found->pw_gid, {}});
}

// A container may run us under a number that no database knows.
Account nameless_account() {
  const char* home = std::getenv("HOME");
  return {std::to_string(::geteuid()), home != nullptr ? home : "/", ::geteuid(), ::getegid(), {}};
}

std::vector<gid_t> groups_of(const Account& account) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  while (::getgrouplist(account.user.c_str(), account.gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace

Result<gid_t> group_of(const std::string& group) {
  std::vector<char> buffer;
  struct group entry {};
  struct group* found = nullptr;
  const int error =
      with_buffer(buffer, [&] { return ::getgrnam_r(group.c_str(), &entry, buffer.data(), buffer.size(), &found); });
  if (error != 0) return fail(system_error("look up the group", group, error));
  if (found == nullptr) {
    return fail(Code::not_found, "there is no group " + quoted(group) + "; create it, or correct group");
  }
  return found->gr_gid;
}

Result<Account> look_up_account(const std::string& user, const std::string& group) {
  Result<std::optional<Account>> found = account_of(user);
  if (!found) return fail(std::move(found.error()));
  if (!*found && !user.empty()) {
    return fail(Code::not_found, "there is no user " + quoted(user) + "; create it, or correct user");
  }
  Account account = *found ? **std::move(found) : nameless_account();
  if (user.empty()) account.gid = ::getegid();
  if (!group.empty()) {
    const Result<gid_t> gid = group_of(group);
    if (!gid) return fail(gid.error());
    account.gid = *gid;
  }
  const bool is_us = account.uid == ::geteuid() && account.gid == ::getegid();
  if (::geteuid() != 0) {
    if (is_us) return account;
    return fail(Code::refused, "the daemon may not run commands as user " + quoted(account.user) +
                                   (group.empty() ? "" : " and group " + quoted(group)) +
                                   "; run it as root, or leave user and group away");
  }
  account.changes_user = !user.empty();
  account.changes_group = !group.empty() && user.empty();
  if (account.changes_user) account.groups = groups_of(account);
  return account;
}

}  // namespace kron::runner
