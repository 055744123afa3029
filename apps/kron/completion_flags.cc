#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "completion.h"
#include "kron/base/result.h"
#include "kron/base/text.h"
#include "lines.h"
#include "terminal.h"
#include "verb_table.h"

namespace kron::cli {
namespace {

std::function<int()> set_up_completion(CLI::App& verb) {
  const auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "bash, zsh or fish")->check(CLI::IsMember({"bash", "zsh", "fish"}))->required();
  return [shell, app = verb.get_parent()] {
    std::fputs(completion::script(*shell, completion::program_of(*app)).c_str(), stdout);
    return 0;
  };
}

int show_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    const auto verbs = command->get_subcommands([](const CLI::App*) { return true; });
    const auto found = std::ranges::find(verbs, word, [](const CLI::App* verb) { return verb->get_name(); });
    if (found == verbs.end()) {
      return complain("help", {Code::unreadable, "there is no command " + kron::quoted(word) + "; see kron --help"});
    }
    command = *found;
    name += " " + word;
  }
  // App::help would show that of the command that was chosen, which is this one.
  const std::string text = command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
  std::fputs(for_locale(text).c_str(), stdout);
  return 0;
}

std::function<int()> set_up_help(CLI::App& verb) {
  const auto words = std::make_shared<std::vector<std::string>>();
  verb.add_option("COMMAND", *words, "The command (all of them)");
  return [words, app = verb.get_parent()] { return show_help(*app, *words); };
}

constexpr std::array kShellVerbs{
    Verb{"help", "Show what a command does, and its flags", "  kron help\n  kron help task submit", set_up_help},
    Verb{"completion", "Print a shell completion script",
         "  source <(kron completion bash)\n"
         "  kron completion zsh > ~/.zfunc/_kron\n"
         "  kron completion fish > ~/.config/fish/completions/kron.fish",
         set_up_completion},
};

}  // namespace

std::span<const Verb> shell_verbs() { return kShellVerbs; }

}  // namespace kron::cli
