#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "kron/base/result.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/http/message.h"
#include "kron/http/server.h"
#include "kron/metrics/operator_metrics.h"

namespace kron::kronjobs {

// What probes and Prometheus ask: /healthz, /readyz and /metrics, for whoever can reach the port. Answered on a thread
// of the server's own, which reads the metrics and two numbers, and so answers also when the loop does not.
class Health {
 public:
  // A loop that has not turned for so long hangs: the kubelet shall start another process.
  static constexpr Seconds kLongestTurn{30};

  // All of them outlive it.
  Health(const Clock& clock, const metrics::OperatorMetrics& metrics) : clock_(clock), metrics_(metrics) {}
  ~Health() = default;
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  // Serves when it returns. `address`: a numeric host and a port; see http::TcpListener.
  Status listen(const std::string& address, Log& log);
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // On the loop's thread, in every turn.
  void turned(bool is_ready);

  // From any thread.
  [[nodiscard]] http::Response answer(const http::Request& request) const;

 private:
  const Clock& clock_;
  const metrics::OperatorMetrics& metrics_;
  std::atomic<std::int64_t> turned_at_{0};  // of the monotonic clock; 0: never
  std::atomic<bool> is_ready_ = false;
  std::uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;  // last: its thread uses the above
};

}  // namespace kron::kronjobs
