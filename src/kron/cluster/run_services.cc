#include "kron/cluster/run_services.h"

#include <utility>

namespace kron::cluster {

RunServices::RunServices(ActiveRuns& runs, Link& link, const Keys& keys, const Clock& clock, Log& log, Options options)
    : runs_(runs),
      keep_alive_(runs, link, keys, clock, log, std::move(options.keep)),
      shipper_(runs, link, keys, clock, log, std::move(options.ship)) {
  shipper_.on_answer([this] { ship_thread_.wake(); });
  runs_.on_change([this](const ActiveRuns::Change& change) {
    ship_thread_.wake();
    // All others are first due after a step of the keep-alive that comes anyway.
    const bool is_due_soon = change.ttl > Nanoseconds(0) && change.ttl / 3 < 2 * KeepAlive::kLongestStep;
    if (is_due_soon) keep_thread_.wake();
  });
}

Status RunServices::start() {
  if (Status started = keep_thread_.start(
          "the locks of runs", [this] { return keep_alive_.tick(); }, false);
      !started) {
    return started;
  }
  return ship_thread_.start(
      "the output of runs", [this] { return shipper_.tick(); }, true);
}

bool RunServices::stop(Nanoseconds patience) {
  const bool all_told = runs_.wait_for_ends(patience);
  shipper_.on_answer({});
  ship_thread_.stop();
  keep_thread_.stop();
  return all_told;
}

}  // namespace kron::cluster
