#pragma once

#include <string>

#include "kron/kube/request.h"
#include "kron/operator/kron_job.h"
#include "kron/operator/step.h"

namespace kron::kronjobs {

// What is used as Job. Tests on servers whose Jobs cannot be suspended have a kind of their own that can.
struct JobApi {
  std::string group_version = "batch/v1";
  std::string kind = "Job";
  std::string plural = "jobs";
};

std::string kron_job_path(std::string_view ns, std::string_view name);
std::string jobs_path(std::string_view ns, const JobApi& api = {});

// The one call that a step is; of a KronJob as it was seen when the step was found. Rest is no call.
kube::Request request_of(const Step& step, const kube::ObjectMeta& kron_job, const JobApi& api = {});

}  // namespace kron::kronjobs
