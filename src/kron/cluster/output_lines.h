#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/env/redis_connection.h"

// How the output of a run stands in Redis: a sorted set of lines without their newlines, or, written by cronken or in
// its dialect, a list of lines with them. Lines are only added, so their numbers stay. Pure.
namespace kron::cluster {

enum class OutputKind : std::uint8_t { none, sorted_set, list };

// Of Redis's answer to TYPE. Conflict: a kind that nobody writes.
Result<OutputKind> output_kind(std::string_view type);

RedisCommand count_of_output(OutputKind kind, const std::string& key);
// At most `count` lines, from this one on.
RedisCommand page_of_output(OutputKind kind, const std::string& key, std::size_t first, std::size_t count);

// One of those lines, with its newline if it has one.
std::string text_of_line(OutputKind kind, std::string_view line);

// The line that a member of the sorted set stands for: one that was there already has NUL and digits behind it.
std::string_view line_of_member(std::string_view member);

}  // namespace kron::cluster
