#include "command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <sstream>
#include <vector>

#include "cluster_verbs.h"
#include "kron/base/result.h"
#include "kron/base/text.h"
#include "kube_verbs.h"
#include "task_verbs.h"
#include "terminal.h"
#include "verb_table.h"
#include "version.h"

namespace kron::cli {
namespace {

constexpr std::array kTaskVerbs{
    Verb{"task", "Durable tasks: submit, list, show, retry, cancel, prune",
         "  kron task submit --type mail '{\"to\":\"someone@example.com\"}'\n"
         "  kron task list --state failed",
         set_up_task},
    Verb{"worker", "Run a command for each task, and commit its effects exactly once",
         "  kron worker --type mail --exec ./send-mail --concurrency 4\n"
         "  kron worker --shell --exec 'gzip > \"$KRON_STAGE_DIR/data.gz\"' --drain",
         set_up_worker},
};

constexpr std::array kManyHosts{
    Verb{"cluster", "Many hosts on one Redis: status, jobs, runs, logs, add, pause, trigger and more",
         "  kron cluster status --redis redis://redis.example:6379\n"
         "  kron cluster trigger db-backup --wait",
         set_up_cluster},
};

constexpr std::array kInKubernetes{
    Verb{"kube", "KronJobs in Kubernetes: next, explain, trigger, suspend, resume, lint",
         "  kron kube next -A\n"
         "  kron kube explain report -n shop\n"
         "  kron kube lint manifests/",
         set_up_kube},
};

struct Group {
  const char* title;
  std::span<const Verb> verbs;
};

std::vector<Group> groups() {
  return {{"Look ahead", ahead_verbs()},
          {"Operate krond", operate_verbs()},
          {"Operate a cluster", kManyHosts},
          {"Operate in Kubernetes", kInKubernetes},
          {"Tasks", kTaskVerbs},
          {"The command itself", shell_verbs()}};
}

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const Group& group : groups()) {
    for (const Verb& verb : group.verbs) names.emplace_back(verb.name);
  }
  return names;
}

// CLI11 would only say that a subcommand is required.
bool is_unknown_verb(std::string_view word) {
  const auto names = verb_names();
  return !word.starts_with('-') && std::ranges::find(names, word) == names.end();
}

int refuse_verb(std::string_view word) {
  const auto names = verb_names();
  const std::string_view near = nearest_word(word, names);
  const std::string hint = near.empty() ? "see kron --help" : "did you mean " + std::string(near) + "?";
  std::fprintf(stderr, "kron: unknown command %s; %s\n", quoted(word).c_str(), hint.c_str());
  return exit_status(Code::unreadable);
}

// What no flag and no argument takes. CLI11 would only list it.
int refuse_extras(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name = "kron";
  for (auto verbs = app.get_subcommands(); !verbs.empty(); verbs = command->get_subcommands()) {
    command = verbs.back();
    name += " " + command->get_name();
  }
  std::vector<std::string> extras = app.remaining(true);
  const auto flag = std::ranges::find_if(extras, [](const std::string& word) { return word.starts_with('-'); });
  if (flag == extras.end()) {
    std::fprintf(stderr, "%s: unexpected argument %s; see %s --help\n", name.c_str(),
                 kron::quoted(extras.front()).c_str(), name.c_str());
    return exit_status(Code::unreadable);
  }
  const std::string given = flag->substr(0, flag->find('='));
  std::vector<std::string> flags;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& word : option->get_lnames()) flags.push_back("--" + word);
  }
  const std::vector<std::string_view> words(flags.begin(), flags.end());
  const std::string_view near = nearest_word(given, words);
  const std::string hint = near.empty() ? "see " + name + " --help" : "did you mean " + std::string(near) + "?";
  std::fprintf(stderr, "%s: unknown flag %s; %s\n", name.c_str(), kron::quoted(given).c_str(), hint.c_str());
  return exit_status(Code::unreadable);
}

// The help, the version, or what is wrong with the usage.
int answer_instead(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = app.exit(error, out, err);
  std::fputs(for_locale(out.str()).c_str(), stdout);
  std::fputs(for_locale(err.str()).c_str(), stderr);
  return status == 0 ? 0 : exit_status(Code::unreadable);
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  if (argc > 1 && is_unknown_verb(argv[1])) return refuse_verb(argv[1]);
  CLI::App app("Preview schedules, and control the krond job scheduler.", "kron");
  app.set_version_flag("--version", std::string("kron ") + told_version());
  app.require_subcommand(1);
  std::string examples = "Examples:\n";
  std::function<int()> chosen;
  for (const Group& group : groups()) {
    for (const Verb& verb : group.verbs) {
      CLI::App* command = app.add_subcommand(verb.name, verb.summary)->group(group.title);
      command->footer(std::string("Examples:\n") + verb.examples);
      examples += std::string(verb.examples) + "\n";
      command->parse_complete_callback([&chosen, start = verb.setup(*command)] { chosen = start; });
    }
  }
  app.footer(examples +
             "\nExit status: 0 done, 1 a negative answer (some lines were bad, a run failed), 2 wrong usage or input "
             "that cannot be read, 3 krond cannot be reached, 4 refused or in conflict with what is there, 70 an "
             "internal error.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return refuse_extras(app);
  } catch (const CLI::ParseError& error) {
    return answer_instead(app, error);
  }
  return chosen();
}

}  // namespace kron::cli
