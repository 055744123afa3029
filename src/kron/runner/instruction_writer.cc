#include "kron/runner/instruction_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kron/base/text.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

class InstructionWriter {
 public:
  InstructionWriter() { bytes_.append(kInstructionsMark, kMarkSize); }

  void bytes(Tag tag, std::string_view content) {
    const std::uint32_t size = static_cast<std::uint32_t>(std::min(content.size(), kMostInstructions));
    bytes_.push_back(static_cast<char>(tag));
    bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes_.append(content.substr(0, size));
    too_long_ = too_long_ || bytes_.size() > kMostInstructions;
    if (too_long_) bytes_.clear();
  }
  void text(Tag tag, const std::string& content) {
    check(content);
    bytes(tag, {content.c_str(), content.size() + 1});
  }
  void check(const std::string& text) { has_nul_ = has_nul_ || text.find('\0') != std::string::npos; }
  template <class... Numbers>
  void numbers(Tag tag, Numbers... values) {
    std::string content;
    (content.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
    bytes(tag, content);
  }

  Result<std::string> finish() && {
    bytes(Tag::end, {});
    if (has_nul_) return fail(Code::invalid, "a word or variable of the command contains a NUL byte; remove it");
    if (too_long_) return fail(Code::invalid, "the command with its variables and input is longer than 8M; shorten it");
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  bool has_nul_ = false;
  bool too_long_ = false;
};

const std::string* value_of(const RunSpec& spec, std::string_view name) {
  const auto found = std::find_if(spec.environment.begin(), spec.environment.end(),
                                  [&](const auto& variable) { return variable.first == name; });
  return found == spec.environment.end() ? nullptr : &found->second;
}

void write_environment(InstructionWriter& to, const RunSpec& spec, const Account& account) {
  const std::pair<const char*, std::string> defaults[] = {
      {"HOME", account.home}, {"USER", account.user}, {"LOGNAME", account.user}, {"PATH", kDefaultPath}};
  for (const auto& [name, value] : defaults) {
    if (value_of(spec, name) == nullptr) to.text(Tag::variable, name + ("=" + value));
  }
  for (const auto& [name, value] : spec.environment) to.text(Tag::variable, name + "=" + value);
}

void write_directory(InstructionWriter& to, const RunSpec& spec, const Account& account) {
  if (spec.directory.empty()) {
    to.text(Tag::default_directory, account.home);
  } else if (spec.directory == "~") {
    const std::string* home = value_of(spec, "HOME");
    to.text(Tag::directory, home != nullptr ? *home : account.home);
  } else {
    to.text(Tag::directory, spec.directory);
  }
}

void write_account(InstructionWriter& to, const Account& account) {
  if (account.changes_user) {
    std::string groups;
    for (const gid_t group : account.groups) groups.append(reinterpret_cast<const char*>(&group), sizeof group);
    to.bytes(Tag::groups, groups);
    to.numbers(Tag::user, account.uid);
  }
  if (account.changes_user || account.changes_group) to.numbers(Tag::group, account.gid);
}

void write_limits(InstructionWriter& to, const RunSpec& spec, const std::vector<FoundLimit>& found) {
  const auto write = [&](int resource, std::uint64_t soft, std::uint64_t hard) {
    to.numbers(Tag::limit, static_cast<std::uint32_t>(resource), soft, hard);
  };
  for (const ProcessLimit& limit : spec.limits) {
    write(limit.resource, limit.most, limit.most);
  }
  for (const FoundLimit& limit : found) {
    const bool is_named = std::ranges::find(spec.limits, limit.resource, &ProcessLimit::resource) != spec.limits.end();
    if (!is_named) write(limit.resource, limit.values.rlim_cur, limit.values.rlim_max);
  }
}

void write_secrets(InstructionWriter& to, const SecretFiles& secrets, const std::string& directory) {
  if (secrets.empty()) return;
  for (const std::string& path : secrets.env_files) to.text(Tag::env_file, path);
  for (const auto& [name, path] : secrets.credentials) to.text(Tag::credential, name + "=" + path);
  if (!secrets.credentials.empty()) to.text(Tag::credentials_at, directory);
  if (secrets.mask_output) to.bytes(Tag::mask_output, {});
}

void write_output(InstructionWriter& to, Tag tag, const OutputTo& output) {
  std::string content(1, static_cast<char>(output.kind));
  to.check(output.path);
  if (output.kind == OutputKind::file) content.append(output.path).push_back('\0');
  to.bytes(tag, content);
}

std::uint64_t count_of(Nanoseconds duration) {
  return static_cast<std::uint64_t>(std::max(duration, Nanoseconds(0)).count());
}

}  // namespace

Result<std::string> instructions_of(const RunSpec& spec, const Account& account, const std::vector<FoundLimit>& found,
                                    const std::string& cgroup, const std::string& credentials) {
  if (spec.command.empty()) return fail(Code::invalid, "there is no command to run; name one");
  if (!spec.secrets.credentials.empty() && credentials.empty()) {
    return fail(Code::invalid, "there is no directory for credentials; only krond has one");
  }
  InstructionWriter to;
  to.text(Tag::run_id, spec.run_id);
  for (const std::string& word : spec.command) to.text(Tag::argument, word);
  write_environment(to, spec, account);
  write_directory(to, spec, account);
  if (spec.input) to.bytes(Tag::input, *spec.input);
  write_account(to, account);
  for_each_setting(spec.process, [&](Tag tag, const auto& value) {
    if (value) to.numbers(tag, *value);
  });
  write_limits(to, spec, found);
  write_output(to, Tag::out, spec.out);
  write_output(to, Tag::err, spec.err);
  to.numbers(Tag::capture, spec.capture);
  if (spec.timeout) to.numbers(Tag::timeout, count_of(std::max(*spec.timeout, Nanoseconds(1))));
  to.numbers(Tag::grace, count_of(spec.grace));
  if (!cgroup.empty()) to.text(Tag::cgroup, cgroup);
  if (spec.lease) to.bytes(Tag::lease, {});
  write_secrets(to, spec.secrets, credentials);
  return std::move(to).finish();
}

std::string failure_instructions(const std::string& run_id, int code, const std::string& reason) {
  std::string content;
  const std::uint32_t number = static_cast<std::uint32_t>(code);
  content.append(reinterpret_cast<const char*>(&number), sizeof number);
  content.append(reason.c_str()).push_back('\0');
  InstructionWriter to;
  to.text(Tag::run_id, run_id);
  to.bytes(Tag::failure, content);
  return std::move(to).finish().value_or("");
}

}  // namespace kron::runner
