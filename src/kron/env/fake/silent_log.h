#pragma once

#include "kron/env/log.h"

namespace kron::testing {

// For worlds in which nobody reads the log.
class SilentLog : public Log {
 public:
  void write(LogLevel, std::string_view, std::span<const LogField>) override {}
};

}  // namespace kron::testing
