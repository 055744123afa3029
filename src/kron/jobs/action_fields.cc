#include "kron/jobs/action_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/jobs/keys.h"
#include "kron/jobs/model.h"
#include "kron/jobs/words.h"

namespace kron::jobs {
namespace {

constexpr std::int64_t kMostHistory = 100'000;

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; });
}

// A scalar of any kind as text: `true` is a fine value of an environment variable.
std::optional<std::string> word(Fields& fields, std::string_view key) {
  const Node* node = fields.find(key);
  std::optional<std::string> text =
      node != nullptr && node->as<bool>() != nullptr ? word_of(*node) : fields.scalar(key);
  if (text && text->find('\0') != std::string::npos) {
    fields.report(key, "a NUL byte in the value");
    return std::nullopt;
  }
  return text;
}

// Whole numbers may stand as numbers or, in a one-line spelling, as text.
std::optional<std::int64_t> number(Fields& fields, std::string_view key, std::int64_t least, std::int64_t most) {
  const std::optional<std::string> text = fields.scalar(key);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* const last = text->data() + text->size();
  const auto [end, status] = std::from_chars(text->data(), last, value);
  if (status == std::errc() && end == last && value >= least && value <= most) return value;
  fields.report(
      key, quoted(*text) + " is not a whole number from " + std::to_string(least) + " to " + std::to_string(most), 1);
  return std::nullopt;
}

// No longer than a window may be: it is added to times, too.
void read_seconds(Fields& fields, std::string_view key, Seconds& target) {
  const auto text = fields.scalar(key);
  if (!text) return;
  Result<Seconds> seconds = parse_whole_seconds(*text);
  const Status bounded = seconds ? check_duration(*seconds) : Status{};
  if (!bounded) seconds = fail(bounded.error());
  fields.take(target, key, std::move(seconds));
}

void read_shell(Fields& fields, RunOptions& options) {
  const std::optional<std::string> text = word(fields, "shell");
  if (!text || *text == "false") return;
  if (*text == "true") {
    options.shell = "/bin/sh";
  } else if (text->starts_with('/') && !has_control_character(*text)) {
    options.shell = *text;
  } else {
    fields.report("shell", quoted(*text) + " is no shell; expected true, false or an absolute path", 1);
  }
}

void read_command(Fields& fields, const RunOptions& options, Action& action) {
  const Node* node = fields.find("command");
  if (node == nullptr) return;
  std::string& command = action.emplace<Command>().text;
  if (node->as<Node::List>() != nullptr) {
    command = quoted_words(fields.scalars("command"));
  } else if (auto text = word(fields, "command")) {
    command = *std::move(text);
  } else {
    return;
  }
  if (!options.shell.empty()) {
    if (trimmed(command).empty()) fields.report("command", "the command is empty", 1);
    return;
  }
  const Result<std::vector<std::string>> words = words_of(command);
  if (!words) fields.report("command", words.error().message, words.error().column);
}

void read_task(Fields& fields, Action& action) {
  const std::optional<std::string> type = word(fields, "task");
  if (!type) return;
  if (type->empty() || has_control_character(*type) || !is_valid_utf8(*type)) {
    return fields.report("task", quoted(*type) + " is no type of task", 1);
  }
  if (fields.has("command")) fields.report("task", "a job has a command or a task, not both; remove one of them");
  action = SubmitTask{*type};
}

void read_account(Fields& fields, std::string_view key, std::string& target) {
  std::optional<std::string> name = word(fields, key);
  if (!name) return;
  if (name->empty() || name->starts_with('-') || name->find_first_of(" \t:,") != std::string::npos ||
      has_control_character(*name)) {
    return fields.report(key, quoted(*name) + " is no " + std::string(key) + " name", 1);
  }
  target = *std::move(name);
}

void read_output(Fields& fields, std::string_view key, std::string& target) {
  constexpr std::string_view kFilePrefix = "file:";
  const std::optional<std::string> text = word(fields, key);
  if (!text || *text == "capture") return;
  std::string_view place = *text;
  if (place.starts_with(kFilePrefix)) place.remove_prefix(kFilePrefix.size());
  const bool is_word = *text == "discard" || *text == "inherit" || *text == "syslog";
  if (!is_word && (!place.starts_with('/') || has_control_character(place))) {
    return fields.report(key,
                         quoted(*text) +
                             " is no place for output; expected capture, discard, inherit, syslog, an absolute path or "
                             "file: and an absolute path",
                         1);
  }
  target = place;
}

void read_cwd(Fields& fields, RunOptions& options) {
  std::optional<std::string> path = word(fields, "cwd");
  if (!path) return;
  if (*path != "~" && (!path->starts_with('/') || has_control_character(*path))) {
    return fields.report("cwd", quoted(*path) + " is no absolute path; ~ stands for the user's home", 1);
  }
  options.cwd = *std::move(path);
}

