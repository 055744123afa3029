#pragma once

#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

namespace kron::jobs {

// One definition as it stands in `{cronken}:jobs`: cron_args, job_args{cmd, lock, ttl}, optional job_state{paused},
// and our `kron` object (the model's keys but for name, schedule, timezone beside cron_args' own, command and shell).
// Keys we do not know are the business of others and are passed by; of cron_args with a warning, and not when no time
// is named beside them. Values may be spelled as cronken accepts them: a ttl of "10", a lock of 0, paused "yes".
// context.zone is the cluster's zone. With context.is_clustered the definition becomes what a cluster runs, and what a
// cluster does not run is an error (cluster_rules.h).
std::optional<JobDefinition> read_cronken_job(const std::string& name, const Node& definition, ModelContext& context,
                                              Report& report);

// What cronken takes for true or false: a boolean, 0 or 1, or a word such as "yes" or "off". Nothing: neither.
std::optional<bool> cronken_boolean(const Node& node);

// Beside `paused` of job_state: {"since","by","note"}, ours. cronken passes it by.
inline constexpr std::string_view kPauseMember = "kron_pause";
// The pause that a definition tells of; nothing when it is not paused, or no definition.
std::optional<ClusterPause> cronken_pause(const Node& definition);

// A file that holds name → definition.
std::vector<JobDefinition> read_cronken_document(const Node& document, ModelContext& context, Report& report);

}  // namespace kron::jobs
