#include "kron/jobs/crontab.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "kron/base/sha256.h"
#include "kron/base/text.h"
#include "kron/jobs/crontab_advice.h"
#include "kron/jobs/kron_line.h"

namespace kron::jobs {
namespace {

constexpr std::string_view kBlank = " \t";
constexpr std::size_t kIdentityHex = 12;

struct Assignment {
  std::string name;
  std::string value;
};

// What cron takes for `NAME = value`: name and value may each stand in matching quotes, blanks around `=` do not count.
// Nothing for any other line.
std::optional<Assignment> assignment_in(std::string_view line) {
  std::size_t at = line.find_first_not_of(kBlank);
  if (at == std::string_view::npos) return std::nullopt;
  Assignment result;
  if (line[at] == '"' || line[at] == '\'') {
    const std::size_t close = line.find(line[at], at + 1);
    if (close == std::string_view::npos) return std::nullopt;
    result.name = line.substr(at + 1, close - at - 1);
    at = close + 1;
  } else {
    const std::size_t end = line.find_first_of(" \t=", at);
    if (end == std::string_view::npos) return std::nullopt;
    result.name = line.substr(at, end - at);
    at = end;
  }
  at = line.find_first_not_of(kBlank, at);
  if (result.name.empty() || at == std::string_view::npos || line[at] != '=') return std::nullopt;
  std::string_view value = trimmed(line.substr(at + 1));
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  result.value = value;
  return result;
}

struct SplitCommand {
  std::string text;
  std::optional<std::string> input;
};

// `%` ends the command and then stands for line breaks; `\%` is a percent sign. Input ends with a line break.
SplitCommand split_at_percent(std::string_view text) {
  SplitCommand command;
  std::string* target = &command.text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '%') {
      *target += text[++i];
    } else if (text[i] != '%') {
      *target += text[i];
    } else if (!command.input) {
      target = &command.input.emplace();
    } else {
      *target += '\n';
    }
  }
  if (command.input && !command.input->empty() && !command.input->ends_with('\n')) *command.input += '\n';
  return command;
}

std::string utf8_name(std::string_view name) {
  if (is_valid_utf8(name)) return std::string(name);
  std::string result(name);
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return result;
}

class CrontabReader {
 public:
  CrontabReader(const CrontabSource& source, ModelContext& context, Report& report)
      : source_(source), context_(context), report_(report) {}

  void read_line(std::string_view line, std::size_t number);
  std::vector<JobDefinition> definitions;

 private:
  void read_assignment(Assignment assignment, Position at);
  void read_entry(std::string_view line, Position at, const std::string& description);
  void advise_on(std::string_view command, Position at);
  void require_zone(std::string_view schedule);
  std::string identity_of(std::string_view user, std::string_view schedule, std::string_view command);
  Node node_for(const std::string& schedule, Position schedule_at, const std::string& user, Position user_at,
                std::string_view command, Position command_at, const std::string& description);

  const CrontabSource& source_;
  ModelContext& context_;
  Report& report_;
  std::string shell_ = "/bin/sh";
  std::string zone_;
  Position zone_at_;
  std::string delay_;
  Position delay_at_;
  Environment env_;
  std::unordered_map<std::string, int> repeats_;
  CommentBlock comments_;
  bool has_asked_for_users_ = false;
};

void CrontabReader::read_line(std::string_view line, std::size_t number) {
  const std::size_t start = line.find_first_not_of(kBlank);
  if (start == std::string_view::npos) return comments_.clear();
  if (line[start] == '#') return comments_.add(line.substr(start));
  const std::string description = comments_.take();
  const Position at{number, start + 1};
  if (line.find('\0') != std::string_view::npos) {
    return report_.error({number, line.find('\0') + 1}, "", "a NUL byte", "crontabs are plain text");
  }
  if (line.size() > kMostLineBytes) {
    return report_.error(at, "", "the line is longer than " + std::to_string(kMostLineBytes >> 10) + " KiB",
                         "put the command into a script");
  }
  if (std::optional<Assignment> assignment = assignment_in(line)) return read_assignment(*std::move(assignment), at);
  read_entry(line.substr(start), at, description);
}

void CrontabReader::read_assignment(Assignment assignment, Position at) {
  auto& [name, value] = assignment;
  if (name == "CRON_TZ") {
    zone_ = value;
    zone_at_ = at;
    return;
  }
  if (name == "RANDOM_DELAY") {
    delay_ = value == "0" ? "" : value + "m";
    delay_at_ = at;
    if (!delay_.empty()) {
      report_.note(at, "RANDOM_DELAY", "RANDOM_DELAY is read as a window of " + quoted(value) + " minutes",
                   "the delay is the same each time a period is looked at");
    }
    return;
  }
  if ((name == "MAILTO" && !value.empty()) || name == "MAILFROM") {
    report_.note(at, name, name + " is not acted on: output is kept, not mailed",
                 "kron logs JOB shows it; kron events can be piped into mail when a run fails");
  }
  if (name == "SHELL") {
    if (!value.starts_with('/')) {
      return report_.error(at, "SHELL", "SHELL must be an absolute path, not " + quoted(value));
    }
    shell_ = value;
  }
  const auto known = std::ranges::find(env_, name, &Environment::value_type::first);
  if (known != env_.end()) {
    known->second = std::move(value);
  } else {
    env_.emplace_back(std::move(name), std::move(value));
  }
}

