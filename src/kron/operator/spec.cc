#include "kron/operator/spec.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/json/fields.h"
#include "kron/json/job_fields.h"
#include "kron/kube/object.h"
#include "kron/operator/names.h"
#include "kron/operator/status.h"

namespace kron::kronjobs {
namespace {

using kube::is_true_at;
using kube::node_at;
using kube::text_at;

// A distribution without a name is uniform: a server fills that in, a file may leave it out.
Node with_name(const Node& distribution) {
  const auto* map = distribution.as<Node::Map>();
  if (map == nullptr || node_at(distribution, {"name"}) != nullptr) return distribution;
  Node::Map named = *map;
  named.push_back({"name", distribution.position(), Node(std::string("uniform"), distribution.position())});
  return Node(std::move(named), distribution.position());
}

// read_job knows the keys of a job file: there the clauses and calendars stand beside the schedule, here below
// `constraints`.
Node flattened(const Node& spec) {
  Node::Map flat;
  for (const Node::Member& member : *spec.as<Node::Map>()) {
    if (member.key == "distribution") {
      flat.push_back({member.key, member.position, with_name(member.value)});
    } else if (member.key != "constraints") {
      flat.push_back(member);
    } else if (const auto* constraints = member.value.as<Node::Map>()) {
      flat.insert(flat.end(), constraints->begin(), constraints->end());
    }
  }
  return Node(std::move(flat));
}

std::string field_in_object(const std::string& field) {
  const bool is_constraint = field.starts_with("only") || field.starts_with("avoid") || field.starts_with("calendars");
  return (is_constraint ? "spec.constraints." : "spec.") + field;
}

void refuse(KronJobSpec& to, std::string_view field, std::string message) {
  to.errors.push_back({Code::invalid, std::move(message), std::string(field)});
}

// What Kubernetes has of its own.
constexpr auto kOfContainers = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"env_file", "envFrom with a Secret"},
    {"credential", "a volume of a Secret"},
    {"mask_output", "no counterpart, their logs are Kubernetes' to keep"},
    {"memory_max", "resources.limits.memory"},
    {"tasks_max", "podPidsLimit of the kubelet"},
    {"cpu_max", "resources.limits.cpu"},
});

// What a Job does by itself, or others do with what it tells.
constexpr auto kOfJobs = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"notify", "in Kubernetes alerts come from metrics, such as those of the operator or of kube-state-metrics"},
    {"retry", "a Job tries again as often as backoffLimit says; say it in spec.jobTemplate.spec"},
    {"backoff",
     "a Job waits 10s before its second attempt, and twice as long before each further one; how many there are says "
     "backoffLimit in spec.jobTemplate.spec"},
    {"fails_on", "a Job fails by the exit codes that podFailurePolicy names; say it in spec.jobTemplate.spec"},
    {"success_exit",
     "which exit codes end a Job says podFailurePolicy in spec.jobTemplate.spec; none but 0 is a success"},
});

