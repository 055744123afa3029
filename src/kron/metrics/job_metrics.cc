#include "kron/metrics/job_metrics.h"

#include <algorithm>
#include <utility>

namespace kron::metrics {
namespace {

// A label's value: a backslash, a quote and a line feed would end it.
void append_escaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
}

void append_head(std::string& text, std::string_view name, std::string_view help) {
  text.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" gauge\n");
}

void append_sample(std::string& text, std::string_view name, std::string_view job, std::string_view outcome,
                   std::int64_t value) {
  text.append(name).append("{name=\"");
  append_escaped(text, job);
  if (!outcome.empty()) text.append("\",outcome=\"").append(outcome);
  text.append("\"} ").append(std::to_string(value)).append("\n");
}

constexpr std::string_view kLastSuccess = "kron_job_last_success_timestamp_seconds";
constexpr std::string_view kLastOutcome = "kron_job_last_outcome";
constexpr std::string_view kLastDuration = "kron_job_last_duration_seconds";
constexpr std::string_view kWithout = "kron_jobs_without_metrics";
constexpr std::size_t kUsualLine = 96;

}  // namespace

std::vector<std::string> JobMetrics::follow(std::vector<std::string> names, std::size_t all) {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, Known, std::less<>> followed;
  std::vector<std::string> unknown;
  for (std::string& name : names) {
    auto node = jobs_.extract(name);
    if (node.empty() || !node.mapped().is_told) unknown.push_back(name);
    if (node.empty()) {
      followed.try_emplace(std::move(name));
    } else {
      followed.insert(std::move(node));
    }
  }
  jobs_ = std::move(followed);
  without_ = all - std::min(all, jobs_.size());
  return unknown;
}

void JobMetrics::known(const std::string& job, const std::optional<JobEnd>& last,
                       const std::optional<JobEnd>& success) {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  Known& known = found->second;
  known.is_told = true;
  if (last && (!known.last || known.last->at < last->at)) {
    known.last = last;
    if (last->duration) known.duration = last->duration;
  }
  if (success) known.success = std::max(success->at, known.success.value_or(success->at));
}

void JobMetrics::saw(const std::string& job, const JobEnd& end) {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  Known& known = found->second;
  // What a host of a cluster tells of may come late.
  if (known.last && end.at < known.last->at) return;
  known.last = end;
  if (end.duration) known.duration = end.duration;
  if (end.outcome == "succeeded") known.success = end.at;
}

std::string JobMetrics::text() const {
  if (most_ == 0) return {};
  const std::scoped_lock lock(mutex_);
  std::string text;
  text.reserve(jobs_.size() * 3 * kUsualLine + 1000);
  append_head(text, kLastSuccess, "When the last run of the job that succeeded ended, as Unix time.");
  for (const auto& [name, known] : jobs_) {
    if (known.success) append_sample(text, kLastSuccess, name, "", epoch_seconds(*known.success));
  }
  append_head(text, kLastOutcome, "How the job's last run or period ended: 1 for that outcome.");
  for (const auto& [name, known] : jobs_) {
    if (known.last) append_sample(text, kLastOutcome, name, known.last->outcome, 1);
  }
  append_head(text, kLastDuration, "How long the job's last run took.");
  for (const auto& [name, known] : jobs_) {
    if (known.duration) append_sample(text, kLastDuration, name, "", known.duration->count());
  }
  append_head(text, kWithout, "Jobs beyond --metrics-jobs, in the order of their names, which have no series.");
  text.append(kWithout).append(" ").append(std::to_string(without_)).append("\n");
  return text;
}

void FirstNames::add(std::string_view name) {
  ++count_;
  if (heap_.size() < most_) {
    heap_.emplace_back(name);
    std::ranges::push_heap(heap_);
    return;
  }
  if (most_ == 0 || heap_.front() <= name) return;
  std::ranges::pop_heap(heap_);
  heap_.back() = name;
  std::ranges::push_heap(heap_);
}

}  // namespace kron::metrics
