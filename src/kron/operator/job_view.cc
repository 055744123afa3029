#include "kron/operator/job_view.h"

#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

std::optional<Instant> time_or_none(std::string_view text) {
  const Result<Instant> time = parse_rfc3339(text);
  return time ? std::optional(*time) : std::nullopt;
}

// By type: SuccessCriteriaMet and FailureTarget may stand before the conditions that end a Job.
void read_end(const Node& object, JobView& view) {
  const Node* conditions = kube::node_at(object, {"status", "conditions"});
  const auto* list = conditions != nullptr ? conditions->as<Node::List>() : nullptr;
  if (list == nullptr) return;
  for (const Node& condition : *list) {
    if (kube::text_at(condition, {"status"}) != "True") continue;
    const std::string type = kube::text_at(condition, {"type"});
    if (type != "Complete" && type != "Failed") continue;
    view.end = type == "Complete" ? JobView::End::complete : JobView::End::failed;
    view.ended_at = time_or_none(kube::text_at(condition, {"lastTransitionTime"}));
  }
  if (const auto completed = time_or_none(kube::text_at(object, {"status", "completionTime"}))) {
    view.ended_at = completed;
  }
}

}  // namespace

Result<JobView> view_job(const Node& object) {
  Result<kube::ObjectMeta> meta = kube::metadata_of(object);
  if (!meta) return fail(meta.error());
  JobView view{.meta = *std::move(meta)};
  view.owner_uid = kube::controller_uid(object, kKind);
  view.identity = kube::annotation_of(object, kIdentity).value_or("");
  if (const auto text = kube::annotation_of(object, kPeriodId)) {
    const Result<Instant> period = parse_rfc3339(*text);
    if (!period) {
      return fail(Code::invalid,
                  "the annotation kron.io/period-id of Job " + quoted(view.meta.name) +
                      " is no RFC 3339 time: " + quoted(*text),
                  std::string(kPeriodId));
    }
    view.period = *period;
  }
  view.chosen = time_or_none(kube::annotation_of(object, kChosenTime).value_or(""));
  view.seed_hash = sha256_in(kube::annotation_of(object, kSeedHash).value_or(""));
  view.gate = kube::annotation_of(object, kGate);
  view.is_watched = kube::node_at(object, {"metadata", "labels", kNameLabel}) != nullptr;
  view.suspended = kube::is_true_at(object, {"spec", "suspend"});
  read_end(object, view);
  const auto grace = kube::integer_at(object, {"spec", "template", "spec", "terminationGracePeriodSeconds"});
  constexpr std::int64_t kLongestGrace = 7 * 24 * 3600;
  if (grace) view.grace = Seconds(std::clamp<std::int64_t>(*grace, 0, kLongestGrace));
  return view;
}

}  // namespace kron::kronjobs
