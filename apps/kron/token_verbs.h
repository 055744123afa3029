#pragma once

#include <functional>
#include <string>

#include "operate_verbs.h"

namespace CLI {
class App;
}

namespace kron::cli {

// `kron token …`, free of the parsing of flags (token_flags.cc). All return the exit status.

struct TokenOptions : DaemonOptions {
  std::string name;
  std::string role;
  std::string expires;  // empty: as krond says
  std::string out;      // empty: printed
};
int create_token(const TokenOptions& options);

int list_tokens(const DaemonOptions& options);

struct RevokeOptions : DaemonOptions {
  std::string id;
  bool sessions = false;  // in place of it
};
int revoke_token(const RevokeOptions& options);

std::function<int()> set_up_token(CLI::App& verb);

}  // namespace kron::cli
