#include "kron/operator/job_body.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kron/core/civil.h"
#include "kron/json/decide_request.h"
#include "kron/json/raw_members.h"
#include "kron/json/writer.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string>>;

bool is_ours(std::string_view key) { return key.starts_with("kron.io/"); }

// Of a map as text, or of nothing.
using Members = std::vector<RawMember>;

std::string_view map_in(const Members& members, std::string_view key) {
  const auto found = std::ranges::find(members, key, &RawMember::key);
  return found != members.end() && found->is_map() ? found->value : std::string_view();
}

// The members of `theirs` that are not under kron.io/, then ours.
void write_pairs(JsonWriter& out, std::string_view key, std::string_view theirs, const Pairs& ours) {
  out.key(key).begin_map();
  for (const RawMember& member : raw_members(theirs)) {
    if (!is_ours(member.key)) out.document(member.text);
  }
  for (const auto& [name, value] : ours) out.member(name, value);
  out.end_map();
}

// The rest of a map that gets some members of its own.
void write_others(JsonWriter& out, const Members& members, std::initializer_list<std::string_view> but) {
  for (const RawMember& member : members) {
    if (std::ranges::find(but, member.key) == but.end()) out.document(member.text);
  }
}

void write_owner(JsonWriter& out, const KronJobView& kron_job) {
  out.key("ownerReferences")
      .begin_list()
      .begin_map()
      .member("apiVersion", kApiVersion)
      .member("kind", kKind)
      .member("name", kron_job.meta.name)
      .member("uid", kron_job.meta.uid);
  out.key("controller").boolean(true).key("blockOwnerDeletion").boolean(true).end_map().end_list();
}

struct Marks {
  std::string name;
  Pairs labels;
  Pairs annotations;      // of the Job
  Pairs pod_annotations;  // of its pods
  bool suspend = true;
};

void write_job_spec(JsonWriter& out, const Members& spec, const Marks& marks) {
  out.key("spec").begin_map();
  write_others(out, spec, {"suspend", "template"});
  out.key("suspend").boolean(marks.suspend);
  const Members pods = raw_members(map_in(spec, "template"));
  out.key("template").begin_map();
  write_others(out, pods, {"metadata"});
  const Members metadata = raw_members(map_in(pods, "metadata"));
  out.key("metadata").begin_map();
  write_others(out, metadata, {"annotations"});
  write_pairs(out, "annotations", map_in(metadata, "annotations"), marks.pod_annotations);
  out.end_map().end_map().end_map();
}

// The template is text that we wrote ourselves when we read the KronJob: most of it stays as it is.
Result<std::string> body_of(const KronJobView& kron_job, const Marks& marks) {
  const Members members = raw_members(kron_job.job_template);
  const std::string_view spec = map_in(members, "spec");
  if (spec.empty()) return fail(Code::invalid, "a Job template with a spec is required", "spec.jobTemplate");
  const Members metadata = raw_members(map_in(members, "metadata"));
  JsonWriter out;
  out.begin_map().key("metadata").begin_map();
  out.member("name", marks.name).member("namespace", kron_job.meta.ns);
  write_pairs(out, "labels", map_in(metadata, "labels"), marks.labels);
  write_pairs(out, "annotations", map_in(metadata, "annotations"), marks.annotations);
  write_owner(out, kron_job);
  out.end_map();
  write_job_spec(out, raw_members(spec), marks);
  return out.end_map().take();
}

// The mark of the gate is the generation that the Job was made of: after an edit it is made anew.
void mark_gate(Marks& marks, const KronJobView& kron_job, GateKind gate) {
  if (gate == GateKind::ours) marks.annotations.emplace_back(kGate, std::to_string(kron_job.meta.generation));
}

Marks manual_marks(const KronJobView& kron_job, const std::string& token) {
  const kube::ObjectMeta& meta = kron_job.meta;
  Marks marks;
  marks.name = manual_job_name(meta.ns, meta.name, token);
  marks.labels = {{kNameLabel, meta.name}, {kPeriodLabel, manual_mark(kron_job.identity, token)}};
  marks.annotations = {{kIdentity, kron_job.identity}, {kTrigger, "manual"}};
  marks.pod_annotations = {{kTrigger, "manual"}};
  return marks;
}

// The dates that cannot touch [first, last] are taken out; one stays when an empty list would mean something else.
void keep_near(std::vector<DateRange>& dates, const DateRange& near, bool needs_one) {
  const auto is_far = [&](const DateRange& d) { return d.last < near.first || d.first > near.last; };
  if (needs_one && !dates.empty() && std::ranges::all_of(dates, is_far)) {
    dates.resize(1);
    return;
  }
  std::erase_if(dates, is_far);
}

}  // namespace

Job with_dates_near(const Job& job, const Window& window) {
  const DateRange near = dates_near(window);
  Job same = job;
  keep_near(same.constraints.only.dates, near, true);
  keep_near(same.constraints.avoid.dates, near, false);
  for (Calendar& calendar : same.constraints.only.calendars) keep_near(calendar.dates, near, true);
  for (Calendar& calendar : same.constraints.avoid.calendars) keep_near(calendar.dates, near, true);
  return same;
}

Result<std::string> period_job_body(const KronJobView& kron_job, const Decision& period, GateKind gate) {
  const kube::ObjectMeta& meta = kron_job.meta;
  const std::string id = period_id(period.nominal);
  const std::string chosen = period_id(period.due());
  Marks marks;
  marks.name = job_name(meta.ns, meta.name, period.nominal);
  marks.labels = {{kNameLabel, meta.name}, {kPeriodLabel, period_mark(kron_job.identity, period.nominal)}};
  marks.annotations = {{kIdentity, kron_job.identity},
                       {kPeriodId, id},
                       {kNominalTime, id},
                       {kChosenTime, chosen},
                       {kSeedHash, hex(period.seed_hash)},
                       {kTrigger, "schedule"},
                       {kDecision, decide_request_json(with_dates_near(*kron_job.job, period.window), period.nominal)}};
  marks.pod_annotations = {{kPeriodId, id}, {kNominalTime, id}, {kChosenTime, chosen}, {kTrigger, "schedule"}};
  mark_gate(marks, kron_job, gate);
  return body_of(kron_job, marks);
}

Result<std::string> manual_job_body(const KronJobView& kron_job, const std::string& token, GateKind gate) {
  Marks marks = manual_marks(kron_job, token);
  mark_gate(marks, kron_job, gate);
  return body_of(kron_job, marks);
}

Result<std::string> trial_job_body(const KronJobView& kron_job) {
  Marks marks = manual_marks(kron_job, "trial");
  marks.suspend = false;
  return body_of(kron_job, marks);
}

}  // namespace kron::kronjobs
