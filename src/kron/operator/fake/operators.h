#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/kube/fake/api_server.h"
#include "kron/kube/fake/model_transport.h"
#include "kron/operator/controller.h"
#include "kron/operator/counted_transport.h"
#include "kron/operator/fake/samples.h"

namespace kron::testing {

// One operator: a controller with a way of its own to the server.
struct Operator {
  Operator(kube::ApiServer& server, const Clock& clock, kronjobs::Controller::Options options);

  void tick() { wakeup = controller.tick(); }

  CapturingLog log;
  metrics::OperatorMetrics metrics;
  ModelTransport way;
  kronjobs::CountedTransport counted;
  kronjobs::Controller controller;
  kronjobs::Controller::Wakeup wakeup;
  bool is_frozen = false;  // SIGSTOP: nothing of it happens
};

// A cluster with operators in it, in one process, on virtual time: nothing sleeps, and an hour without work takes no
// time at all.
class Operators {
 public:
  using State = kronjobs::Controller::State;

  Operators() { server.now = kron::now(clock); }

  // `elects` false: it works without asking anybody, as one that still believes in its lease.
  Operator& start(const std::string& name, bool elects = true);
  Operator& start(const std::string& name, kronjobs::Controller::Options options);
  // As by kill -9.
  void kill(const std::string& name) { members_.erase(name); }
  Operator& operator[](const std::string& name) { return *members_.at(name); }

  void run_until(WallTime end);
  void run(Nanoseconds time) { run_until(clock.wall() + time); }
  // Of 2026-03-01.
  void run_to(const std::string& time) { run_until(at("2026-03-01T" + time + "Z")); }

  // Called after each thing that happened.
  std::function<void()> after_each = {};

  void create(const KronJobText& text) { server.create("kronjobs", text.object()); }
  [[nodiscard]] kronjobs::KronJobView kron_job(const std::string& name = std::string(kName)) const;
  // "12:01 executed", the last ones of one KronJob.
  [[nodiscard]] std::vector<std::string> recent(const std::string& name = std::string(kName)) const;
  // How often each period of each KronJob has started; each must be 1.
  [[nodiscard]] std::map<std::string, int> starts() const;
  [[nodiscard]] int most_starts_of_a_period() const;
  // Requests of all operators but for leases, lists and watches.
  [[nodiscard]] std::size_t calls() const;
  void finish_jobs();  // all that run

  FakeClock clock{at("2026-03-01T11:59:30Z")};
  kube::ApiServer server;

 private:
  bool step_all();

  std::map<std::string, std::unique_ptr<Operator>> members_;
};

// Whether it is a call about a KronJob: not the lease, nor a list or a watch.
bool is_call(const ModelTransport::Asked& asked);

}  // namespace kron::testing
