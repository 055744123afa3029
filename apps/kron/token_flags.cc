#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "nested_verbs.h"
#include "shared_flags.h"
#include "token_verbs.h"

namespace kron::cli {
namespace {

std::function<int()> set_up_create(CLI::App& verb) {
  const auto options = std::make_shared<TokenOptions>();
  verb.add_option("NAME", options->name, "What it is for, or whose it is: it names who acts")->required();
  verb.add_option("--role", options->role,
                  "read: look; operate: run, pause, kill; admin: also secrets and records; ics: one calendar")
      ->type_name("ROLE")
      ->required()
      ->check(CLI::IsMember({"read", "operate", "admin", "ics"}));
  verb.add_option("--expires", options->expires, "How long it is good for: 90d, or never (default: 365d)")
      ->type_name("DURATION");
  verb.add_option("--out", options->out, "Write it to this new file, for you alone, and do not print it")
      ->type_name("FILE");
  add_daemon_flags(verb, *options);
  return [options] { return create_token(*options); };
}

std::function<int()> set_up_token_list(CLI::App& verb) {
  const auto options = std::make_shared<DaemonOptions>();
  add_daemon_flags(verb, *options);
  return [options] { return list_tokens(*options); };
}

std::function<int()> set_up_revoke(CLI::App& verb) {
  const auto options = std::make_shared<RevokeOptions>();
  auto* id = verb.add_option("ID", options->id, "The token's id, as kron token list shows it");
  verb.add_flag("--sessions", options->sessions, "End the sessions of all pages instead; tokens stay")->excludes(id);
  add_daemon_flags(verb, *options);
  return [options] { return revoke_token(*options); };
}

constexpr std::array kTokenVerbs{
    Verb{"create", "Make a token, and show it once",
         "  kron token create prometheus --role read\n"
         "  kron token create ci --role operate --expires 90d --out ci.token\n"
         "  kron token create phone --role ics",
         set_up_create},
    Verb{"list", "List tokens, never what they are", "  kron token list", set_up_token_list},
    Verb{"revoke", "Revoke a token, with its sessions and open streams",
         "  kron token revoke q7zk3m2a\n  kron token revoke --sessions", set_up_revoke},
};

}  // namespace

std::function<int()> set_up_token(CLI::App& verb) { return set_up_nested(verb, kTokenVerbs); }

}  // namespace kron::cli
