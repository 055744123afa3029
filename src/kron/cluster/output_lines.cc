#include "kron/cluster/output_lines.h"

#include <algorithm>

namespace kron::cluster {

Result<OutputKind> output_kind(std::string_view type) {
  if (type == "none") return OutputKind::none;
  if (type == "zset") return OutputKind::sorted_set;
  if (type == "list") return OutputKind::list;
  return fail(Code::conflict, "the output of this run is kept as a " + std::string(type) + ", which nobody writes");
}

RedisCommand count_of_output(OutputKind kind, const std::string& key) {
  return {kind == OutputKind::list ? "LLEN" : "ZCARD", key};
}

RedisCommand page_of_output(OutputKind kind, const std::string& key, std::size_t first, std::size_t count) {
  return {kind == OutputKind::list ? "LRANGE" : "ZRANGE", key, std::to_string(first),
          std::to_string(first + count - 1)};
}

std::string text_of_line(OutputKind kind, std::string_view line) {
  return kind == OutputKind::list ? std::string(line) : std::string(line_of_member(line)) + "\n";
}

std::string_view line_of_member(std::string_view member) {
  const std::size_t zero = member.rfind('\0');
  if (zero == std::string_view::npos || zero + 1 == member.size()) return member;
  const bool is_number = std::ranges::all_of(member.substr(zero + 1), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? member.substr(0, zero) : member;
}

}  // namespace kron::cluster
