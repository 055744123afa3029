#pragma once

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace kron::cli {

// Declares the flags of a verb and returns what runs it once they are read.
using Setup = std::function<int()> (*)(CLI::App& verb);

struct Verb {
  const char* name;
  const char* summary;
  const char* examples;
  Setup setup;
};

// The verbs, by what they are for.
std::span<const Verb> ahead_verbs();    // ahead_flags.cc: what will happen, without any daemon
std::span<const Verb> operate_verbs();  // operate_flags.cc: what a running krond does
std::span<const Verb> shell_verbs();    // completion_flags.cc: the command itself

}  // namespace kron::cli
