#pragma once

#include <string>
#include <vector>

#include "kron/jobs/problem.h"

namespace kron::cli {

struct FindingsFormat {
  bool quiet = false;  // errors only
  bool json = false;   // one list
};

// What a lint verb found, in the order a reader goes through the files: as text with a last line that counts all of
// it, shown or not. `read` is what was read: "3 jobs".
void show_findings(std::vector<jobs::Problem> problems, const std::string& read, const FindingsFormat& format);

}  // namespace kron::cli
