#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kron::jobs {

// Something a valid cron expression says that its author hardly means.
struct ScheduleAdvice {
  std::size_t column = 0;  // 1-based in the expression
  std::string message;
  std::string cure;
};

// For an expression that parse_schedule accepts: steps that do not divide their range, or leave only its first value;
// every minute of an hour where once was meant; and day fields that are joined otherwise than they read.
std::vector<ScheduleAdvice> advice_on(std::string_view expression);

}  // namespace kron::jobs
