#include "task_direct.h"

#include <algorithm>

namespace kron::cli {

NextChance DirectTasks::next_chance() {
  NextChance chance{.ready = queue().next_ready()};
  if (const auto expiry = queue().next_expiry()) chance.expires = *expiry - clock_.boot_time() + clock_.monotonic();
  return chance;
}

Result<bool> DirectTasks::has_left(std::span<const std::string> types) {
  const auto summary = queue().summary();
  if (!summary) return fail(summary.error());
  if (types.empty()) return summary->counts.pending + summary->counts.running > 0;
  return std::ranges::any_of(summary->types, [&](const TaskSummary::OfType& of) {
    return of.count > 0 && std::ranges::find(types, of.type) != types.end();
  });
}

}  // namespace kron::cli
