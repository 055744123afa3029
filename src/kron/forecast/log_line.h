#pragma once

#include <string>
#include <string_view>

#include "kron/json/decide_request.h"

namespace kron {

// What a daemon's log line says about a decision.
struct LoggedDecision {
  DecideRequest request;
  std::string chosen_time;  // as logged; empty when the line does not say, or unschedulable
  std::string seed_hash;    // as logged; empty when the line does not say
};

// A log line in either form, key=value or JSON, whose `decision` is a request to `kron decide`; such a request alone
// will do too. In the text form values stand bare, or in double quotes with \" \\ \n \t.
Result<LoggedDecision> read_log_line(std::string_view line, ZoneDatabase& zones);

}  // namespace kron
