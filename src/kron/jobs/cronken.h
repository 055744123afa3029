#pragma once

#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

namespace kron::jobs {

// One definition as it stands in `{cronken}:jobs`: cron_args, job_args{cmd, lock, ttl}, optional job_state{paused},
// and our `kron` object (the model's keys but for name, schedule, timezone beside cron_args' own, command and shell).
// Keys we do not know are the business of others and are passed by. context.zone is the cluster's zone.
std::optional<JobDefinition> read_cronken_job(const std::string& name, const Node& definition, ModelContext& context,
                                              Report& report);

// A file that holds name → definition.
std::vector<JobDefinition> read_cronken_document(const Node& document, ModelContext& context, Report& report);

}  // namespace kron::jobs