void add_variable(Fields& fields, RunOptions& options, std::string name, std::string value) {
  if (name.empty() || name.find_first_of("= \t") != std::string::npos || has_control_character(name)) {
    return fields.report("env", quoted(name) + " is no name of a variable; expected NAME=value");
  }
  if (std::ranges::find(options.env, name, &Environment::value_type::first) != options.env.end()) {
    return fields.report("env", "the variable " + quoted(name) + " is given twice; keep one of them");
  }
  options.env.emplace_back(std::move(name), std::move(value));
}

void read_env(Fields& fields, RunOptions& options) {
  const Node* node = fields.find("env");
  if (node == nullptr) return;
  if (node->as<Node::List>() == nullptr) {
    std::optional<Fields> variables = fields.map("env");
    if (!variables) return;
    for (const Node::Member& member : *node->as<Node::Map>()) {
      if (auto value = word(*variables, member.key)) add_variable(fields, options, member.key, *std::move(value));
    }
    return;
  }
  for (const std::string& text : fields.scalars("env")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      fields.report("env", quoted(text) + " gives no value; expected NAME=value");
    } else {
      add_variable(fields, options, text.substr(0, equals), text.substr(equals + 1));
    }
  }
}

void read_umask(Fields& fields, RunOptions& options) {
  const std::optional<std::string> digits = fields.scalar("umask");
  if (!digits) return;
  std::uint32_t mask = 0;
  const char* const last = digits->data() + digits->size();
  const auto [end, status] = std::from_chars(digits->data(), last, mask, 8);
  if (status != std::errc() || end != last || mask > 0777) {
    return fields.report("umask", quoted(*digits) + " is no umask; expected octal digits such as 022", 1);
  }
  options.process.umask = mask;
}

void read_size(Fields& fields, std::string_view key, std::optional<std::uint64_t>& target) {
  const std::optional<std::string> text = fields.scalar(key);
  if (!text) return;
  std::uint64_t bytes = 0;
  fields.take(bytes, key, parse_size(*text));
  target = bytes;
}

void read_count(Fields& fields, std::string_view key, std::optional<std::uint64_t>& target) {
  if (const auto count = number(fields, key, 0, std::numeric_limits<std::int32_t>::max())) {
    target = static_cast<std::uint64_t>(*count);
  }
}

void read_limit_map(Fields fields, ResourceLimits& limits) {
  fields.reject_unknown(kLimitKeys);
  if (fields.has("cpu")) read_seconds(fields, "cpu", limits.cpu.emplace());
  read_size(fields, "memory", limits.memory);
  read_size(fields, "file_size", limits.file_size);
  read_size(fields, "core", limits.core);
  read_count(fields, "files", limits.files);
  read_count(fields, "processes", limits.processes);
}

// A map, or the one-line form memory=512M,files=1024.
void read_limits(Fields& fields, RunOptions& options, std::vector<Error>& line_errors) {
  const Node* node = fields.find("limits");
  const auto* list = node != nullptr ? node->as<std::string>() : nullptr;
  if (list == nullptr) {
    if (const std::optional<Fields> map = fields.map("limits")) read_limit_map(*map, options.limits);
    return;
  }
  Node::Map parts;
  for (std::size_t at = 0; at <= list->size();) {
    const std::size_t comma = std::min(list->find(',', at), list->size());
    const std::string_view part = trimmed(std::string_view(*list).substr(at, comma - at));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      fields.report("limits", quoted(part) + " is no limit; expected a list such as memory=512M,cpu=60s,files=1024",
                    at + 1);
    } else if (std::ranges::find(parts, part.substr(0, equals), &Node::Member::key) != parts.end()) {
      fields.report("limits", "the limit " + quoted(part.substr(0, equals)) + " is given twice", at + 1);
    } else {
      parts.push_back({std::string(part.substr(0, equals)), {}, Node(std::string(part.substr(equals + 1)))});
    }
    at = comma + 1;
  }
  const Node map(std::move(parts));
  read_limit_map(Fields(map, "", line_errors), options.limits);
  for (const Error& error : line_errors) fields.report("limits", error.field + ": " + error.message);
}

}  // namespace

void read_action(Fields fields, Action& action, RunOptions& options) {
  read_shell(fields, options);
  read_command(fields, options, action);
  read_task(fields, action);
  read_account(fields, "user", options.user);
  read_account(fields, "group", options.group);
  read_output(fields, "stdout", options.out);
  read_output(fields, "stderr", options.err);
  read_cwd(fields, options);
  read_env(fields, options);
  read_umask(fields, options);
  std::vector<Error> line_errors;
  read_limits(fields, options, line_errors);
  read_seconds(fields, "timeout", options.timeout);
  read_seconds(fields, "grace", options.grace);
  if (const auto nice = number(fields, "nice", -20, 19)) options.process.nice = static_cast<int>(*nice);
  if (const auto count = number(fields, "history", 0, kMostHistory)) {
    options.history = static_cast<std::uint32_t>(*count);
  }
  if (auto text = word(fields, "description")) options.description = *std::move(text);
  options.input = word(fields, "stdin");
}

}  // namespace kron::jobs
