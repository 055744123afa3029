#pragma once

#include <string>

#include "operate_verbs.h"
#include "task_place.h"

namespace CLI {
class App;
}

namespace kron::cli {

// Flags that several verbs share, spelled the same in each.
void add_format(CLI::App& verb, bool& json);
// --utc and --local.
void add_times(CLI::App& verb, TimeFlags& times);
// --note, of what changes something.
void add_note(CLI::App& verb, std::string& note);
// --socket, and --state-dir, which says where the socket is.
void add_socket(CLI::App& verb, std::string& socket, std::string& state_dir);
// These, and --url, --token-file and --ca-file: of every verb that works on another host too.
void add_krond_place(CLI::App& verb, std::string& socket, std::string& state_dir, std::string& url,
                     std::string& token_file, std::string& ca_file);
void add_krond_place(CLI::App& verb, KrondOptions& options);
// Those of add_krond_place, --format, --utc and --local: of every verb that asks krond.
void add_daemon_flags(CLI::App& verb, DaemonOptions& options);
// --redis, --redis-file and --namespace.
void add_redis(CLI::App& verb, ClusterOptions& options, const char* summary);
// --data-dir, and those of add_krond_place and add_redis.
void add_task_place(CLI::App& verb, TaskPlaceOptions& place);

}  // namespace kron::cli
