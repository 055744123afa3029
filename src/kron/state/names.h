#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/sha256.h"

// Every name in a state directory is built and taken apart here.
//   <sha256 hex of the identity>.json                          one job's record
//   first-seen.json                                            first sight of jobs that have no record yet
//   stopped.json                                               a planned restart; removed by the next start
//   first-seen.recorded-<number>.json                          jobs in it that have had a record since it was written
//   <one of these>.corrupt.<RFC 3339 time>                     it could not be read, and was set aside
//   lock                                                       held by the daemon for life; holds its PID
//   runs/<run id>/{started,output,exit}                        the runner's
//   history/                                                   the history's
//   .tmp-*                                                     a spare file (env/durable.h), or a write that was cut
//   off;
//                                                              removed at start
namespace kron {

inline constexpr std::string_view kFirstSeenName = "first-seen.json";
inline constexpr std::string_view kStopNoteName = "stopped.json";
inline constexpr std::string_view kLockName = "lock";
inline constexpr std::string_view kRunsName = "runs";

std::string recorded_name(std::uint64_t number);
std::optional<std::uint64_t> parse_recorded_name(std::string_view name);

std::string state_file_name(const Sha256& identity_hash);
std::string corrupt_file_name(std::string_view name, Instant when);

struct StateName {
  Sha256 identity_hash;
  bool corrupt = false;
};
// Nothing for names that are not a job's.
std::optional<StateName> parse_state_name(std::string_view name);

}  // namespace kron
