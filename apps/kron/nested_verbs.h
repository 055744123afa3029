#pragma once

#include <functional>
#include <span>

#include "verb_table.h"

namespace kron::cli {

// Gives a verb verbs of its own, and returns what runs the one that was chosen. A word that is none of them is told the
// nearest.
std::function<int()> set_up_nested(CLI::App& verb, std::span<const Verb> verbs);

}  // namespace kron::cli
