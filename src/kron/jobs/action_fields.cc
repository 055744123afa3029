#include "kron/jobs/action_fields.h"

#include "kron/base/text.h"
#include "kron/jobs/option_reader.h"
#include "kron/jobs/words.h"

namespace kron::jobs {
namespace {

void read_command(Fields& fields, OptionReader& reader, const RunOptions& options, Action& action) {
  const Node* node = fields.find("command");
  if (node == nullptr) return;
  std::string& command = action.emplace<Command>().text;
  if (node->as<Node::List>() != nullptr) {
    command = quoted_words(fields.scalars("command"));
  } else if (auto text = reader.word("command")) {
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

void read_task(Fields& fields, OptionReader& reader, Action& action) {
  const std::optional<std::string> type = reader.word("task");
  if (!type) return;
  if (type->empty() || has_control_character(*type) || !is_valid_utf8(*type)) {
    return fields.report("task", quoted(*type) + " is no type of task", 1);
  }
  for (const std::string_view key : kOfCommands) {
    if (key == "command" || !fields.has(key)) continue;
    fields.report(key,
                  "is for commands: a task has attempts of its own, and its worker has files and limits of its own and "
                  "says whether one failed; remove it, or give a command");
  }
  if (fields.has("command")) fields.report("task", "a job has a command or a task, not both; remove one of them");
  action = SubmitTask{*type};
}

// Only what goes through kron-exec can be seen.
void check_fails_on(Fields& fields, const RunOptions& options) {
  const bool is_seen = options.err.empty() || options.err == "discard" || options.err == "syslog";
  if (options.process.fails_on != FailsOn::standard_error || is_seen) return;
  fields.report("fails_on", "nobody sees what is written to standard error with stderr=" + options.err +
                                "; capture it, discard it or send it to syslog");
}

void check_run_limits(Fields& fields, const RunOptions& options) {
  const Node* given = fields.find("memory_max");
  const bool is_size = given != nullptr && parse_size(scalar_text(*given).value_or(""));
  if (!is_size || options.process.memory_max.value_or(kLeastMemoryMax) >= kLeastMemoryMax) return;
  fields.report("memory_max", "with less than " + size_text(kLeastMemoryMax) + " nothing can be executed");
}

}  // namespace

void read_action(Fields fields, Action& action, RunOptions& options) {
  OptionReader reader(fields);
  visit_options(reader, options);
  check_fails_on(fields, options);
  check_run_limits(fields, options);
  read_command(fields, reader, options, action);
  read_task(fields, reader, action);
}

}  // namespace kron::jobs
