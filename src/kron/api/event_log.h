#pragma once

#include "kron/api/event_hub.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron::api {

// Passes every event on to the log, and those that an operator cares for (info and more) to the hub.
class EventLog : public Log {
 public:
  // All outlive it.
  EventLog(Log& log, EventHub& hub, const Clock& clock) : log_(log), hub_(hub), clock_(clock) {}

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override;

 private:
  Log& log_;
  EventHub& hub_;
  const Clock& clock_;
};

}  // namespace kron::api
