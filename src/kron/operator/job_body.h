#pragma once

#include <optional>
#include <string>

#include "kron/base/result.h"
#include "kron/core/decision.h"
#include "kron/operator/kron_job.h"

namespace kron::kronjobs {

// The Job of one period: the template as it is, with our labels, annotations, owner and gate. What the template says
// under kron.io/ is overruled. Without apiVersion and kind, which calls.h knows. Refused with code invalid: the
// template is no template of a Job.
Result<std::string> period_job_body(const KronJobView& kron_job, const Decision& period, GateKind gate);

// The same of a run by hand.
Result<std::string> manual_job_body(const KronJobView& kron_job, const std::string& token, GateKind gate);

// To be posted with dryRun=All: what the server would make of the template. Not suspended, so that what comes back
// suspended was suspended by another, and what comes back without `suspend` by a server that does not know it.
Result<std::string> trial_job_body(const KronJobView& kron_job);

// The job with only those dates of its constraints that can touch the window: it makes the same decision.
Job with_dates_near(const Job& job, const Window& window);

}  // namespace kron::kronjobs
