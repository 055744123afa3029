#include "kron/daemon/remote_output.h"

#include <algorithm>
#include <vector>

namespace kron::daemon {
namespace {

constexpr Nanoseconds kPageWait = Seconds(3);
constexpr std::size_t kPage = 5000;
constexpr std::size_t kMostOutput = std::size_t{16} << 20;  // more than kron-exec captures

Result<std::vector<RedisValue>> page_of(cluster::Link& link, const RedisCommand& command) {
  const auto replies = link.ask({command}, kPageWait);
  if (replies.size() != 1 || replies[0].reply.how == RedisReply::How::lost ||
      replies[0].reply.how == RedisReply::How::not_sent) {
    return fail(Code::unreachable, "Redis, which has the output, does not answer; ask again");
  }
  if (!replies[0].reply.is_reply()) return fail(Code::io, replies[0].reply.why);
  return replies[0].reply.value.items;
}

}  // namespace

std::string_view line_of_member(std::string_view member) {
  const std::size_t zero = member.rfind('\0');
  if (zero == std::string_view::npos || zero + 1 == member.size()) return member;
  const bool is_number = std::ranges::all_of(member.substr(zero + 1), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? member.substr(0, zero) : member;
}

Result<std::string> remote_output(cluster::Link& link, const cluster::Keys& keys, const std::string& run_id) {
  const std::string key = keys.output(run_id);
  const auto kinds = link.ask({{"TYPE", key}}, kPageWait);
  if (kinds.size() != 1 || !kinds[0].reply.is_reply()) {
    return fail(Code::unreachable, "Redis, which has the output, does not answer; ask again");
  }
  const std::string& kind = kinds[0].reply.value.text;
  if (kind != "zset" && kind != "list") {
    return fail(Code::not_found, "the cluster has no output of the run " + run_id +
                                     ": it is kept for 24 hours after the last line, or nothing was written");
  }
  std::string text;
  for (std::size_t first = 0; text.size() < kMostOutput; first += kPage) {
    const RedisCommand command{kind == "zset" ? "ZRANGE" : "LRANGE", key, std::to_string(first),
                               std::to_string(first + kPage - 1)};
    const auto lines = page_of(link, command);
    if (!lines) return fail(lines.error());
    for (const RedisValue& line : *lines) {
      if (kind == "list") {
        text += line.text;
      } else {
        (text += line_of_member(line.text)) += '\n';
      }
    }
    if (lines->size() < kPage) break;
  }
  return text;
}

}  // namespace kron::daemon
