#include "host_check.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

#include "kron/base/text.h"
#include "kron/jobs/words.h"
#include "kron/runner/instruction_writer.h"

namespace kron::cli {
namespace {

enum class Found : std::uint8_t { yes, no, other };  // other: something else, or of no use

bool is_missing(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG; }

Found directory_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return is_missing(errno) ? Found::no : Found::yes;
  return S_ISDIR(info.st_mode) ? Found::yes : Found::other;
}

Found program_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return is_missing(errno) ? Found::no : Found::yes;
  return S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0 ? Found::yes : Found::other;
}

bool is_in(std::string_view directories, const std::string& program) {
  while (!directories.empty()) {
    const std::size_t end = std::min(directories.find(':'), directories.size());
    if (program_at(std::string(directories.substr(0, end)) + "/" + program) == Found::yes) return true;
    directories.remove_prefix(std::min(end + 1, directories.size()));
  }
  return false;
}

const std::string* variable(const jobs::RunOptions& options, std::string_view name) {
  const auto found = std::ranges::find(options.env, name, &jobs::Environment::value_type::first);
  return found == options.env.end() ? nullptr : &found->second;
}

std::optional<std::string> problem_of_program(const std::string& path) {
  switch (program_at(path)) {
    case Found::yes:
      return std::nullopt;
    case Found::no:
      return "there is no program " + quoted(path, 200);
    case Found::other:
      return quoted(path, 200) + " cannot be executed";
  }
  return std::nullopt;
}

template <class Look>
const std::optional<std::string>& once(std::map<std::string, std::optional<std::string>>& known,
                                       const std::string& what, const Look& look) {
  const auto [entry, is_new] = known.try_emplace(what);
  if (is_new) entry->second = look();
  return entry->second;
}

}  // namespace

std::optional<std::string> HostCheck::problem_of(const jobs::JobDefinition& definition) {
  const jobs::RunOptions& options = *definition.options;
  if (submits_task(definition)) return std::nullopt;
  if (auto problem = account_problem(options)) return problem;
  if (auto problem = directory_problem(options)) return problem;
  return program_problem(definition);
}

std::optional<std::string> HostCheck::account_problem(const jobs::RunOptions& options) {
  if (options.user.empty() && options.group.empty()) return std::nullopt;
  return once(looked_at_, "account " + options.user + ":" + options.group, [&]() -> std::optional<std::string> {
    const auto account = accounts_.find(options.user, options.group);
    // Whether krond may become that user is for krond to say.
    if (account || account.error().code != Code::not_found) return std::nullopt;
    return account.error().message.substr(0, account.error().message.find("; "));
  });
}

std::optional<std::string> HostCheck::directory_problem(const jobs::RunOptions& options) {
  std::string path = options.cwd;
  if (path == "~") {
    const std::string* home = variable(options, "HOME");
    const auto account = accounts_.find(options.user, options.group);
    if (home == nullptr && !account) return std::nullopt;
    path = home != nullptr ? *home : (*account)->home;
  }
  if (path.empty()) return std::nullopt;
  return once(looked_at_, "directory " + path, [&]() -> std::optional<std::string> {
    const Found found = directory_at(path);
    if (found == Found::yes) return std::nullopt;
    return found == Found::no ? "there is no directory " + quoted(path, 200) : quoted(path, 200) + " is no directory";
  });
}

std::optional<std::string> HostCheck::program_problem(const jobs::JobDefinition& definition) {
  const jobs::RunOptions& options = *definition.options;
  std::string program = options.shell;
  if (program.empty()) {
    const auto words = jobs::words_of(command_of(definition));
    if (!words) return std::nullopt;  // refused when it was read
    program = words->front();
  }
  if (program.find('/') == std::string::npos) {
    const std::string* path = variable(options, "PATH");
    const std::string directories = path != nullptr ? *path : runner::kDefaultPath;
    return once(looked_at_, "word " + program + " in " + directories, [&]() -> std::optional<std::string> {
      if (is_in(directories, program)) return std::nullopt;
      return "there is no program " + quoted(program, 200) + " in its PATH (" + directories + ")";
    });
  }
  if (!program.starts_with('/')) {
    if (!options.cwd.starts_with('/')) return std::nullopt;
    program = options.cwd + (options.cwd.ends_with('/') ? "" : "/") + program;
  }
  return once(looked_at_, "program " + program, [&] { return problem_of_program(program); });
}

bool is_only_a_user(const std::string& word) {
  if (word.empty() || word.find('/') != std::string::npos || is_in(runner::kDefaultPath, word)) return false;
  RealClock clock;
  const auto account = runner::Accounts(clock).find(word, "");
  return account || account.error().code == Code::refused;
}

}  // namespace kron::cli
