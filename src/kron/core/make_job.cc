#include "kron/core/make_job.h"

#include <utility>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/open_limit.h"

namespace kron {
namespace {

Error of_field(Error error, std::string field) {
  error.field = std::move(field);
  return error;
}

Status check_identity(const std::string& identity) {
  if (!identity.empty() && is_valid_utf8(identity)) return {};
  return fail(Code::invalid, "a job needs a name: any text in UTF-8 that no other job has", "identity");
}

// What a policy says must be able to happen.
Status check_policy(const Policy& policy) {
  if (policy.pause_after > kMostPauseAfter) {
    return fail(Code::invalid,
                "at most " + std::to_string(kMostPauseAfter) + " failures in a row can be waited for; 0 is never",
                "policy.pauseAfter");
  }
  if (policy.concurrency == Concurrency::queue && policy.deadline == Seconds(0)) {
    return fail(Code::invalid,
                "with queue a period waits for the run before it, as long as its deadline allows, and a deadline of 0s "
                "allows no wait; give it a deadline such as 1h, or use forbid",
                "policy.concurrency");
  }
  return {};
}

}  // namespace

Status check_duration(Nanoseconds duration) {
  if (duration <= kLongestDuration) return {};
  return fail(Code::invalid, duration_text(duration) + " is longer than the " + duration_text(kLongestDuration) +
                                 " (100 years) that anything may take; make it shorter");
}

Result<Job> make_job(Job draft, const JobLimits& limits) {
  if (Status named = check_identity(draft.identity); !named) return fail(named.error());
  if (Status window = check_duration(draft.window.duration); !window) return fail(of_field(window.error(), "window"));
  if (Status deadline = check_duration(draft.policy.deadline); !deadline) {
    return fail(of_field(deadline.error(), "policy.deadline"));
  }
  if (Status spread = check_duration(draft.policy.catch_up_spread.value_or(Seconds(0))); !spread) {
    return fail(of_field(spread.error(), "policy.catchUpSpread"));
  }
  if (Status policy = check_policy(draft.policy); !policy) return fail(policy.error());
  if (Status open = check_open_periods(draft, limits.open_periods); !open) return fail(open.error());
  return draft;
}

}  // namespace kron
