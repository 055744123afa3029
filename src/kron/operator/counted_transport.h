#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/env/clock.h"
#include "kron/kube/transport.h"
#include "kron/metrics/operator_metrics.h"

namespace kron::kronjobs {

// What a request is about, in the words of Kubernetes: list and watch, not get; "kronjobs/status".
struct RequestKind {
  std::string_view verb;
  std::string resource;

  bool operator==(const RequestKind&) const = default;
};
RequestKind kind_of(const kube::Request& request);

// Counts what goes another way, and compares the server's clock with ours. On the loop's thread, as every Transport.
class CountedTransport : public kube::Transport {
 public:
  // All of them outlive it.
  CountedTransport(kube::Transport& way, const Clock& clock, metrics::OperatorMetrics& metrics)
      : way_(way), clock_(clock), metrics_(metrics) {}

  Id send(kube::Request request, kube::Lane lane, OnEnd on_end) override;
  Id open(kube::Request request, OnBytes on_bytes, OnEnd on_end) override;
  void cancel(Id id) override { way_.cancel(id); }

  // What the server's clock is ahead of ours, as it said last; answers tell whole seconds.
  [[nodiscard]] Nanoseconds clock_skew() const { return skew_; }

 private:
  OnEnd counted(const kube::Request& request, OnEnd on_end);
  void note_date(const kube::Outcome& outcome);

  kube::Transport& way_;
  const Clock& clock_;
  metrics::OperatorMetrics& metrics_;
  Nanoseconds skew_{0};
};

}  // namespace kron::kronjobs
