#include "nested_verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "kron/base/result.h"
#include "kron/base/text.h"

namespace kron::cli {
namespace {

// CLI11 would only say that a subcommand is required.
int refuse_nested(const std::string& name, std::span<const Verb> verbs, const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs) names.emplace_back(verb.name);
  const std::string_view near = words.empty() ? "" : nearest_word(words.front(), names);
  const std::string problem = words.empty() ? "no command" : "unknown command " + kron::quoted(words.front());
  const std::string hint = near.empty() ? "see kron " + name + " --help" : "did you mean " + std::string(near) + "?";
  std::fprintf(stderr, "kron %s: %s; %s\n", name.c_str(), problem.c_str(), hint.c_str());
  return exit_status(Code::unreadable);
}

}  // namespace

std::function<int()> set_up_nested(CLI::App& verb, std::span<const Verb> verbs) {
  verb.require_subcommand(0, 1);
  const auto chosen = std::make_shared<std::function<int()>>();
  for (const Verb& one : verbs) {
    CLI::App* command = verb.add_subcommand(one.name, one.summary);
    command->footer(std::string("Examples:\n") + one.examples);
    command->parse_complete_callback([chosen, start = one.setup(*command)] { *chosen = start; });
  }
  // Words that are no verb are for refuse_nested. After the verbs, which would allow them, too.
  verb.allow_extras();
  return [chosen, verbs, &verb] {
    return *chosen ? (*chosen)() : refuse_nested(verb.get_name(), verbs, verb.remaining());
  };
}

}  // namespace kron::cli
