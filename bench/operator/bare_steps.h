#pragma once

#include <string>

#include "kron/kube/request.h"
#include "kron/operator/kron_job.h"

// What an operator writes for one KronJob, byte for byte and worked out beforehand: a bare client sends it.
namespace kron::bench {

// Its first status, as it is seen.
kube::Request first_status(const kronjobs::KronJobView& kron_job, kronjobs::GateKind gate);

// Its next period, of one that has its first status.
struct BareSteps {
  kube::Request create;
  kube::Request record;  // of a Job whose uid is not known yet: see with_uid …
  kube::Request open;    // … as this
};
BareSteps next_steps(const kronjobs::KronJobView& kron_job, kronjobs::GateKind gate);

// The request for the Job of this uid.
kube::Request with_uid(kube::Request request, const std::string& uid);

}  // namespace kron::bench
