#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "completion.h"

namespace kron::completion {
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

// `kind`: the placeholder in the help.
Values values_of(const CLI::Option& option, std::string_view kind) {
  return {.words = words_in(option.get_type_name()),
          .are_files = kind == "PATH" || kind == "DIR",
          .are_jobs = kind == "JOB"};
}

void add_flags_of(const CLI::App& command, std::vector<Flag>& flags, Values& arguments) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) {
      Values values = values_of(*option, option->get_name());
      values.are_jobs = values.are_jobs || option->get_name() == "NAME";
      if (!values.words.empty() || values.are_jobs) arguments = std::move(values);
      continue;
    }
    if (option->get_group().empty()) continue;  // hidden
    const std::string name = "--" + option->get_lnames().front();
    if (std::ranges::find(flags, name, &Flag::name) != flags.end()) continue;
    flags.push_back({name, option->get_description(), values_of(*option, option->get_type_name())});
  }
}

bool takes_verbs(const CLI::App& command) {
  return std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
    return option->get_lnames().empty() && option->get_name() == "COMMAND";
  });
}

}  // namespace

Program program_of(const CLI::App& app) {
  Program program{app.get_name()};
  Values none;
  add_flags_of(app, program.flags, none);
  for (const CLI::App* command : app.get_subcommands({})) {
    Verb verb{command->get_name(), command->get_description()};
    add_flags_of(*command, verb.flags, verb.arguments);
    for (const CLI::App* own : command->get_subcommands({})) {
      Values of_own;
      add_flags_of(*own, verb.flags, of_own);
      verb.arguments.words.push_back(own->get_name());
    }
    program.verbs.push_back(std::move(verb));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!takes_verbs(*command)) continue;
    auto& words = std::ranges::find(program.verbs, command->get_name(), &Verb::name)->arguments.words;
    for (const Verb& verb : program.verbs) words.push_back(verb.name);
  }
  return program;
}

}  // namespace kron::completion
