#pragma once

#include <span>
#include <string>

#include "kron/jobs/definition.h"

namespace kron::cli {

// Prints the definitions on standard output, as .kron lines or as one YAML document, and on standard error what could
// not be said in that form and what was left behind. How many were printed; fewer than given when some were left out.
std::size_t print_definitions(std::span<const jobs::JobDefinition> definitions, const std::string& to);

}  // namespace kron::cli
