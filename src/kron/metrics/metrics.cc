#include "kron/metrics/metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <set>
#include <utility>

#include "kron/base/text.h"

namespace kron::metrics {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;

using Buckets = Histogram::BucketBoundaries;

const Buckets kLateness{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};
const Buckets kDuration{0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600};
constexpr double kMebibyte = 1 << 20;
const Buckets kMemory{4 * kMebibyte,    16 * kMebibyte,   64 * kMebibyte,        256 * kMebibyte,
                      1024 * kMebibyte, 4096 * kMebibyte, 16 * 1024 * kMebibyte, 64 * 1024 * kMebibyte};
const Buckets kBatch{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
const Buckets kWrite{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};
const Buckets kRequest{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60};

// In the order of RunEnd.
constexpr std::array<std::string_view, 4> kEnds{"succeeded", "failed", "timed_out", "unknown"};

double in_seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Family<Counter>& counters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Histogram& histogram(prometheus::Registry& registry, const char* name, const char* help, const Buckets& buckets) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, buckets);
}

prometheus::ClientMetric sample(double value, std::vector<prometheus::ClientMetric::Label> labels = {}) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  metric.label = std::move(labels);
  return metric;
}

MetricFamily level(const char* name, const char* help, double value) {
  return {name, help, MetricType::Gauge, {sample(value)}};
}

// Types are the users' own words: however many there are, the number of series has an end.
void count_tasks(MetricFamily& family, const char* label, const std::vector<TaskCount>& tasks) {
  std::set<std::string_view> types;
  for (const TaskCount& task : tasks) {
    if (types.size() < kMostTaskTypes) types.insert(task.type);
  }
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const TaskCount& task : tasks) {
    counts[{lower(task.state), types.contains(task.type) ? task.type : "other"}] += task.count;
  }
  for (const auto& [labels, count] : counts) {
    prometheus::ClientMetric& metric = family.metric.emplace_back(
        sample(static_cast<double>(count), {{label, labels.first}, {"type", labels.second}}));
    metric.counter.value = metric.gauge.value;  // the family's type says which one is read
  }
}

// The host's own have no label.
void append_slots(std::vector<MetricFamily>& families, const std::vector<SlotLevels>& slots) {
  if (slots.empty()) return;
  MetricFamily all{
      "kron_slots", "Runs that may go on at once, in a pool or, without one, on the host.", MetricType::Gauge, {}};
  MetricFamily used{"kron_slots_used", "Of these, how many are taken.", MetricType::Gauge, {}};
  MetricFamily waiting{"kron_slots_waiting", "Jobs that wait for one.", MetricType::Gauge, {}};
  for (const SlotLevels& of : slots) {
    std::vector<prometheus::ClientMetric::Label> labels;
    if (!of.pool.empty()) labels.push_back({"pool", of.pool});
    all.metric.push_back(sample(static_cast<double>(of.slots), labels));
    used.metric.push_back(sample(static_cast<double>(of.used), labels));
    waiting.metric.push_back(sample(static_cast<double>(of.waiting), labels));
  }
  families.insert(families.end(), {std::move(all), std::move(used), std::move(waiting)});
}

void append_levels(std::vector<MetricFamily>& families, const Levels& levels) {
  const auto time = [](const std::optional<Instant>& at) { return at ? static_cast<double>(epoch_seconds(*at)) : 0.0; };
  families.push_back(level("kron_ready", "Whether krond is ready: 1, or 0.", levels.ready ? 1 : 0));
  families.push_back(level("kron_jobs", "Jobs in force.", static_cast<double>(levels.jobs)));
  families.push_back(level("kron_runs_running", "Runs that go on.", static_cast<double>(levels.running)));
  families.push_back(level("kron_next_due_timestamp_seconds",
                           "When the next period is due, as Unix time; 0 when none is.", time(levels.next_due)));
  MetricFamily tasks{"kron_tasks", "Tasks that wait or run, by type.", MetricType::Gauge, {}};
  count_tasks(tasks, "state", levels.tasks);
  MetricFamily ended{"kron_tasks_ended_total", "Tasks that are over, by type.", MetricType::Counter, {}};
  count_tasks(ended, "result", levels.tasks_ended);
  families.insert(families.end(), {std::move(tasks), std::move(ended)});
  families.push_back(level("kron_oldest_pending_task_seconds",
                           "Age of the oldest task that is ready and waits; 0 when none does.",
                           static_cast<double>(levels.oldest_pending_task.value_or(Seconds(0)).count())));
  families.push_back(level("kron_tasks_shared",
                           "Whether the tasks are in Redis, and so the same on every host of the cluster: 1, or 0.",
                           levels.has_shared_tasks ? 1 : 0));
  families.push_back(
      level("kron_event_streams", "Readers of the event stream.", static_cast<double>(levels.event_streams)));
  append_slots(families, levels.slots);
}

