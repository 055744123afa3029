#include "kron/queue/admission.h"

namespace kron {

Result<SubmitAnswer> Admission::admit(const NewTask& task) {
  const auto compared = [&](const NewTask& other) {
    const bool is_same = is_same_payload(task, other);
    return SubmitAnswer{is_same ? SubmitOutcome::already_known : SubmitOutcome::conflict, task.id};
  };
  if (const auto found = accepted_.find(task.id); found != accepted_.end()) return compared(*found->second);
  const auto known = known_(task.id);
  if (!known) return fail(known.error());
  if (*known) return compared(**known);
  if (!task.unique_key.empty()) {
    if (const auto found = keys_.find(task.unique_key); found != keys_.end()) {
      return SubmitAnswer{SubmitOutcome::duplicate, found->second->id};
    }
    if (auto holder = holder_(task.unique_key)) return SubmitAnswer{SubmitOutcome::duplicate, *std::move(holder)};
    keys_.emplace(task.unique_key, &task);
  }
  accepted_.emplace(task.id, &task);
  return SubmitAnswer{SubmitOutcome::accepted, task.id};
}

}  // namespace kron
