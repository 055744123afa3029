#include "kron/api/event_log.h"

#include "kron/log/line_log.h"

namespace kron::api {

void EventLog::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  log_.write(level, event, fields);
  if (level >= LogLevel::info) hub_.publish(event, json_line(clock_.wall(), level, event, fields));
}

}  // namespace kron::api
