#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "kron/base/text.h"
#include "kron/queue/task.h"
#include "shared_flags.h"
#include "task_verbs.h"

namespace kron::cli {
namespace {

using Start = std::function<int()>;

void add_common(CLI::App& verb, TaskOptions& options) {
  add_task_place(verb, options.place);
  add_format(verb, options.json);
  add_times(verb, options.times);
}

void add_type_filter(CLI::App& verb, std::string& type) {
  verb.add_option("--type", type, "Only tasks of this type")->type_name("TYPE");
}

// Only those of `words`, in any case. `state` must live as long as the verb.
void add_state(CLI::App& verb, std::optional<TaskState>& state, const std::vector<std::string>& words) {
  static const std::map<std::string, TaskState> kStates{{"pending", TaskState::pending},
                                                        {"running", TaskState::running},
                                                        {"succeeded", TaskState::succeeded},
                                                        {"failed", TaskState::failed}};
  verb.add_option_function<std::string>(
          "--state", [&state](const std::string& word) { state = kStates.at(CLI::detail::to_lower(word)); },
          "Only tasks in this state")
      ->check(CLI::IsMember(words, CLI::ignore_case));
}

Start set_up_submit(CLI::App& verb) {
  const auto options = std::make_shared<SubmitOptions>();
  auto* data = verb.add_option("DATA", options->data, "The payload's data, JSON; - is standard input (null)");
  auto* file = verb.add_option("--data-file", options->data_file, "Read the data from this file")->type_name("PATH");
  verb.add_option("--type", options->type, "Task type; workers ask for types")->type_name("TYPE")->required();
  verb.add_option("--id", options->id,
                  "Task id; submitting the same id again adds no second task (default: a random id)")
      ->type_name("ID");
  verb.add_option("--priority", options->priority, "Priority from -100 to 100; higher runs first (default: 0)")
      ->type_name("N");
  auto* run_at = verb.add_option("--run-at", options->run_at, "Not before this time")->type_name("TIME");
  auto* delay =
      verb.add_option("--delay", options->delay, "Do not run before this long from now")->type_name("DURATION");
  verb.add_option("--max-attempts", options->max_attempts, "Attempts before the task is FAILED (default: 5)")
      ->type_name("N");
  verb.add_option("--backoff", options->backoff,
                  "Delay before the second attempt, doubled for each further one (default: 10s)")
      ->type_name("DURATION");
  verb.add_option("--max-backoff", options->most_backoff, "Longest delay between attempts (default: 1h)")
      ->type_name("DURATION");
  verb.add_option("--timeout", options->timeout, "Time limit of one attempt (default: none)")->type_name("DURATION");
  verb.add_option("--unique-key", options->unique_key, "At most one unfinished task may have this key")
      ->type_name("KEY");
  add_common(verb, *options);
  file->excludes(data);
  delay->excludes(run_at);
  return [options] { return task_submit(*options); };
}

Start set_up_submit_batch(CLI::App& verb) {
  const auto options = std::make_shared<SubmitBatchOptions>();
  verb.add_option("FILE", options->file, "Tasks, one JSON object per line; - is standard input")
      ->type_name("PATH")
      ->capture_default_str();
  verb.add_flag("--progress", options->progress, "Show progress even when standard error is not a terminal");
  add_common(verb, *options);
  return [options] { return task_submit_batch(*options); };
}

Start set_up_list(CLI::App& verb) {
  const auto options = std::make_shared<ListOptions>();
  add_state(verb, options->state, {"pending", "running", "succeeded", "failed"});
  add_type_filter(verb, options->type);
  verb.add_option("--after", options->after, "Only ids after this one, in byte order")->type_name("ID");
  verb.add_option("--limit", options->limit, "Show at most N (default: 100)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}));
  add_common(verb, *options);
  return [options] { return task_list(*options); };
}

Start set_up_task_show(CLI::App& verb) {
  const auto options = std::make_shared<ShowOptions>();
  verb.add_option("ID", options->id, "The task")->required();
  add_common(verb, *options);
  return [options] { return task_show(*options); };
}

Start set_up_retry(CLI::App& verb) {
  const auto options = std::make_shared<RetryOptions>();
  auto* ids = verb.add_option("ID", options->ids, "FAILED tasks");
  auto* all = verb.add_flag("--all-failed", options->all_failed, "All FAILED tasks");
  verb.add_option("--type", options->type, "With --all-failed: only of this type")->type_name("TYPE")->needs(all);
  verb.add_option("--attempts", options->attempts, "Number of further attempts (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(1, kMostAttempts));
  add_common(verb, *options);
  all->excludes(ids);
  verb.final_callback([ids, all] {
    if (ids->count() + all->count() == 0) throw CLI::RequiredError("ID or --all-failed");
  });
  return [options] { return task_retry(*options); };
}

Start set_up_cancel(CLI::App& verb) {
  const auto options = std::make_shared<CancelOptions>();
  verb.add_option("ID", options->ids, "Tasks that are waiting or running")->required();
  add_common(verb, *options);
  return [options] { return task_cancel(*options); };
}

Start set_up_prune(CLI::App& verb) {
  const auto options = std::make_shared<PruneOptions>();
  verb.add_option("--older-than", options->older_than, "Tasks that finished longer ago than this")
      ->type_name("DURATION")
      ->capture_default_str();
  add_state(verb, options->state, {"succeeded", "failed"});
  add_common(verb, *options);
  return [options] { return task_prune(*options); };
}

struct TaskVerb {
  const char* name;
  const char* summary;
  const char* examples;
  Start (*set_up)(CLI::App& verb);
};

constexpr TaskVerb kVerbsOfTask[] = {
    {"submit", "Submit a task; it is durable when this returns",
     "  kron task submit --type mail --id welcome-4711 '{\"to\":\"someone@example.com\"}'\n"
     "  pg_dump --schema-only | jq -Rs . | kron task submit --type archive --delay 1h -",
     set_up_submit},
    {"submit-batch", "Submit many tasks, one JSON object per line; durable in groups",
     "  kron task submit-batch tasks.jsonl --format json\n"
     "  echo '{\"payload\":{\"type\":\"mail\",\"data\":{\"n\":1}}}' | kron task submit-batch",
     set_up_submit_batch},
    {"list", "List tasks by id",
     "  kron task list --state failed\n  kron task list --type mail --limit 1000 --format json", set_up_list},
    {"show", "Show a task with all its attempts", "  kron task show welcome-4711", set_up_task_show},
    {"retry", "Give FAILED tasks more attempts",
     "  kron task retry welcome-4711\n  kron task retry --all-failed --type mail", set_up_retry},
    {"cancel", "Cancel unfinished tasks; they become FAILED", "  kron task cancel welcome-4711", set_up_cancel},
    {"prune", "Remove tasks that finished long ago; what they published stays",
     "  kron task prune --older-than 7d --state succeeded", set_up_prune},
};

// CLI11 would only say that a subcommand is required.
int refuse_task_verb(const std::vector<std::string>& words) {
  std::array<std::string_view, std::size(kVerbsOfTask)> names;
  std::ranges::transform(kVerbsOfTask, names.begin(), &TaskVerb::name);
  const std::string_view near = words.empty() ? "" : nearest_word(words.front(), names);
  const std::string problem = words.empty() ? "no command" : "unknown command " + kron::quoted(words.front());
  const std::string hint = near.empty() ? "see kron task --help" : "did you mean " + std::string(near) + "?";
  std::fprintf(stderr, "kron task: %s; %s\n", problem.c_str(), hint.c_str());
  return exit_status(Code::unreadable);
}

}  // namespace

Start set_up_task(CLI::App& verb) {
  verb.require_subcommand(0, 1);
  const auto chosen = std::make_shared<Start>();
  for (const TaskVerb& one : kVerbsOfTask) {
    CLI::App* command = verb.add_subcommand(one.name, one.summary);
    command->footer(std::string("Examples:\n") + one.examples);
    command->parse_complete_callback([chosen, start = one.set_up(*command)] { *chosen = start; });
  }
  // Words that are no verb are for refuse_task_verb. After the verbs, which would allow them, too.
  verb.allow_extras();
  return [chosen, &verb] { return *chosen ? (*chosen)() : refuse_task_verb(verb.remaining()); };
}

}  // namespace kron::cli
