#pragma once

#include <functional>
#include <string>

#include "kron/api/event_hub.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/history/entry.h"

// Events of a cluster: those who watch any host hear what happens on all, and where.
namespace kron::daemon {

// A log whose lines say which host they are of.
class HostLog : public Log {
 public:
  // `log` outlives it.
  HostLog(Log& log, std::function<std::string()> host) : log_(log), host_(std::move(host)) {}

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override;

 private:
  Log& log_;
  std::function<std::string()> host_;
};

// What another host has told, as it looks in that host's own log, but for what only that host knows. Any thread.
void publish_of_others(const history::Entry& entry, WallTime at, api::EventHub& events);

}  // namespace kron::daemon
