#pragma once

#include <csignal>
#include <memory>
#include <string>

#include "kron/base/result.h"
#include "kron/core/time_zone.h"
#include "kron/env/clock.h"
#include "kron/env/event_loop.h"
#include "kron/env/mailbox.h"
#include "kron/kube/curl_transport.h"
#include "kron/log/line_log.h"
#include "kron/operator/controller.h"
#include "kron/operator/counted_transport.h"
#include "kron/operator/health.h"
#include "kron/operator/options.h"

namespace kron::kronjobs {

// kron-operator: the controller on this machine's clock, signals and network.
class Service {
 public:
  // Serves health from here on, and has asked the API server nothing. Clock and log outlive it.
  static Result<std::unique_ptr<Service>> open(const Options& options, kube::Connection connection, const Clock& clock,
                                               LineLog& log);

  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() = default;

  // Until a signal has ended it and the lease is given back. Unreachable: the lease was lost, and another may work: a
  // fresh process is to be started.
  Status run();

  [[nodiscard]] std::uint16_t health_port() const { return health_.port(); }

 private:
  Service(const Clock& clock, LineLog& log);
  Status open_parts(const Options& options, kube::Connection connection);
  void take_signal(int signal);
  Status sleep(const Controller::Wakeup& wakeup);
  void give_memory_back();
  void warn_of_clock();

  const Clock& clock_;
  LineLog& log_;
  ZoneDatabase zones_;
  std::unique_ptr<EventLoop> loop_;
  Mailbox mailbox_;
  metrics::OperatorMetrics metrics_;
  Health health_;
  std::unique_ptr<kube::CurlTransport> transport_;
  std::unique_ptr<CountedTransport> counted_;
  std::unique_ptr<Controller> controller_;
  bool is_stopping_ = false;
  bool leaves_now_ = false;
  bool has_warned_of_clock_ = false;
  bool has_listed_ = false;
};

}  // namespace kron::kronjobs
