#include "kron/cluster/rights_watch.h"

#include <algorithm>

#include "kron/cluster/scripts.h"

namespace kron::cluster {
namespace {

using How = RedisReply::How;

std::string_view script_of(std::string_view sha) {
  const auto scripts = all_scripts();
  const auto found = std::ranges::find(scripts, sha, &Script::sha);
  return found != scripts.end() ? found->name : std::string_view("unknown");
}

}  // namespace

bool is_missing_right(std::string_view error) {
  // What Redis 6 says of a command within a script has no code.
  return error.find("NOPERM") != std::string_view::npos ||
         error.find("The user executing the script can't") != std::string_view::npos;
}

std::string told_of(const RedisCommand& command) {
  if (command.empty()) return "";
  if (command[0] == "EVALSHA" && command.size() > 3) {
    return "EVALSHA (script " + std::string(script_of(command[1])) + ") on " + command[3];
  }
  const bool has_words = command[0] == "SCRIPT" || command[0] == "CONFIG";
  if (has_words && command.size() > 1) return command[0] + " " + command[1];
  // XREAD has its options before its key.
  auto key = std::ranges::find(command, "STREAMS");
  key = key == command.end() ? command.begin() + 1 : key + 1;
  return key < command.end() ? command[0] + " on " + *key : command[0];
}

RightsWatch::News RightsWatch::note(const RedisCommand& command, RedisReply& reply) {
  if (reply.how == How::error && is_missing_right(reply.why)) {
    const bool is_first = missing_.empty();
    std::string told = told_of(command);
    reply.why += " [" + told + "]";
    missing_.insert(std::move(told));
    return is_first ? News::missing : News::none;
  }
  if (missing_.empty() || reply.how != How::reply || !missing_.contains(told_of(command))) return News::none;
  missing_.clear();
  return News::back;
}

}  // namespace kron::cluster
