#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/sha256.h"
#include "kron/env/file_system.h"
#include "kron/http/endpoint.h"
#include "kron/json/document.h"

namespace kron::cli {

enum class Verdict : std::uint8_t { ok, warning, problem };

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string about;  // config, state, clock, zones, helper, socket; url, tls, token
  std::string what;
  std::string cure = {};  // what to do; empty when nothing is
};
using Findings = std::vector<Finding>;

// Each looks at one part of the host, changes nothing, and appends what it found. `now` is the present.
// Jobs by the hash that names their records.
struct ConfiguredJob {
  std::string identity;
  Nanoseconds reach{0};  // how long before its nominal time a period may be due
};
using ConfiguredJobs = std::map<Sha256, ConfiguredJob>;

ConfiguredJobs examine_config(std::span<const std::string> paths, Instant now, Findings& findings);
void examine_state(const std::string& state_directory, const ConfiguredJobs& jobs, Instant now, Findings& findings);
// How many records are not in order.
std::size_t examine_records(Directory& directory, const ConfiguredJobs& jobs, Instant now, Findings& findings);
void examine_clock(Instant now, Findings& findings);
void examine_zones(Findings& findings);
void examine_helper(const std::string& given, Findings& findings);

// What krond says of itself, as far as the others need it.
struct DaemonFacts {
  bool answers = false;
  std::string state_directory;
  std::vector<std::string> config;
  Seconds clock_offset{0};
  bool in_cluster = false;  // its jobs are in Redis, and there are no job files
};
DaemonFacts examine_socket(const std::string& socket_path, Findings& findings);
// What krond says of itself; `about` is the way it was asked.
void judge_status(const Node& status, const char* about, Findings& findings);

// A krond that is asked by its URL: whether it can be reached and trusted, what the token may, whose clock is right. Of
// its host nothing else can be seen from here. `now` is this host's time.
void examine_remote(const http::Endpoint& krond, const std::function<Instant()>& now, Findings& findings);

}  // namespace kron::cli
