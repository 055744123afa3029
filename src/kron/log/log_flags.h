#pragma once

#include "kron/log/line_log.h"

namespace kron {

// The flags of a program's log, for a visitor of flags that has `choice`.
template <class Visitor>
void visit_log_flags(Visitor& visit, LogFormat& format, LogLevel& level) {
  visit.choice("--log-format", format, "Format of the log on standard error (default: text)",
               {{"text", LogFormat::text}, {"json", LogFormat::json}});
  visit.choice("--log-level", level, "Minimum severity to log (default: info)",
               {{"debug", LogLevel::debug},
                {"info", LogLevel::info},
                {"warning", LogLevel::warning},
                {"error", LogLevel::error}});
}

}  // namespace kron
