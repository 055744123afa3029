#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kron/base/instant.h"

namespace kron::metrics {

// What is so at this moment.
struct OperatorLevels {
  bool leader = false;
  bool ready = false;
  bool ungated = false;  // the server does not know spec.suspend of Jobs
  std::size_t kron_jobs = 0;
  std::size_t jobs = 0;
  std::size_t queue = 0;               // KronJobs that wait to be looked at, and calls that wait for their turn
  std::size_t under_way = 0;           // calls
  std::uint64_t kron_job_watches = 0;  // that were begun anew since the start …
  std::uint64_t job_watches = 0;       // … likewise
};

// What kron-operator has done since it started, for Prometheus. Every method may be called from any thread.
class OperatorMetrics {
 public:
  OperatorMetrics(std::string_view version, Instant started);
  ~OperatorMetrics();
  OperatorMetrics(const OperatorMetrics&) = delete;
  OperatorMetrics& operator=(const OperatorMetrics&) = delete;

  // In the words of core/state.h.
  void period_ended(std::string_view outcome, std::string_view reason);
  void job_started(Nanoseconds lateness);  // behind its chosen time
  void reconciled();
  void event_dropped();
  // `code`: of the answer, or "unknown" or "not_sent".
  void request_ended(std::string_view verb, std::string_view resource, std::string_view code, Nanoseconds took);
  void clock_skew(Nanoseconds ahead);  // of the server's clock
  void show(const OperatorLevels& levels);

  // The text exposition format 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  struct Instruments;
  std::unique_ptr<Instruments> instruments_;
};

}  // namespace kron::metrics
