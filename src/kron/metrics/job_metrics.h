#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"

namespace kron::metrics {

// How many jobs have series of their own unless --metrics-jobs says otherwise: three series each.
inline constexpr std::size_t kUsualJobSeries = 1000;

// How a run of a job ended, or a period without one.
struct JobEnd {
  // succeeded, failed, timed_out or unknown of a run; skipped, missed or unschedulable of a period.
  std::string outcome;
  Instant at = {};
  std::optional<Seconds> duration = {};  // of a run whose start and end are known
};

// The last success, outcome and duration of each of so many jobs, for Prometheus. The names that are followed are those
// of the last follow(): the first in order, so that it is always the same ones however they were read. Every method may
// be called from any thread.
class JobMetrics {
 public:
  explicit JobMetrics(std::size_t most) : most_(most) {}

  [[nodiscard]] std::size_t most() const { return most_; }

  // These and no others from now on, at most most(); `all` is how many jobs there are. Returns those of which nothing
  // is known yet: known() is to be called with what the history has of them.
  std::vector<std::string> follow(std::vector<std::string> names, std::size_t all);
  // What the history tells; what ended meanwhile and was seen holds.
  void known(const std::string& job, const std::optional<JobEnd>& last, const std::optional<JobEnd>& success);
  // What ends now. Nothing for a job that is not followed.
  void saw(const std::string& job, const JobEnd& end);

  // In the text exposition format 0.0.4. Empty without series.
  [[nodiscard]] std::string text() const;

 private:
  struct Known {
    bool is_told = false;  // by the history
    std::optional<JobEnd> last = {};
    std::optional<Instant> success = {};
    std::optional<Seconds> duration = {};  // of the last run of which it is known
  };

  std::size_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, Known, std::less<>> jobs_;
  std::size_t without_ = 0;  // jobs that have no series
};

// The first `most` names in order, of as many as come.
class FirstNames {
 public:
  explicit FirstNames(std::size_t most) : most_(most) {}
  void add(std::string_view name);
  [[nodiscard]] std::size_t count() const { return count_; }  // of all that came
  std::vector<std::string> take() { return std::move(heap_); }

 private:
  std::size_t most_;
  std::size_t count_ = 0;
  std::vector<std::string> heap_;  // the last in order is in front
};

}  // namespace kron::metrics
