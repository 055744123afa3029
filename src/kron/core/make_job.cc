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
  if (Status open = check_open_periods(draft, limits.open_periods); !open) return fail(open.error());
  return draft;
}

}  // namespace kron