MetricFamily counted(const char* name, const char* help, const char* label,
                     const std::vector<std::pair<std::string, std::uint64_t>>& counts, MetricType type) {
  MetricFamily family{name, help, type, {}};
  for (const auto& [word, count] : counts) {
    std::vector<prometheus::ClientMetric::Label> labels;
    if (!word.empty()) labels.push_back({label, word});
    prometheus::ClientMetric& metric = family.metric.emplace_back(sample(static_cast<double>(count), labels));
    metric.counter.value = metric.gauge.value;
  }
  return family;
}

void append_cluster(std::vector<MetricFamily>& families, const ClusterLevels& levels) {
  families.push_back(level("kron_cluster_link_up", "Whether Redis answers: 1, or 0.", levels.link_up ? 1 : 0));
  families.push_back(counted("kron_cluster_reconnects_total", "Connections to Redis that were made anew.", "",
                             {{"", levels.reconnects}}, MetricType::Counter));
  families.push_back(counted("kron_cluster_lost_writes_total", "Times that Redis had forgotten writes.", "",
                             {{"", levels.lost_writes}}, MetricType::Counter));
  families.push_back(
      level("kron_cluster_clock_offset_seconds", "What Redis's clock is ahead of the machine's.", levels.clock_offset));
  families.push_back(counted("kron_cluster_answers_total", "Answers of Redis to steps of jobs, by their words.",
                             "answer", levels.answers, MetricType::Counter));
  families.push_back(counted("kron_cluster_host_runs", "Runs that go on, by the hosts of the cluster.", "host",
                             levels.host_runs, MetricType::Gauge));
}

}  // namespace

struct Metrics::Instruments {
  prometheus::Registry registry;
  Family<Counter>& periods =
      counters(registry, "kron_periods_total", "Periods that came to their end, by outcome and reason.");
  Family<Counter>& runs = counters(registry, "kron_runs_total", "Runs that ended, by result.");
  Family<Counter>& processor = counters(registry, "kron_runs_cpu_seconds_total",
                                        "CPU time of runs that ended, in programs (user) and in the kernel (system).");
  Family<Counter>& disks =
      counters(registry, "kron_runs_io_bytes_total", "Bytes that runs which ended read from disks and wrote to them.");
  Counter& retries = counters(registry, "kron_run_retries_total",
                              "Times that a command which failed was executed again within its run.")
                         .Add({});
  Counter& pauses =
      counters(registry, "kron_pauses_by_failures_total", "Times that failures in a row paused a job.").Add({});
  Family<Counter>& reloads = counters(registry, "kron_reloads_total", "Reloads of the job files, by result.");
  Family<Counter>& pings =
      counters(registry, "kron_pings_total", "Pings to the checks of jobs, by what became of them.");
  Family<Counter>& requests = counters(registry, "kron_http_requests_total", "Requests answered, by route and status.");
  Histogram& lateness =
      histogram(registry, "kron_run_lateness_seconds", "How long after its chosen time a run was let go.", kLateness);
  Histogram& duration = histogram(registry, "kron_run_duration_seconds", "How long runs took.", kDuration);
  Histogram& memory = histogram(registry, "kron_run_memory_bytes", "How much memory runs had at one time.", kMemory);
  Histogram& batch_size =
      histogram(registry, "kron_ledger_batch_size", "Records that were made durable together.", kBatch);
  Histogram& batch_write =
      histogram(registry, "kron_ledger_write_seconds", "How long it took to make a batch durable.", kWrite);
  Histogram& request = histogram(registry, "kron_http_request_seconds", "How long requests took.", kRequest);
};