// What CEL rules say on servers that know them is repeated here for those that do not.
void check_rules(const Node& spec, std::string_view name, KronJobSpec& to) {
  if (name.size() > kLongestName) {
    refuse(to, "metadata.name", "the name is a label of every Job: at most 63 characters");
  }
  const std::string schedule = text_at(spec, {"schedule"});
  if (schedule.empty()) refuse(to, "spec.schedule", "a schedule is required, such as 0 3 * * *");
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    refuse(to, "spec.schedule", "give the zone in spec.timezone");
  }
  if (trimmed(schedule).starts_with("@reboot")) {
    refuse(to, "spec.schedule", "@reboot is for krond only: a cluster does not boot");
  }
  if (text_at(spec, {"policy", "concurrency"}) == "queue") {
    refuse(to, "spec.policy.concurrency", "queue is for krond only; use allow, forbid or replace");
  }
  if (node_at(spec, {"policy", "pauseAfter"}) != nullptr) {
    refuse(
        to, "spec.policy.pauseAfter",
        "it is for krond only: a Job's end is Kubernetes' to record, and no write of the operator goes with it; watch "
        "for failed Jobs instead");
  }
  if (node_at(spec, {"policy", "catchUpSpread"}) != nullptr) {
    refuse(to, "spec.policy.catchUpSpread", "it is for krond only; a window spreads the runs of KronJobs");
  }
  if (node_at(spec, {"ping"}) != nullptr) {
    refuse(
        to, "spec.ping",
        "it is for krond only: the operator sees neither the output nor the exit code of a Job; let its command ping, "
        "as with curl");
  }
  for (const auto& [key, instead] : kOfContainers) {
    if (node_at(spec, {key}) == nullptr) continue;
    refuse(
        to, "spec." + std::string(key),
        "it is for krond only: a KronJob's containers have " + std::string(instead) + "; say it in spec.jobTemplate");
  }
  for (const auto& [key, instead] : kOfJobs) {
    if (node_at(spec, {key}) == nullptr) continue;
    refuse(to, "spec." + std::string(key), "it is for krond only: " + std::string(instead));
  }
  if (spec.find("pool") != nullptr) {
    refuse(to, "spec.pool", "it is for krond only: in Kubernetes a ResourceQuota limits how many Pods there are");
  }
  const Node* job_spec = node_at(spec, {"jobTemplate", "spec"});
  if (job_spec == nullptr || job_spec->as<Node::Map>() == nullptr) {
    refuse(to, "spec.jobTemplate", "a Job template with a spec is required");
  }
}

bool is_foreign(const Node& spec) {
  const Node* job_template = node_at(spec, {"jobTemplate"});
  return job_template != nullptr &&
         (is_true_at(*job_template, {"spec", "suspend"}) || node_at(*job_template, {"spec", "managedBy"}) != nullptr ||
          node_at(*job_template, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}) != nullptr);
}

// All but the rules. What is wrong with the schedule is said once.
Job read_draft(const Node& spec, std::string identity, ZoneDatabase& zones, KronJobSpec& to) {
  std::vector<Error> errors;
  const Node flat = flattened(spec);
  Fields fields(flat, "", errors);
  Job draft;
  draft.identity = std::move(identity);
  read_job(draft, fields, zones);
  const auto limit = [&](std::string_view key, std::int64_t& number) {
    const auto given = fields.integer(key);
    if (!given) return;
    number = *given;
    if (number < 0 || number > kMostHistory) fields.report(key, "must be from 0 to 1000");
  };
  limit("successfulJobsHistoryLimit", to.successful_limit);
  limit("failedJobsHistoryLimit", to.failed_limit);
  const bool has_no_schedule = std::ranges::find(to.errors, "spec.schedule", &Error::field) != to.errors.end();
  for (Error& error : errors) {
    if (has_no_schedule && error.field == "schedule") continue;
    error.field = field_in_object(error.field);
    to.errors.push_back(std::move(error));
  }
  return draft;
}

}  // namespace

KronJobSpec read_spec(const Node* spec, std::string_view ns, std::string_view name, ZoneDatabase& zones) {
  KronJobSpec read;
  if (spec == nullptr || spec->as<Node::Map>() == nullptr) {
    refuse(read, "spec", "a spec with schedule and jobTemplate is required");
    return read;
  }
  read.suspended = is_true_at(*spec, {"policy", "suspend"});
  read.foreign_gate = is_foreign(*spec);
  check_rules(*spec, name, read);
  Job draft = read_draft(*spec, identity_of(ns, name), zones, read);
  if (!read.errors.empty()) return read;
  Result<Job> job = make_job(std::move(draft), {.open_periods = kMostOpenKept});
  if (job) {
    read.job = *std::move(job);
  } else {
    refuse(read, "spec." + job.error().field, job.error().message);
  }
  return read;
}

}  // namespace kron::kronjobs