void CrontabReader::read_entry(std::string_view line, Position at, const std::string& description) {
  std::size_t offset = line.front() == '-' ? 1 : 0;  // cronie: do not log this entry
  const auto place = [&](std::size_t in_line) { return Position{at.line, at.column + in_line}; };
  const auto take_word = [&] {
    offset = std::min(line.find_first_not_of(kBlank, offset), line.size());
    const std::size_t end = std::min(line.find_first_of(kBlank, offset), line.size());
    const std::string_view word = line.substr(offset, end - offset);
    offset = end;
    return word;
  };
  const Position schedule_at = place(offset);
  std::string schedule(take_word());
  if (!schedule.starts_with('@') || schedule == "@every") {
    const int words = schedule == "@every" ? 1 : 4;
    for (int i = 0; i < words; ++i) schedule += ' ' + std::string(take_word());
  }
  std::string user = source_.user;
  Position user_at = at;
  if (source_.form == CrontabForm::system) {
    user = take_word();
    user_at = place(offset - user.size());
  }
  offset = std::min(line.find_first_not_of(kBlank, offset), line.size());
  const std::string_view command = line.substr(offset);
  if (command.empty()) {
    return report_.error(place(offset), "command", "the entry has no command",
                         source_.form == CrontabForm::system ? "this crontab has a user column: schedule user command"
                                                             : "an entry is: schedule command");
  }
  const std::size_t errors_before = report_.error_count();
  require_zone(schedule);
  const Node node = node_for(schedule, schedule_at, user, user_at, command, place(offset), description);
  advise_on(command, place(offset));
  if (auto definition = read_definition(node, context_, report_, errors_before)) {
    definitions.push_back(*std::move(definition));
  }
}

void CrontabReader::advise_on(std::string_view command, Position at) {
  const auto place = [&](std::size_t offset) { return Position{at.line, at.column + offset}; };
  if (const std::size_t percent = mistaken_percent(command); percent != std::string_view::npos) {
    report_.warn(place(percent), "command",
                 "an unescaped % ends the command: what follows is its standard input, as in cron",
                 "write \\% for a percent sign");
  }
  if (source_.form != CrontabForm::user || has_asked_for_users_ || !context_.is_only_a_user) return;
  const std::size_t end = command.find_first_of(kBlank);
  if (end == std::string_view::npos || !context_.is_only_a_user(std::string(command.substr(0, end)))) return;
  has_asked_for_users_ = true;
  report_.warn(at, "user",
               "the command begins with " + quoted(command.substr(0, end)) +
                   ", which is a user of this host and no program: has this crontab a user column?",
               "read it with --user-column");
}

// Said once for the file: what would be a time in the host's zone is not guessed.
void CrontabReader::require_zone(std::string_view schedule) {
  const bool needs_zone = schedule != "@reboot" && !schedule.starts_with("@every");
  if (!needs_zone || !zone_.empty() || context_.no_zone.problem.empty()) return;
  report_.error({}, "timezone", context_.no_zone.problem, context_.no_zone.cure);
}

Node CrontabReader::node_for(const std::string& schedule, Position schedule_at, const std::string& user,
                             Position user_at, std::string_view command, Position command_at,
                             const std::string& description) {
  Node::Map map;
  const auto put = [&](std::string_view key, Position at, Node::Value value) {
    map.push_back({std::string(key), at, Node(std::move(value), at)});
  };
  SplitCommand parts = split_at_percent(command);
  put("name", schedule_at, identity_of(user, schedule, command));
  put("schedule", schedule_at, schedule);
  put("command", command_at, std::move(parts.text));
  put("shell", command_at, shell_);
  put("cwd", command_at, std::string("~"));
  if (!user.empty()) put("user", user_at, user);
  if (!zone_.empty()) put("timezone", zone_at_, zone_);
  if (parts.input) put("stdin", command_at, *std::move(parts.input));
  if (!description.empty()) put("description", schedule_at, description);
  if (!delay_.empty()) {
    put("window", delay_at_, Node::Map{{"duration", delay_at_, Node(delay_, delay_at_)}});
  }
  if (!env_.empty()) {
    Node::Map env;
    for (const auto& [name, value] : env_) env.push_back({name, schedule_at, Node(value, schedule_at)});
    put("env", schedule_at, std::move(env));
  }
  return Node(std::move(map), schedule_at);
}

std::string CrontabReader::identity_of(std::string_view user, std::string_view schedule, std::string_view command) {
  const std::string hash = hex(sha256({user, "\n", schedule, "\n", command})).substr(0, kIdentityHex);
  const int count = ++repeats_[hash];
  std::string identity = "cron/" + source_.base_name + "/" + hash;
  if (count > 1) identity += "-" + std::to_string(count);
  return identity;
}

}  // namespace

CrontabSource crontab_source(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view base = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::string_view directory = slash == std::string_view::npos ? "" : path.substr(0, slash);
  CrontabSource source{CrontabForm::user, utf8_name(base), {}};
  const bool in_cron_d = ("/" + std::string(directory) + "/").find("/cron.d/") != std::string::npos;
  if (in_cron_d || base == "crontab") source.form = CrontabForm::system;
  if (directory == "crontabs" || directory.ends_with("/crontabs")) source.user = source.base_name;
  return source;
}

std::vector<JobDefinition> read_crontab(std::string_view text, const CrontabSource& source, ModelContext& context,
                                        Report& report) {
  const bool free_names = std::exchange(context.free_names, true);
  CrontabReader reader(source, context, report);
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    reader.read_line(line, ++number);
  }
  context.free_names = free_names;
  return std::move(reader.definitions);
}

}  // namespace kron::jobs
