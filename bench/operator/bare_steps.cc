#include "bare_steps.h"

#include <utility>
#include <variant>

#include "../krond/host.h"
#include "kron/base/rfc3339.h"
#include "kron/kube/fake/node_edit.h"
#include "kron/operator/calls.h"
#include "kron/operator/job_view.h"
#include "kron/operator/reconcile.h"

namespace kron::bench {
namespace {

using kronjobs::GateKind;
using kronjobs::JobView;
using kronjobs::KronJobView;
using kronjobs::Step;

// As long as a uid.
constexpr std::string_view kAnyUid = "ffffffff-ffff-4fff-bfff-ffffffffffff";

Step step_of(const KronJobView& kron_job, std::span<const JobView> jobs, GateKind gate, Instant now) {
  const kronjobs::Trial trial{.generation = kron_job.meta.generation, .gate = gate};
  return kronjobs::reconcile({.kron_job = kron_job, .jobs = jobs, .trial = &trial}, Turn::at(now)).step;
}

template <class T>
const T& required(const Step& step) {
  if (!std::holds_alternative<T>(step)) give_up("the operator would do something else");
  return std::get<T>(step);
}

// The Job of a body as it is seen once it is created.
JobView created(const std::string& body, Instant now) {
  Result<Node> job = parse_json(body);
  if (!job) give_up(job.error().message);
  Node stored = kube::with_text(*job, {"metadata", "uid"}, kAnyUid);
  stored = kube::with_text(stored, {"metadata", "resourceVersion"}, "1");
  stored = kube::with_text(stored, {"metadata", "creationTimestamp"}, rfc3339(now));
  Result<JobView> view = kronjobs::view_job(stored);
  if (!view) give_up(view.error().message);
  return *std::move(view);
}

}  // namespace

kube::Request first_status(const KronJobView& kron_job, GateKind gate) {
  const Instant now = kron_job.meta.created + Seconds(1);
  const Step step = step_of(kron_job, {}, gate, now);
  required<kronjobs::WriteStatus>(step);
  return request_of(step, kron_job.meta);
}

BareSteps next_steps(const KronJobView& kron_job, GateKind gate) {
  if (!kron_job.status.next || !kron_job.status.next->chosen) give_up("a KronJob has no next period");
  const Instant due = *kron_job.status.next->chosen;
  const Step create = step_of(kron_job, {}, gate, due);
  const auto& made = required<kronjobs::Create>(create);
  const JobView job = created(made.body, due);
  const Step record = step_of(kron_job, std::span(&job, 1), gate, due);
  required<kronjobs::WriteStatus>(record);
  const kronjobs::Open open{made.name, std::string(kAnyUid)};
  return {request_of(create, kron_job.meta), request_of(record, kron_job.meta), request_of(open, kron_job.meta)};
}

kube::Request with_uid(kube::Request request, const std::string& uid) {
  for (std::size_t at = 0; (at = request.body.find(kAnyUid, at)) != std::string::npos; at += uid.size()) {
    request.body.replace(at, kAnyUid.size(), uid);
  }
  return request;
}

}  // namespace kron::bench
