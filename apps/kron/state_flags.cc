#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "kron/base/result.h"
#include "kron/base/text.h"
#include "shared_flags.h"
#include "state_verbs.h"

namespace kron::cli {
namespace {

using Start = std::function<int()>;

Start set_up_state_list(CLI::App& verb) {
  const auto options = std::make_shared<DaemonOptions>();
  add_daemon_flags(verb, *options);
  return [options] { return list_records(*options); };
}

Start set_up_state_show(CLI::App& verb) {
  const auto options = std::make_shared<NameOptions>();
  verb.add_option("JOB", options->name, "The job's name")->required();
  add_daemon_flags(verb, *options);
  return [options] { return show_record(*options); };
}

Start set_up_state_reset(CLI::App& verb) {
  const auto options = std::make_shared<ResetOptions>();
  verb.add_option("JOB", options->names, "The jobs' names")->required();
  add_daemon_flags(verb, *options);
  return [options] { return reset_records(*options); };
}

Start set_up_state_prune(CLI::App& verb) {
  const auto options = std::make_shared<PruneStateOptions>();
  verb.add_flag("--yes", options->yes, "Remove them; without it, only say what would go");
  verb.add_option("--config", options->config, "When no krond runs: job files and directories of them")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_daemon_flags(verb, *options);
  return [options] { return prune_records(*options); };
}

struct StateVerb {
  const char* name;
  const char* summary;
  const char* examples;
  Start (*set_up)(CLI::App& verb);
};

constexpr StateVerb kStateVerbs[] = {
    {"list", "List the records of jobs, and what is wrong with them",
     "  kron state list\n  kron state list --format json", set_up_state_list},
    {"show", "Show the record of a job", "  kron state show db-backup --format json", set_up_state_show},
    {"reset", "Reset the record of a job: only what is due later than now runs", "  kron state reset db-backup",
     set_up_state_reset},
    {"prune", "Remove the records of jobs that are no longer configured",
     "  kron state prune\n  kron state prune --yes", set_up_state_prune},
};

// CLI11 would only say that a subcommand is required.
int refuse_state_verb(const std::vector<std::string>& words) {
  std::array<std::string_view, std::size(kStateVerbs)> names;
  std::ranges::transform(kStateVerbs, names.begin(), &StateVerb::name);
  const std::string_view near = words.empty() ? "" : nearest_word(words.front(), names);
  const std::string problem = words.empty() ? "no command" : "unknown command " + kron::quoted(words.front());
  const std::string hint = near.empty() ? "see kron state --help" : "did you mean " + std::string(near) + "?";
  std::fprintf(stderr, "kron state: %s; %s\n", problem.c_str(), hint.c_str());
  return exit_status(Code::unreadable);
}

}  // namespace

Start set_up_state(CLI::App& verb) {
  verb.require_subcommand(0, 1);
  const auto chosen = std::make_shared<Start>();
  for (const StateVerb& one : kStateVerbs) {
    CLI::App* command = verb.add_subcommand(one.name, one.summary);
    command->footer(std::string("Examples:\n") + one.examples);
    command->parse_complete_callback([chosen, start = one.set_up(*command)] { *chosen = start; });
  }
  // Words that are no verb are for refuse_state_verb. After the verbs, which would allow them, too.
  verb.allow_extras();
  return [chosen, &verb] { return *chosen ? (*chosen)() : refuse_state_verb(verb.remaining()); };
}

}  // namespace kron::cli
