#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kron/json/writer.h"

namespace kron::api {

// What a krond of a cluster knows of it.
struct ClusterStatus {
  struct Host {
    std::string instance;
    std::string host;
    std::string ip;
    std::string version;
    std::string compat;
    double clock_offset = 0;
    bool is_draining = false;
    std::uint64_t runs = 0;
    double beat_seconds_ago = 0;
  };
  struct Warning {
    bool is_error = false;
    std::string message;
  };

  std::string redis = {};  // without a password
  std::string name_space = {};
  std::string host = {};
  std::string instance = {};  // empty: not joined yet
  std::string compat = {};
  std::string timezone = {};
  bool tasks_in_files = false;  // of each host, instead of Redis's
  bool link_up = false;
  bool is_draining = false;
  double clock_offset = 0;         // seconds that the cluster's clock is ahead of this machine's
  std::string why_not_ready = {};  // empty: it is
  std::vector<Warning> warnings = {};
  std::vector<Host> hosts = {};  // as they were seen last
  std::uint64_t reconnects = 0;
  std::uint64_t lost_writes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> answers = {};  // of Redis to steps, by their words
};

// As a value of its own.
void write(JsonWriter& json, const ClusterStatus& status);

}  // namespace kron::api
