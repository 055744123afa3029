#include "kron/operator/kron_job.h"

#include <array>
#include <string_view>
#include <utility>

#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/json/fields.h"
#include "kron/json/job_fields.h"
#include "kron/json/writer.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using kube::is_true_at;
using kube::node_at;
using kube::text_at;

constexpr std::int64_t kMostHistory = 1000;

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

// read_job knows the keys of a job file: there the clauses and calendars stand beside the schedule, here below
// `constraints`.
Node flattened(const Node& spec) {
  Node::Map flat;
  for (const Node::Member& member : *spec.as<Node::Map>()) {
    if (member.key != "constraints") {
      flat.push_back(member);
      continue;
    }
    if (const auto* constraints = member.value.as<Node::Map>()) {
      flat.insert(flat.end(), constraints->begin(), constraints->end());
    }
  }
  return Node(std::move(flat));
}

std::string_view first_field_prefix(std::string_view field) {
  const bool is_constraint = field.starts_with("only") || field.starts_with("avoid") || field.starts_with("calendars");
  return is_constraint ? "spec.constraints." : "spec.";
}

// What CEL rules say on servers that know them is repeated here for those that do not.
void check_spec(const Node& spec, const kube::ObjectMeta& meta, std::string& problem) {
  if (meta.name.size() > kLongestName) {
    append_problem(problem, "metadata.name", "the name is a label of every Job: at most 63 characters");
  }
  const std::string schedule = text_at(spec, {"schedule"});
  if (schedule.empty()) append_problem(problem, "spec.schedule", "a schedule is required, such as 0 3 * * *");
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    append_problem(problem, "spec.schedule", "give the zone in spec.timezone");
  }
  if (trimmed(schedule).starts_with("@reboot")) {
    append_problem(problem, "spec.schedule", "@reboot is for krond only: a cluster does not boot");
  }
  const Node* job_spec = node_at(spec, {"jobTemplate", "spec"});
  if (job_spec == nullptr || job_spec->as<Node::Map>() == nullptr) {
    append_problem(problem, "spec.jobTemplate", "a Job template with a spec is required");
  }
}

void read_spec(const Node& spec, KronJobView& view, ZoneDatabase& zones) {
  check_spec(spec, view.meta, view.problem);
  std::vector<Error> errors;
  const Node flat = flattened(spec);
  Fields fields(flat, "", errors);
  Job draft;
  draft.identity = view.identity;
  if (view.problem.empty()) read_job(draft, fields, zones);
  const auto limit = [&](std::string_view key, std::int64_t& to) {
    const auto number = fields.integer(key);
    if (!number) return;
    to = *number;
    if (to < 0 || to > kMostHistory) fields.report(key, "must be from 0 to 1000");
  };
  limit("successfulJobsHistoryLimit", view.successful_limit);
  limit("failedJobsHistoryLimit", view.failed_limit);
  for (const Error& error : errors) {
    append_problem(view.problem, std::string(first_field_prefix(error.field)) + error.field, error.message);
  }
  if (!view.problem.empty()) return;
  Result<Job> job = make_job(std::move(draft), {.open_periods = kMostOpenKept});
  if (job) {
    view.job = *std::move(job);
  } else {
    append_problem(view.problem, "spec." + job.error().field, job.error().message);
  }
}

void read_template(const Node& spec, KronJobView& view) {
  const Node* job_template = node_at(spec, {"jobTemplate"});
  if (job_template == nullptr) return;
  view.job_template = JsonWriter().node(*job_template).take();
  view.foreign_gate = is_true_at(*job_template, {"spec", "suspend"}) ||
                      node_at(*job_template, {"spec", "managedBy"}) != nullptr ||
                      node_at(*job_template, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}) != nullptr;
}

}  // namespace

Result<KronJobView> view_kron_job(const Node& object, ZoneDatabase& zones) {
  Result<kube::ObjectMeta> meta = kube::metadata_of(object);
  if (!meta) return fail(meta.error());
  KronJobView view{.meta = *std::move(meta), .identity = {}, .job = {}, .status = {}};
  view.identity = identity_of(view.meta.ns, view.meta.name);
  view.run_now = kube::annotation_of(object, kRunNow).value_or("");
  const Node* spec = node_at(object, {"spec"});
  if (spec == nullptr || spec->as<Node::Map>() == nullptr) {
    append_problem(view.problem, "spec", "a spec with schedule and jobTemplate is required");
  } else {
    view.suspended = is_true_at(*spec, {"policy", "suspend"});
    read_template(*spec, view);
    read_spec(*spec, view, zones);
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

}  // namespace kron::kronjobs
