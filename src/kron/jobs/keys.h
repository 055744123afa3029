#pragma once

#include <array>
#include <string_view>

#include "kron/json/job_fields.h"

namespace kron::jobs {

// Every word a definition knows beside those of json/job_fields.h, in one place: the readers, the nearest-word hints
// and the schema's test use these.
inline constexpr auto kActionKeys = std::to_array<std::string_view>(
    {"name", "command", "shell", "user", "group", "cwd", "env", "umask", "timeout", "grace", "stdout", "stderr",
     "stdin", "nice", "limits", "history", "description", "task"});
inline constexpr auto kFileKeys = std::to_array<std::string_view>({"jobs", "defaults", "calendars"});
inline constexpr auto kLimitKeys =
    std::to_array<std::string_view>({"cpu", "memory", "file_size", "core", "files", "processes"});

inline constexpr auto kDefinitionKeys = [] {
  std::array<std::string_view, kActionKeys.size() + kJobKeys.size()> all;
  std::size_t count = 0;
  for (const std::string_view key : kActionKeys) all[count++] = key;
  for (const std::string_view key : kJobKeys) all[count++] = key;
  return all;
}();

// The .kron spelling: modifiers with the key each stands for, and the fields of its `key=value` part.
struct Modifier {
  std::string_view word;
  std::string_view key;
};
inline constexpr auto kModifiers = std::to_array<Modifier>({{"tz", "timezone"},
                                                            {"win", "window"},
                                                            {"dist", "distribution"},
                                                            {"seed", "seed"},
                                                            {"policy", "policy"},
                                                            {"only", "only"},
                                                            {"avoid", "avoid"},
                                                            {"dst", "dst"}});
inline constexpr auto kLineFields = [] {
  std::array<std::string_view, kActionKeys.size() + 1> all;
  std::size_t count = 0;
  for (const std::string_view key : kActionKeys) all[count++] = key;
  all[count] = "calendar";
  return all;
}();

}  // namespace kron::jobs
