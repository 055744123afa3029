#include "shared_flags.h"

#include <CLI/CLI.hpp>

namespace kron::cli {

void add_format(CLI::App& verb, bool& json) {
  verb.add_option_function<std::string>(
          "--format", [&json](const std::string& format) { json = format == "json"; }, "Output format (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
}

void add_times(CLI::App& verb, TimeFlags& times) {
  auto* utc = verb.add_flag("--utc", times.utc, "Show times in UTC (default: on a terminal in local time)");
  verb.add_flag("--local", times.local, "Show times as on a terminal: local, and how far away they are")->excludes(utc);
}

void add_note(CLI::App& verb, std::string& note) {
  verb.add_option("--note", note, "What is to be said about it: events show it, and a paused job")->type_name("TEXT");
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

void add_krond_place(CLI::App& verb, std::string& socket, std::string& state_dir, std::string& url,
                     std::string& token_file, std::string& ca_file) {
  add_socket(verb, socket, state_dir);
  verb.add_option("--url", url,
                  "Ask krond over the network, where `kron web` serves it: https://HOST[:PORT] (default: $KRON_URL)")
      ->type_name("URL")
      ->excludes("--socket")
      ->excludes("--state-dir");
  verb.add_option("--token-file", token_file,
                  "File with the token for --url (default: $KRON_TOKEN_FILE, else the token in $KRON_TOKEN)")
      ->type_name("PATH");
  verb.add_option("--ca-file", ca_file,
                  "Authorities to trust for --url, PEM (default: $KRON_CA_FILE, else those of the system)")
      ->type_name("PATH");
}

void add_krond_place(CLI::App& verb, KrondOptions& options) {
  add_krond_place(verb, options.socket, options.state_dir, options.url, options.token_file, options.ca_file);
}

void add_redis(CLI::App& verb, ClusterOptions& options, const char* summary) {
  verb.add_option("--redis", options.redis, summary)->type_name("URL");
  verb.add_option("--redis-file", options.redis_file, "File whose first line is that URL (default: $KRON_REDIS_FILE)")
      ->type_name("PATH")
      ->excludes("--redis");
  verb.add_option("--namespace", options.name_space,
                  "What the cluster's keys begin with (default: $KRON_NAMESPACE, else $CRONKEN_NAMESPACE, else "
                  "{cronken})")
      ->type_name("NS");
}

void add_task_place(CLI::App& verb, TaskPlaceOptions& place) {
  auto* data =
      verb.add_option("--data-dir", place.data_dir, "Use this queue directory directly instead of krond's queue")
          ->type_name("DIR");
  add_krond_place(verb, place.socket, place.state_dir, place.url, place.token_file, place.ca_file);
  add_redis(
      verb, place.redis,
      "Use the tasks of a cluster in its Redis directly, without a krond: redis://[USER:PASSWORD@]HOST:PORT[/DB], "
      "rediss:// or redis+sentinel:// (default: $KRON_REDIS, unless a socket or directory is given)");
  for (const char* krond : {"--socket", "--state-dir", "--url"}) {
    verb.get_option(krond)->excludes(data);
    for (const char* redis : {"--redis", "--redis-file"}) verb.get_option(krond)->excludes(verb.get_option(redis));
  }
  for (const char* redis : {"--redis", "--redis-file"}) verb.get_option(redis)->excludes(data);
}

void add_daemon_flags(CLI::App& verb, DaemonOptions& options) {
  add_krond_place(verb, options);
  add_format(verb, options.json);
  add_times(verb, options.times);
}

}  // namespace kron::cli
