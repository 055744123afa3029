#include "kron/ledger/ledger.h"

#include <algorithm>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"

namespace kron {

Status apply(StateRecord& record, const LedgerStep& step) {
  const auto& before = record.periods.last_handled;
  const auto& after = step.now.periods.last_handled;
  if (before && (!after || *after < *before)) {
    return fail(Code::conflict, "the record of " + quoted(step.identity, 200) + " says that period " +
                                    rfc3339(*before) +
                                    " was handled, which this process has not done: somebody else writes it; restart "
                                    "the daemon");
  }
  record.identity = step.identity;
  if (record.periods.suspended != step.now.periods.suspended) record.unknown_of_suspended.clear();
  std::erase_if(record.unknown_of_spans, [&](const auto& of) {
    return std::ranges::find(step.now.periods.passed_over, of.first) == step.now.periods.passed_over.end();
  });
  record.periods = step.now.periods;
  record.active = step.now.active;
  record.last_boot_id = step.now.last_boot_id;
  if (step.last_outcome) {
    record.last_outcome = step.last_outcome;
    record.last_chosen = step.last_chosen;
  }
  record.history.insert(record.history.end(), step.history.begin(), step.history.end());
  if (record.history.size() > step.history_cap) {
    record.history.erase(record.history.begin(), record.history.end() - step.history_cap);
  }
  return {};
}

}  // namespace kron
