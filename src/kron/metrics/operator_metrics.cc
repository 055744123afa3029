#include "kron/metrics/operator_metrics.h"

#include <algorithm>
#include <mutex>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace kron::metrics {
namespace {

using OperatorBuckets = prometheus::Histogram::BucketBoundaries;

const OperatorBuckets kStartLateness{0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 15, 30, 60, 300};
const OperatorBuckets kCallTime{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30};

double as_seconds(Nanoseconds time) { return std::max(0.0, std::chrono::duration<double>(time).count()); }

prometheus::Family<prometheus::Counter>& counter_family(prometheus::Registry& registry, const char* name,
                                                        const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Gauge& gauge_of(prometheus::Registry& registry, const char* name, const char* help,
                            const prometheus::Labels& labels = {}) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Histogram& histogram_of(prometheus::Registry& registry, const char* name, const char* help,
                                    const OperatorBuckets& buckets) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, buckets);
}

// Counted elsewhere, from 0.
void raise_to(prometheus::Counter& counter, std::uint64_t count) {
  const double more = static_cast<double>(count) - counter.Value();
  if (more > 0) counter.Increment(more);
}

}  // namespace

struct OperatorMetrics::Instruments {
  // Looked up by one text: labels are a map of texts, dear to make for every request.
  prometheus::Counter& requests_of(std::string_view verb, std::string_view resource, std::string_view code) {
    std::string key(verb);
    (((key += ' ') += resource) += ' ') += code;
    const std::scoped_lock lock(mutex);
    prometheus::Counter*& found = known_requests[key];
    if (found == nullptr) {
      found = &requests.Add(
          {{"verb", std::string(verb)}, {"resource", std::string(resource)}, {"code", std::string(code)}});
    }
    return *found;
  }

  std::mutex mutex;
  std::unordered_map<std::string, prometheus::Counter*> known_requests;
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& periods =
      counter_family(registry, "kron_periods_total", "Periods that came to their end, by outcome and reason.");
  prometheus::Family<prometheus::Counter>& requests = counter_family(
      registry, "kron_api_requests_total", "Requests to the API server, by verb, resource and code of the answer.");
  prometheus::Family<prometheus::Counter>& restarts =
      counter_family(registry, "kron_watch_restarts_total", "Watches and lists that were begun anew, by resource.");
  prometheus::Histogram& lateness = histogram_of(registry, "kron_start_lateness_seconds",
                                                 "How long after its chosen time a Job was opened.", kStartLateness);
  prometheus::Histogram& request = histogram_of(
      registry, "kron_api_request_seconds", "How long requests to the API server took, watches left out.", kCallTime);
  prometheus::Counter& reconciles = counter_family(registry, "kron_reconciles_total", "Looks at a KronJob.").Add({});
  prometheus::Counter& dropped_events = counter_family(registry, "kron_events_dropped_total",
                                                       "Events that were not sent, because they would have been late.")
                                            .Add({});
  prometheus::Counter& kron_job_restarts = restarts.Add({{"resource", "kronjobs"}});
  prometheus::Counter& job_restarts = restarts.Add({{"resource", "jobs"}});
  prometheus::Family<prometheus::Gauge>& objects = prometheus::BuildGauge()
                                                       .Name("kron_objects_cached")
                                                       .Help("Objects that are known, by resource.")
                                                       .Register(registry);
  prometheus::Gauge& kron_jobs = objects.Add({{"resource", "kronjobs"}});
  prometheus::Gauge& jobs = objects.Add({{"resource", "jobs"}});
  prometheus::Gauge& queue = gauge_of(registry, "kron_queue_depth", "KronJobs and calls that wait for their turn.");
  prometheus::Gauge& under_way =
      gauge_of(registry, "kron_api_requests_under_way", "Requests about KronJobs under way.");
  prometheus::Gauge& leader = gauge_of(registry, "kron_leader", "Whether this operator works: 1, or 0.");
  prometheus::Gauge& ready = gauge_of(registry, "kron_ready", "Whether this operator is ready: 1, or 0.");
  prometheus::Gauge& ungated =
      gauge_of(registry, "kron_ungated",
               "Whether the API server does not know spec.suspend of Jobs, so that names alone lock: 1, or 0.");
  prometheus::Gauge& clock_skew =
      gauge_of(registry, "kron_clock_skew_seconds", "What the API server's clock is ahead of this machine's.");
};

OperatorMetrics::OperatorMetrics(std::string_view version, Instant started)
    : instruments_(std::make_unique<Instruments>()) {
  prometheus::Registry& registry = instruments_->registry;
  gauge_of(registry, "kron_build_info", "Always 1; the version is in the label.", {{"version", std::string(version)}})
      .Set(1);
  gauge_of(registry, "process_start_time_seconds", "When the operator started, as Unix time.")
      .Set(static_cast<double>(epoch_seconds(started)));
  // A counter that begins at 0 shows its first step; one that appears with it does not.
  for (const char* outcome : {"executed", "skipped", "missed", "unschedulable"}) {
    instruments_->periods.Add({{"outcome", outcome}, {"reason", ""}});
  }
  instruments_->periods.Add({{"outcome", "missed"}, {"reason", "deadline"}});
}

OperatorMetrics::~OperatorMetrics() = default;

void OperatorMetrics::period_ended(std::string_view outcome, std::string_view reason) {
  instruments_->periods.Add({{"outcome", std::string(outcome)}, {"reason", std::string(reason)}}).Increment();
}

void OperatorMetrics::job_started(Nanoseconds lateness) { instruments_->lateness.Observe(as_seconds(lateness)); }

void OperatorMetrics::reconciled() { instruments_->reconciles.Increment(); }

void OperatorMetrics::event_dropped() { instruments_->dropped_events.Increment(); }

void OperatorMetrics::request_ended(std::string_view verb, std::string_view resource, std::string_view code,
                                    Nanoseconds took) {
  instruments_->requests_of(verb, resource, code).Increment();
  if (verb != "watch") instruments_->request.Observe(as_seconds(took));
}

void OperatorMetrics::clock_skew(Nanoseconds ahead) {
  instruments_->clock_skew.Set(std::chrono::duration<double>(ahead).count());
}

void OperatorMetrics::show(const OperatorLevels& levels) {
  Instruments& to = *instruments_;
  to.leader.Set(levels.leader ? 1 : 0);
  to.ready.Set(levels.ready ? 1 : 0);
  to.ungated.Set(levels.ungated ? 1 : 0);
  to.kron_jobs.Set(static_cast<double>(levels.kron_jobs));
  to.jobs.Set(static_cast<double>(levels.jobs));
  to.queue.Set(static_cast<double>(levels.queue));
  to.under_way.Set(static_cast<double>(levels.under_way));
  raise_to(to.kron_job_restarts, levels.kron_job_watches);
  raise_to(to.job_restarts, levels.job_watches);
}

std::string OperatorMetrics::text() const {
  std::vector<prometheus::MetricFamily> families = instruments_->registry.Collect();
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace kron::metrics
