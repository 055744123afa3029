#include "shared_flags.h"

#include <CLI/CLI.hpp>

namespace kron::cli {

void add_format(CLI::App& verb, bool& json) {
  verb.add_option_function<std::string>(
          "--format", [&json](const std::string& format) { json = format == "json"; }, "text or json (text)")
      ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace kron::cli
