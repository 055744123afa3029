#include "bare_queue_scripts.h"

#include "ground.h"
#include "kron/queue/redis_caller.h"
#include "kron/queue/redis_queue.h"

namespace kron::bench {
namespace {

// As in RedisQueue.
constexpr std::size_t kTasksOfAScript = 64;
constexpr char kAgeing[] = "60";
constexpr std::size_t kFirstOfALease = 5;  // behind the time, what is next, and the number of odd ones
constexpr std::size_t kPartsOfALease = 8;

}  // namespace

BareQueueScripts::BareQueueScripts(Redis& redis) : redis_(redis) {
  for (const QueueScript& script : queue_scripts()) {
    digests_[std::string(script.name)] = redis_.ask({"SCRIPT", "LOAD", std::string(script.text)}).text;
  }
}

RedisCommand BareQueueScripts::script(const char* name) {
  const std::string request = "bare." + std::to_string(++requests_);
  return {"EVALSHA", digests_.at(name), "1", RedisQueueKeys(kBenchNamespace).prefix(), request, kAgeing};
}

void BareQueueScripts::submit(std::span<const NewTask> tasks) {
  std::vector<RedisCommand> commands;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (i % kTasksOfAScript == 0) commands.push_back(script("submit"));
    add_redis_task_arguments(commands.back(), tasks[i]);
  }
  for (const RedisReply& reply : redis_.pipeline(commands)) {
    require(reply.is_reply() && reply.value.items.size() > 3 && reply.value.items[2].text == "accepted");
  }
}

std::vector<BareQueueScripts::Leased> BareQueueScripts::commit_and_lease(std::span<const Leased> commits,
                                                                         std::size_t workers) {
  std::vector<RedisCommand> commands;
  for (std::size_t i = 0; i < commits.size(); ++i) {
    if (i % kTasksOfAScript == 0) commands.push_back(script("commit"));
    const Leased& leased = commits[i];
    for (const std::string& part :
         {leased.task_id, leased.token, leased.token, std::string("ok"), std::string("0"), std::string("0")}) {
      commands.back().push_back(part);
    }
  }
  if (workers > 0) {
    commands.push_back(script("lease"));
    RedisCommand& lease = commands.back();
    for (const char* part : {"8388608", "60", "1", kTaskType}) lease.emplace_back(part);
    for (std::size_t i = 0; i < workers; ++i) {
      for (const char* part : {"w", "1", "60", "1", ""}) lease.emplace_back(part);
    }
  }
  if (commands.empty()) return {};
  const auto replies = redis_.pipeline(commands);
  for (const RedisReply& reply : replies) require(reply.is_reply() && reply.value.items.size() >= 3);
  std::vector<Leased> leased;
  if (workers == 0) return leased;
  const std::vector<RedisValue>& items = replies.back().value.items;
  for (std::size_t at = kFirstOfALease; at + kPartsOfALease <= items.size(); at += kPartsOfALease) {
    leased.push_back({items[at + 1].text, items[at + 2].text});
  }
  return leased;
}

}  // namespace kron::bench
