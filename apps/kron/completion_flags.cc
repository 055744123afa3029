#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "verb_table.h"
#include "verbs.h"

namespace kron::cli {
namespace {

// The words of `…{a,b,c}`, which is how CLI11 shows the only values an option takes.
std::vector<std::string> words_in(std::string_view type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string_view::npos || close == std::string_view::npos) return words;
  for (std::string_view rest = type.substr(open + 1, close - open - 1); !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

void add_flags_of(const CLI::App& command, CompletedVerb& verb) {
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> values = words_in(option->get_type_name());
    if (option->get_lnames().empty()) {
      if (!values.empty()) verb.words = values;
      continue;
    }
    const std::string name = "--" + option->get_lnames().front();
    if (std::ranges::find(verb.flags, name, &CompletedFlag::name) != verb.flags.end()) continue;
    const bool takes_file = option->get_type_name() == "PATH" || option->get_type_name() == "DIR";
    verb.flags.push_back({name, option->get_description(), values, takes_file});
  }
}

// What there is to complete, read back from the flags as they were declared. A verb that has verbs of its own completes
// their names, and the flags of them all.
std::vector<CompletedVerb> completed_verbs(const CLI::App& app) {
  std::vector<CompletedVerb> verbs;
  for (const CLI::App* command : app.get_subcommands({})) {
    CompletedVerb verb{command->get_name(), command->get_description(), {}, {}};
    add_flags_of(*command, verb);
    for (const CLI::App* own : command->get_subcommands({})) {
      add_flags_of(*own, verb);
      verb.words.push_back(own->get_name());
    }
    verbs.push_back(std::move(verb));
  }
  return verbs;
}

std::function<int()> set_up_completion(CLI::App& verb) {
  const auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "bash, zsh or fish")->check(CLI::IsMember({"bash", "zsh", "fish"}))->required();
  return [shell, app = verb.get_parent()] {
    std::fputs(completion_script(*shell, completed_verbs(*app)).c_str(), stdout);
    return 0;
  };
}

constexpr std::array kVerbs{
    Verb{"completion", "A script that completes this command's words in a shell",
         "  source <(kron completion bash)\n"
         "  kron completion zsh > ~/.zfunc/_kron\n"
         "  kron completion fish > ~/.config/fish/completions/kron.fish",
         set_up_completion},
};

}  // namespace

std::span<const Verb> shell_verbs() { return kVerbs; }

}  // namespace kron::cli
