#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// What a Redis says of itself, and what that means for a cluster. Pure.
namespace kron::cli {

// The lines `key:value` of INFO.
using RedisInfo = std::map<std::string, std::string, std::less<>>;
RedisInfo parse_info(std::string_view text);

std::string fact(const RedisInfo& info, std::string_view key);  // empty: not known

// What its settings endanger; empty: nothing. `appendfsync` as CONFIG GET says, empty when it is not allowed to ask.
std::vector<std::string> warnings_of(const RedisInfo& info, std::string_view appendfsync);

}  // namespace kron::cli
