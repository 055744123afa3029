#include <algorithm>
#include <cstdio>
#include <map>
#include <unistd.h>

#include "answer_text.h"
#include "cluster_verbs.h"
#include "kron/json/writer.h"
#include "kron/log/line_log.h"
#include "lines.h"
#include "task_redis_queue.h"

namespace kron::cli {
namespace {

constexpr std::string_view kVerbLimit = "cluster limit";

struct ShownLimit {
  std::string type;
  std::optional<int> most;  // none: it has no limit
  std::size_t running = 0;
};

Result<std::vector<ShownLimit>> limits_of(RedisQueue& queue, const std::string& only) {
  const auto limits = queue.limits();
  if (!limits) return fail(limits.error());
  const auto summary = queue.summary();
  if (!summary) return fail(summary.error());
  std::map<std::string, std::size_t> running;
  for (const TaskSummary::OfType& of : summary->types) {
    if (of.state == TaskState::running) running[of.type] += of.count;
  }
  std::vector<ShownLimit> shown;
  for (const auto& [type, most] : *limits) {
    if (only.empty() || only == type) shown.push_back({type, most, running[type]});
  }
  if (!only.empty() && shown.empty()) shown.push_back({only, std::nullopt, running[only]});
  return shown;
}

void print_limits(const std::vector<ShownLimit>& limits, bool json) {
  std::size_t width = 0;
  for (const ShownLimit& limit : limits) width = std::max(width, limit.type.size());
  for (const ShownLimit& limit : limits) {
    if (json) {
      JsonWriter out;
      out.begin_map().member("type", limit.type).key("limit");
      limit.most ? out.integer(*limit.most) : out.null();
      out.key("running").integer(static_cast<std::int64_t>(limit.running)).end_map();
      std::printf("%s\n", out.take().c_str());
      continue;
    }
    const std::string most = limit.most ? "at most " + std::to_string(*limit.most) : "no limit";
    std::printf("%-*s  %s, %zu running\n", static_cast<int>(width), harmless(limit.type).c_str(), most.c_str(),
                limit.running);
  }
}

}  // namespace

int cluster_limit(const ClusterLimitOptions& options) {
  if (!options.type.empty()) {
    if (const Status good = check_task_type(options.type); !good) return refuse(kVerbLimit, good.error(), options.json);
  }
  const RealClock clock;
  LineLog log(STDERR_FILENO, clock, LogFormat::text, LogLevel::warning);
  auto queue = open_redis_queue(options, clock, log);
  if (!queue) return refuse(kVerbLimit, queue.error(), options.json);
  if (options.most || options.remove) {
    if (const Status set = (*queue)->set_limit(options.type, options.most); !set) {
      return refuse(kVerbLimit, set.error(), options.json);
    }
  }
  const auto limits = limits_of(**queue, options.type);
  if (!limits) return refuse(kVerbLimit, limits.error(), options.json);
  print_limits(*limits, options.json);
  if (limits->empty() && !options.json) std::printf("no type of tasks has a limit\n");
  return 0;
}

}  // namespace kron::cli
