// Prints what a krond with some of everything would answer to a scrape, or with an argument, what kron-operator would.
#include <iostream>

#include "kron/metrics/job_metrics.h"
#include "kron/metrics/metrics.h"
#include "kron/metrics/operator_metrics.h"

namespace {

void print_operator() {
  using namespace kron;
  metrics::OperatorMetrics metrics("1.2.3", instant_of(1'772'409'600));
  metrics.period_ended("executed", "");
  metrics.job_started(std::chrono::milliseconds(3));
  metrics.reconciled();
  metrics.event_dropped();
  metrics.request_ended("create", "jobs", "201", std::chrono::milliseconds(4));
  metrics.clock_skew(std::chrono::milliseconds(250));
  metrics.show({.leader = true, .ready = true, .kron_jobs = 12, .jobs = 30, .kron_job_watches = 1});
  std::cout << metrics.text();
}

}  // namespace

int main(int count, char** /*arguments*/) {
  using namespace kron;
  if (count > 1) {
    print_operator();
    return 0;
  }
  metrics::Metrics metrics("1.2.3", instant_of(1'772'409'600));
  metrics.period_ended("skipped", "concurrency_forbid");
  metrics.run_started(std::chrono::milliseconds(3));
  metrics.run_ended(metrics::RunEnd::failed, Seconds(2));
  metrics.ledger_batch(12, std::chrono::milliseconds(4));
  metrics.reloaded(true);
  metrics.api_request("GET /api/v1/jobs/{name}", 200, std::chrono::milliseconds(1));
  std::cout << metrics.text({.ready = true,
                             .jobs = 12,
                             .running = 3,
                             .next_due = instant_of(1'772'409'660),
                             .tasks = {{"PENDING", "MAIL", 4}},
                             .tasks_ended = {{"FAILED", "MAIL", 1}},
                             .oldest_pending_task = Seconds(90),
                             .event_streams = 2,
                             .slots = {{"", 8, 3, 0}, {"db", 2, 2, 1}},
                             .cluster = metrics::ClusterLevels{.link_up = true,
                                                               .reconnects = 1,
                                                               .clock_offset = 0.25,
                                                               .answers = {{"done", 9}},
                                                               .host_runs = {{"web-1", 3}}}});
  metrics::JobMetrics jobs(2);
  jobs.follow({"db-backup", "odd \"name\"\\ of\ntwo lines"}, 5);
  jobs.saw("db-backup", {"succeeded", instant_of(1'772'409'600), Seconds(63)});
  jobs.saw("odd \"name\"\\ of\ntwo lines", {"failed", instant_of(1'772'409'601), Seconds(1)});
  std::cout << jobs.text();
}