std::string_view name_of(RunEnd end) { return kEnds.at(static_cast<std::size_t>(end)); }

Metrics::Metrics(std::string_view version, Instant started) : instruments_(std::make_unique<Instruments>()) {
  prometheus::Registry& registry = instruments_->registry;
  prometheus::BuildGauge()
      .Name("kron_build_info")
      .Help("Always 1; the version is in the label.")
      .Register(registry)
      .Add({{"version", std::string(version)}})
      .Set(1);
  prometheus::BuildGauge()
      .Name("process_start_time_seconds")
      .Help("When krond started, as Unix time.")
      .Register(registry)
      .Add({})
      .Set(static_cast<double>(epoch_seconds(started)));
  // A counter that begins at 0 shows its first step; one that appears with it does not.
  for (const char* outcome : {"executed", "skipped", "missed", "unschedulable"}) {
    instruments_->periods.Add({{"outcome", outcome}, {"reason", ""}});
  }
  instruments_->periods.Add({{"outcome", "missed"}, {"reason", "deadline"}});
  for (const std::string_view end : kEnds) instruments_->runs.Add({{"result", std::string(end)}});
  for (const char* mode : {"user", "system"}) instruments_->processor.Add({{"mode", mode}});
  for (const char* direction : {"read", "written"}) instruments_->disks.Add({{"direction", direction}});
  for (const char* result : {"succeeded", "failed"}) instruments_->reloads.Add({{"result", result}});
  for (const char* result : {"sent", "failed", "no_room"}) instruments_->pings.Add({{"result", result}});
}

Metrics::~Metrics() = default;

void Metrics::period_ended(std::string_view outcome, std::string_view reason) {
  instruments_->periods.Add({{"outcome", std::string(outcome)}, {"reason", std::string(reason)}}).Increment();
}

void Metrics::run_started(Nanoseconds lateness) { instruments_->lateness.Observe(std::max(0.0, in_seconds(lateness))); }

void Metrics::run_ended(RunEnd end, std::optional<Nanoseconds> duration) {
  instruments_->runs.Add({{"result", std::string(name_of(end))}}).Increment();
  if (duration) instruments_->duration.Observe(std::max(0.0, in_seconds(*duration)));
}

void Metrics::run_used(const RunUsage& used) {
  instruments_->processor.Add({{"mode", "user"}}).Increment(std::max(0.0, in_seconds(used.user)));
  instruments_->processor.Add({{"mode", "system"}}).Increment(std::max(0.0, in_seconds(used.system)));
  instruments_->memory.Observe(static_cast<double>(used.memory));
  instruments_->disks.Add({{"direction", "read"}}).Increment(static_cast<double>(used.read));
  instruments_->disks.Add({{"direction", "written"}}).Increment(static_cast<double>(used.written));
}

void Metrics::run_tried_again(std::uint32_t times) { instruments_->retries.Increment(times); }

void Metrics::job_paused_by_failures() { instruments_->pauses.Increment(); }

void Metrics::ledger_batch(std::size_t records, Nanoseconds write) {
  instruments_->batch_size.Observe(static_cast<double>(records));
  instruments_->batch_write.Observe(in_seconds(write));
}

void Metrics::reloaded(bool ok) { instruments_->reloads.Add({{"result", ok ? "succeeded" : "failed"}}).Increment(); }

void Metrics::pinged(std::string_view result) {
  instruments_->pings.Add({{"result", std::string(result)}}).Increment();
}

void Metrics::api_request(std::string_view route, int status, Nanoseconds took) {
  instruments_->requests.Add({{"route", std::string(route)}, {"status", std::to_string(status)}}).Increment();
  instruments_->request.Observe(in_seconds(took));
}

std::string Metrics::text(const Levels& levels) const {
  std::vector<MetricFamily> families = instruments_->registry.Collect();
  append_levels(families, levels);
  if (levels.cluster) append_cluster(families, *levels.cluster);
  std::ranges::sort(families, {}, &MetricFamily::name);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace kron::metrics
