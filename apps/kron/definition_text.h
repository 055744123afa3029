#pragma once

#include <string>

#include "kron/json/document.h"

namespace kron::cli {

// What a job's definition (the member `definition` of the API) says beyond its schedule and command, a line each. Of
// the environment only the names: values may be secrets.
void print_definition(const Node& definition);

// Where the job's output goes when krond does not keep it: `standard output goes to /var/log/x`; empty when krond has
// it all.
std::string elsewhere_of(const Node& definition);

}  // namespace kron::cli
