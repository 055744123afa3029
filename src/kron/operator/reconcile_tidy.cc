#include <algorithm>
#include <utility>

#include "kron/operator/names.h"
#include "kron/operator/reconciler.h"

namespace kron::kronjobs {

// It was made of an edit that we have not seen yet, and by which it may be recorded already.
bool Reconciler::is_of_later_edit(const JobView& job) const {
  return job.owner_uid == kron_job_.meta.uid && kube::is_older(std::to_string(kron_job_.meta.generation), *job.gate);
}

// Whether a Job at its gate, which is not recorded, can never be. By the status as it was seen: what was recorded since
// has changed the KronJob's version, and what is recorded of this Job is in it.
bool Reconciler::is_leftover(const JobView& job) const {
  if (!job.period) {
    // Of a token that we have not seen yet, when the KronJob that we know is older than the Job.
    if (kube::is_older(kron_job_.meta.resource_version, job.meta.resource_version)) return false;
    const std::string& token = kron_job_.run_now;
    const bool is_done = status_.last_manual && status_.last_manual->token == token;
    return is_done || job.meta.name != manual_job_name(kron_job_.meta.ns, kron_job_.meta.name, token);
  }
  if (is_handled(state_, *job.period)) return true;
  if (!kron_job_.job || kron_job_.suspended) return false;  // unknown, or not to be judged
  if (is_of_later_edit(job)) return false;
  const Job& spec = *kron_job_.job;
  if (!spec.schedule.is_nominal(*job.period, spec.zone)) return true;
  if (status_.waiting && status_.waiting->period == *job.period) return false;
  const Decision period = decide(spec, *job.period);
  if (is_closed(state_, period, turn_) || period.due() < *state_.first_seen) return true;
  const bool is_beyond = !state_.last_handled || *job.period > *state_.last_handled;
  return is_beyond && state_.schedule && state_.schedule->since && period.due() < *state_.schedule->since;
}

Reconciler::MaybeStep Reconciler::remove_leftovers() {
  for (const JobView& job : seen_.jobs) {
    if (!is_own(job) || !job.is_at_gate() || job.meta.deleting || is_starting(job)) continue;
    if (is_leftover(job)) return Remove{job.meta.name, job.meta.uid, job.meta.resource_version};
  }
  return std::nullopt;
}

// The oldest end first; when they ended together, by name, so that two leaders choose the same.
Reconciler::MaybeStep Reconciler::remove_history() {
  for (const JobView::End end : {JobView::End::complete, JobView::End::failed}) {
    std::vector<const JobView*> ended;
    for (const JobView& job : seen_.jobs) {
      const bool is_ours = is_own(job) && job.owner_uid == kron_job_.meta.uid;
      if (is_ours && job.end == end && !job.meta.deleting) ended.push_back(&job);
    }
    const std::int64_t limit = end == JobView::End::complete ? kron_job_.successful_limit : kron_job_.failed_limit;
    if (std::cmp_less_equal(ended.size(), limit)) continue;
    const auto when = [](const JobView* job) { return std::pair(job->ended_at, std::string_view(job->meta.name)); };
    const JobView* oldest = *std::ranges::min_element(ended, {}, when);
    return Remove{oldest->meta.name, oldest->meta.uid};
  }
  return std::nullopt;
}

}  // namespace kron::kronjobs
