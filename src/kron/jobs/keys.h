#pragma once

#include <array>
#include <span>
#include <string_view>

namespace kron::jobs {

// Every word a definition knows, gathered from json/job_fields.h and jobs/option_keys.h: the readers, the nearest-word
// hints and the schema's test use these. Made once; any thread.
inline constexpr auto kFileKeys = std::to_array<std::string_view>({"jobs", "defaults", "calendars", "pools"});
std::span<const std::string_view> definition_keys();
std::span<const std::string_view> limit_keys();
std::span<const std::string_view> notify_keys();

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
std::span<const std::string_view> line_fields();

}  // namespace kron::jobs
