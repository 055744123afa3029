#include "shared_flags.h"

#include <CLI/CLI.hpp>

namespace kron::cli {

void add_format(CLI::App& verb, bool& json) {
  verb.add_option_function<std::string>(
          "--format", [&json](const std::string& format) { json = format == "json"; }, "Output format (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
}

void add_socket(CLI::App& verb, std::string& socket, std::string& state_dir) {
  verb.add_option(
          "--socket", socket,
          "krond's socket (default: in --state-dir if given, else $KRON_SOCKET, else in the default state directory)")
      ->type_name("PATH");
  verb.add_option("--state-dir", state_dir,
                  "krond's state directory (default: /var/lib/krond for root, else ~/.local/state/krond)")
      ->type_name("DIR");
}

void add_task_place(CLI::App& verb, TaskPlaceOptions& place) {
  auto* data =
      verb.add_option("--data-dir", place.data_dir, "Use this queue directory directly instead of krond's queue")
          ->type_name("DIR");
  add_socket(verb, place.socket, place.state_dir);
  verb.get_option("--socket")->excludes(data);
  verb.get_option("--state-dir")->excludes(data);
}

void add_daemon_flags(CLI::App& verb, DaemonOptions& options) {
  add_socket(verb, options.socket, options.state_dir);
  add_format(verb, options.json);
}

}  // namespace kron::cli
