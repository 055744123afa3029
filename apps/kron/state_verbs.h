#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operate_verbs.h"

namespace CLI {
class App;
}

namespace kron::cli {

// `kron state …`, free of the parsing of flags (state_flags.cc). All return the exit status.

int list_records(const DaemonOptions& options);
int show_record(const NameOptions& options);

struct ResetOptions : DaemonOptions {
  std::vector<std::string> names;
};
int reset_records(const ResetOptions& options);

struct PruneStateOptions : DaemonOptions {
  std::vector<std::string> config;  // without a krond; empty: the default
  bool yes = false;                 // or else only say what would go
};
int prune_records(const PruneStateOptions& options);

std::function<int()> set_up_state(CLI::App& verb);

}  // namespace kron::cli
