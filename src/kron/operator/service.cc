#include "kron/operator/service.h"

#include <algorithm>
#include <array>
#include <malloc.h>
#include <random>
#include <unistd.h>
#include <utility>

#include "kron/env/random_hex.h"
#include "kron/jobs/disk.h"

namespace kron::kronjobs {
namespace {

// At the server at a time; as many again wait at the transport, which begins the next one without asking the loop.
constexpr std::size_t kCalls = 16;
constexpr Nanoseconds kMailBudget = std::chrono::milliseconds(5);
// The loop turns at least so often, so that who asks for its health knows that it does.
constexpr Nanoseconds kTurnEvery = Seconds(5);
constexpr Nanoseconds kLogIsTaken = std::chrono::milliseconds(10);
constexpr Nanoseconds kLogIsNotTaken = Seconds(1);
// Beyond this, periods are early or late by the server's clock, and KronJobs that are made anew may repeat one.
constexpr Nanoseconds kMostSkew = Seconds(2);

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "kron-operator";
  return name.data();
}

}  // namespace

Service::Service(const Clock& clock, LineLog& log)
    : clock_(clock), log_(log), metrics_(KRON_VERSION, now(clock)), health_(clock, metrics_) {}

Result<std::unique_ptr<Service>> Service::open(const Options& options, kube::Connection connection, const Clock& clock,
                                               LineLog& log) {
  std::unique_ptr<Service> service(new Service(clock, log));
  if (Status opened = service->open_parts(options, std::move(connection)); !opened) return fail(opened.error());
  return service;
}

Status Service::open_parts(const Options& options, kube::Connection connection) {
  Result<std::unique_ptr<EventLoop>> loop = EventLoop::create(Nanoseconds(0));
  if (!loop) return fail(loop.error());
  loop_ = *std::move(loop);
  // Before there is any other thread: one that did not block them would be ended by them, and all of us with it.
  Status opened = loop_->take_signals({SIGTERM, SIGINT}, [this](int signal) { take_signal(signal); });
  if (opened) opened = loop_->watch(mailbox_.descriptor(), [this] { mailbox_.work_off(kMailBudget); });
  if (opened && options.metrics_listen != "none") opened = health_.listen(options.metrics_listen, log_);
  if (!opened) return opened;

  if (connection.is_unverified) {
    log_.warning("server_unverified",
                 {{"server", connection.server},
                  {"message", "insecure-skip-tls-verify: whoever answers there is believed to be the API server"}});
  }
  const std::string instance = host_name() + "_" + random_hex();
  std::mt19937_64 random(std::random_device{}());
  const auto jitter = [random]() mutable { return std::uniform_real_distribution<double>(0, 1)(random); };
  Controller::Options of_controller{.ns = options.ns,
                                    .jobs = job_api_of(options),
                                    .limits = {.per_second = options.qps, .burst = options.burst},
                                    .calls = 2 * kCalls,
                                    .instance = instance,
                                    .jitter = jitter};
  if (options.leader_elect) {
    of_controller.election =
        kube::Election::Options{.ns = options.lease_namespace.empty() ? connection.ns : options.lease_namespace,
                                .name = options.lease_name,
                                .identity = instance,
                                .jitter = jitter};
  }
  log_.info("operator_started", {{"version", KRON_VERSION},
                                 {"server", connection.server},
                                 {"namespace", options.ns},
                                 {"instance", instance},
                                 {"port", static_cast<std::int64_t>(health_.port())},
                                 {"pid", ::getpid()}});
  kube::Credentials credentials(std::move(connection), [](const std::string& path) { return jobs::contents_of(path); });
  auto transport = kube::CurlTransport::start(std::move(credentials), clock_, mailbox_, {.calls = kCalls});
  if (!transport) return fail(transport.error());
  transport_ = *std::move(transport);
  counted_ = std::make_unique<CountedTransport>(*transport_, clock_, metrics_);
  controller_ = std::make_unique<Controller>(
      Controller::World{.transport = *counted_, .clock = clock_, .zones = zones_, .log = log_, .metrics = metrics_},
      std::move(of_controller));
  return {};
}

// Told twice: nobody wants to wait any more.
void Service::take_signal(int signal) {
  leaves_now_ = std::exchange(is_stopping_, true);
  log_.info("operator_stopping", {{"signal", static_cast<std::int64_t>(signal)}});
  controller_->stop();
}

Status Service::run() {
  while (true) {
    const Controller::Wakeup wakeup = controller_->tick();
    health_.turned(controller_->is_ready());
    give_memory_back();
    warn_of_clock();
    const Controller::State state = controller_->state();
    if (state == Controller::State::ended || leaves_now_) return {};
    if (state == Controller::State::lost) {
      return fail(Code::unreachable, "the lease could not be renewed, and another may work by now");
    }
    if (Status slept = sleep(wakeup); !slept) return slept;
  }
}

Status Service::sleep(const Controller::Wakeup& wakeup) {
  Nanoseconds until = clock_.monotonic() + kTurnEvery;
  if (wakeup.monotonic) until = std::min(until, *wakeup.monotonic);
  if (const LineLog::Left left = log_.flush(); left != LineLog::Left::nothing) {
    until = std::min(until, clock_.monotonic() + (left == LineLog::Left::moving ? kLogIsTaken : kLogIsNotTaken));
  }
  loop_->wake_at(wakeup.wall);
  loop_->wake_at_monotonic(until);
  const Result<bool> waited = loop_->wait();
  return waited ? Status() : fail(waited.error());
}

// The lists were read by megabytes, and much larger while they were objects; what is kept of them is small.
void Service::give_memory_back() {
  if (controller_->is_synced() && !std::exchange(has_listed_, true)) ::malloc_trim(0);
}

void Service::warn_of_clock() {
  const Nanoseconds skew = counted_->clock_skew();
  if (std::chrono::abs(skew) <= kMostSkew) {
    has_warned_of_clock_ = false;
    return;
  }
  if (std::exchange(has_warned_of_clock_, true)) return;
  log_.warning("clock_skew",
               {{"seconds", std::chrono::duration_cast<Seconds>(skew).count()},
                {"message", "the API server's clock is ahead of ours by so much; set one of them right"}});
}

}  // namespace kron::kronjobs
