#include "kron/operator/kron_job.h"

#include <string_view>
#include <utility>

#include "kron/base/text.h"
#include "kron/core/open_periods.h"
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

void fill_from_spec(KronJobView& view, const Node* spec, ZoneDatabase& zones) {
  KronJobSpec read = read_spec(spec, view.meta.ns, view.meta.name, zones);
  view.job = std::move(read.job);
  if (view.job) view.schedule_hash = schedule_hash(*view.job);
  view.suspended = read.suspended;
  view.successful_limit = read.successful_limit;
  view.failed_limit = read.failed_limit;
  view.foreign_gate = read.foreign_gate;
  for (const Error& error : read.errors) append_problem(view.problem, error.field, error.message);
  cut_to(view.problem, kLongestMessage);
  if (const Node* job_template = spec != nullptr ? node_at(*spec, {"jobTemplate"}) : nullptr) {
    view.job_template = JsonWriter().node(*job_template).take();
  }
}

void fill_from_view(KronJobView& view, const KronJobView& before) {
  view.job = before.job;
  view.schedule_hash = before.schedule_hash;
  view.problem = before.problem;
  view.suspended = before.suspended;
  view.successful_limit = before.successful_limit;
  view.failed_limit = before.failed_limit;
  view.job_template = before.job_template;
  view.foreign_gate = before.foreign_gate;
}

}  // namespace

bool has_same_spec(const kube::ObjectMeta& one, const kube::ObjectMeta& other) {
  return one.ns == other.ns && one.name == other.name && one.uid == other.uid && one.generation != 0 &&
         one.generation == other.generation;
}

Result<KronJobView> view_kron_job(const Node& object, ZoneDatabase& zones, const KronJobView* before) {
  Result<kube::ObjectMeta> meta = kube::metadata_of(object);
  if (!meta) return fail(meta.error());
  KronJobView view{.meta = *std::move(meta), .identity = {}, .job = {}, .status = {}};
  view.identity = identity_of(view.meta.ns, view.meta.name);
  view.run_now = kube::annotation_of(object, kRunNow).value_or("");
  if (before != nullptr && has_same_spec(view.meta, before->meta)) {
    fill_from_view(view, *before);
  } else {
    fill_from_spec(view, node_at(object, {"spec"}), zones);
  }
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
