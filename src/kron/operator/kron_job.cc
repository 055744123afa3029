#include "kron/operator/kron_job.h"

#include <string_view>
#include <utility>

#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "kron/operator/names.h"
#include "kron/operator/spec.h"

namespace kron::kronjobs {
namespace {

using kube::node_at;

void append_problem(std::string& problem, std::string_view field, std::string_view message) {
  if (!problem.empty()) problem += "; ";
  if (!field.empty()) problem += std::string(field) + ": ";
  problem += message;
}

// Whole characters only.
void cut_to(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  text.resize(most - 3);
  while (!is_valid_utf8(text)) text.pop_back();
  text += "…";
}

}  // namespace

Result<KronJobView> view_kron_job(const Node& object, ZoneDatabase& zones) {
  Result<kube::ObjectMeta> meta = kube::metadata_of(object);
  if (!meta) return fail(meta.error());
  KronJobView view{.meta = *std::move(meta), .identity = {}, .job = {}, .status = {}};
  view.identity = identity_of(view.meta.ns, view.meta.name);
  view.run_now = kube::annotation_of(object, kRunNow).value_or("");
  const Node* spec = node_at(object, {"spec"});
  KronJobSpec read = read_spec(spec, view.meta.ns, view.meta.name, zones);
  view.job = std::move(read.job);
  view.suspended = read.suspended;
  view.successful_limit = read.successful_limit;
  view.failed_limit = read.failed_limit;
  view.foreign_gate = read.foreign_gate;
  for (const Error& error : read.errors) append_problem(view.problem, error.field, error.message);
  if (const Node* job_template = spec != nullptr ? node_at(*spec, {"jobTemplate"}) : nullptr) {
    view.job_template = JsonWriter().node(*job_template).take();
  }
  cut_to(view.problem, kLongestMessage);
  Result<KronJobStatus> status = read_status(node_at(object, {"status"}));
  if (status) {
    view.status = *std::move(status);
  } else {
    view.status_problem = status.error().message;
  }
  return view;
}

// First sight is creation, and never lowered: what lies before it was another KronJob's of the same name, and may have
// run.
JobState known_state(const KronJobView& kron_job, const JobState* predecessor) {
  JobState state;
  if (kron_job.status.handled) {
    state = *kron_job.status.handled;
  } else if (predecessor != nullptr) {
    state = *predecessor;
  }
  state.first_seen = kron_job.meta.created + Seconds(1);
  state.first_seen_is_floor = true;
  state.suspended.reset();
  return state;
}

}  // namespace kron::kronjobs
