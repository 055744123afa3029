#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kron/forecast/look_limit.h"
#include "kron/jobs/definition.h"

// Lines of a job file that somebody tries before they are saved anywhere.
namespace kron::report {

struct TrialRequest {
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  static constexpr std::size_t kMostJobs = 200;

  std::string_view text;
  jobs::Spelling spelling = jobs::Spelling::kron;
  Instant now;
  LookLimit limit = {};
};

// The document that docs/formats.md describes under "Try": what is wrong with the text, and of the jobs in it that can
// be used what they mean, their next periods, and what they add to the load of `here`, of which a job of the same name
// counts as replaced. Nothing is read but the text, and time zones. Fails when the text, or the number of its jobs, is
// too large, or the limit does not even suffice for a day.
Result<std::string> trial_json(const TrialRequest& request, std::span<const jobs::JobDefinition> here);

}  // namespace kron::report
