#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../cluster/servers.h"
#include "kron/queue/task.h"

namespace kron::bench {

// The scripts of the queue in Redis, called by nothing but a connection: what Redis can do with them. As many tasks in
// one call of a script, and as many calls in one pipeline, as the queue itself would make of the same requests.
class BareQueueScripts {
 public:
  explicit BareQueueScripts(Redis& redis);

  struct Leased {
    std::string task_id;
    std::string token;
  };

  void submit(std::span<const NewTask> tasks);
  // One trip: the commits, and then leases for so many workers of one task each.
  std::vector<Leased> commit_and_lease(std::span<const Leased> commits, std::size_t workers);

 private:
  RedisCommand script(const char* name);

  Redis& redis_;
  std::map<std::string, std::string> digests_;  // by name
  std::uint64_t requests_ = 0;
};

// The namespace of all that is measured.
inline constexpr char kBenchNamespace[] = "{bench}";

}  // namespace kron::bench
