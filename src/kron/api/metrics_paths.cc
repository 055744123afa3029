#include <algorithm>
#include <memory>
#include <utility>

#include "kron/api/job_end.h"
#include "kron/api/paths.h"

namespace kron::api {
namespace {

// A name is a comparison or two, so a turn has time for more of them than of whole jobs.
constexpr std::size_t kNamesAtOnce = 2000;
// So many jobs are asked for together, so that the history answers others in between.
constexpr std::size_t kJobsAskedAtOnce = 100;

metrics::ClusterLevels cluster_levels_of(const ClusterStatus& cluster) {
  metrics::ClusterLevels levels{.link_up = cluster.link_up,
                                .reconnects = cluster.reconnects,
                                .lost_writes = cluster.lost_writes,
                                .clock_offset = cluster.clock_offset,
                                .answers = cluster.answers};
  for (const ClusterStatus::Host& host : cluster.hosts) levels.host_runs.emplace_back(host.instance, host.runs);
  return levels;
}

metrics::Levels levels_of(const DaemonStatus& status, const Result<TaskSummary>& tasks, std::size_t streams) {
  metrics::Levels levels{.ready = why_not_ready(status).empty(),
                         .jobs = status.jobs,
                         .running = status.running,
                         .next_due = status.next_due,
                         .event_streams = streams};
  for (const auto& [use, longest] : status.slots) {
    levels.slots.push_back({use.pool, use.slots, use.used, use.waiting});
  }
  if (status.cluster) {
    levels.cluster = cluster_levels_of(*status.cluster);
    levels.has_shared_tasks = !status.cluster->tasks_in_files;
  }
  if (!tasks) return levels;
  for (const TaskSummary::OfType& of : tasks->types) {
    levels.tasks.push_back({std::string(name_of(of.state)), of.type, of.count});
  }
  for (const TaskSummary::OfType& of : tasks->ended) {
    levels.tasks_ended.push_back({std::string(name_of(of.state)), of.type, of.count});
  }
  for (const TaskSummary::OfType& of : tasks->cancelled) {
    levels.tasks_ended.push_back({"cancelled", of.type, of.count});
  }
  levels.oldest_pending_task = tasks->oldest_pending;
  return levels;
}

// One scrape on its way.
struct Scrape {
  CallPtr call;
  metrics::FirstNames names;
  metrics::Levels levels = {};
  std::vector<std::string> unknown = {};  // jobs of which the history is still to be asked
  std::size_t at = 0;                     // the job to go on with, or the name in `unknown`
};
using ScrapePtr = std::shared_ptr<Scrape>;

void send_scrape(Parts& parts, const ScrapePtr& scrape) {
  std::string text = parts.metrics.text(scrape->levels);
  if (parts.job_metrics != nullptr) text += parts.job_metrics->text();
  scrape->call->send({.content_type = std::string(metrics::kContentType), .body = std::move(text)});
}

// What ended before krond started is in the history alone. One that cannot be asked is asked again by the next scrape.
void ask_history(Parts& parts, const ScrapePtr& scrape) {
  if (scrape->at == scrape->unknown.size()) return send_scrape(parts, scrape);
  const auto first = scrape->unknown.begin() + static_cast<std::ptrdiff_t>(scrape->at);
  const std::size_t count = std::min(kJobsAskedAtOnce, scrape->unknown.size() - scrape->at);
  std::vector<std::string> jobs(first, first + static_cast<std::ptrdiff_t>(count));
  scrape->at += count;
  parts.history.ends_of(jobs, [&parts, scrape, jobs](const Result<std::map<std::string, history::Ends>>& ends) {
    if (!ends) return send_scrape(parts, scrape);
    for (const std::string& job : jobs) {
      const auto found = ends->find(job);
      const history::Ends none;
      const history::Ends& of = found == ends->end() ? none : found->second;
      parts.job_metrics->known(job, of.last ? job_end_of(*of.last) : std::nullopt,
                               of.success ? job_end_of(*of.success) : std::nullopt);
    }
    ask_history(parts, scrape);
  });
}

void ask_tasks(Parts& parts, const ScrapePtr& scrape) {
  parts.tasks.summary([&parts, scrape, status = parts.status()](const Result<TaskSummary>& tasks) {
    scrape->levels = levels_of(status, tasks, parts.events.streams());
    ask_history(parts, scrape);
  });
}

void gather_names(Parts& parts, const ScrapePtr& scrape) {
  parts.on_loop([&parts, scrape] {
    Scheduler::Stretch stretch{.first = scrape->at, .most_looks = kNamesAtOnce};
    stretch.has_name = [&names = scrape->names](std::string_view name) {
      names.add(name);
      return false;  // its name is all that is wanted of it
    };
    const auto next = parts.scheduler.views(stretch).next;
    if (next) {
      scrape->at = *next;
      return gather_names(parts, scrape);
    }
    const std::size_t all = scrape->names.count();
    scrape->unknown = parts.job_metrics->follow(scrape->names.take(), all);
    scrape->at = 0;
    ask_tasks(parts, scrape);
  });
}

void scrape(Parts& parts, const CallPtr& call) {
  const std::size_t most = parts.job_metrics == nullptr ? 0 : parts.job_metrics->most();
  const auto one = std::make_shared<Scrape>(Scrape{.call = call, .names = metrics::FirstNames(most)});
  if (most > 0) return gather_names(parts, one);
  parts.on_loop([&parts, one] { ask_tasks(parts, one); });
}

}  // namespace

std::vector<Route> metrics_routes(Parts& parts) { return {{"GET", "/metrics", Right::read, with(parts, scrape)}}; }

}  // namespace kron::api
