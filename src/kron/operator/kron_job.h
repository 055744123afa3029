#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kron/core/job.h"
#include "kron/core/time_zone.h"
#include "kron/json/document.h"
#include "kron/kube/object.h"
#include "kron/operator/status.h"

namespace kron::kronjobs {

// Who decides when the pods of a Job may start, once it is created.
enum class GateKind : std::uint8_t {
  ours,     // created suspended, opened by the operator after its record
  foreign,  // the template or a queue of the cluster suspends it: created suspended, opened by them
  ungated,  // the server does not know `suspend`: the name is the only lock
};

// A KronJob as the operator knows it: read once for each version, and small. It keeps the text of the Job template and
// no tree, which would be eight times as large.
struct KronJobView {
  kube::ObjectMeta meta;
  std::string identity;
  std::optional<Job> job;           // none: the spec cannot be scheduled, and `problem` says why
  std::uint64_t schedule_hash = 0;  // of the job
  std::string problem = {};         // all that is wrong with the spec, at most kLongestMessage
  bool suspended = false;           // by spec.policy.suspend, which is read even when the rest cannot be
  std::int64_t successful_limit = 3;
  std::int64_t failed_limit = 1;
  std::string job_template = {};  // {"metadata":…,"spec":…}
  bool foreign_gate = false;      // the template says so
  std::string run_now = {};       // the token asked for; empty: none
  KronJobStatus status;
  std::string status_problem = {};  // the memory in the status cannot be read: nothing may be judged by it
};

// Of the same object, in the same generation of its spec.
bool has_same_spec(const kube::ObjectMeta& one, const kube::ObjectMeta& other);

// Refused with code invalid: not a KronJob that a server has stored. Whatever is wrong with its spec or status is no
// refusal but part of the view. `before`: what is known of it, or null. A server counts the generations of a spec: one
// of the same generation is not read again.
Result<KronJobView> view_kron_job(const Node& object, ZoneDatabase& zones, const KronJobView* before = nullptr);

// What is known of its periods. `predecessor`: of a deleted KronJob of this identity; null: none.
JobState known_state(const KronJobView& kron_job, const JobState* predecessor = nullptr);

}  // namespace kron::kronjobs
