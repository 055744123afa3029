#include "kron/api/job_end.h"

#include "kron/runner/protocol.h"

namespace kron::api {

std::optional<metrics::JobEnd> job_end_of(const history::Entry& entry) {
  const history::Kind kind = history::kind_of(entry);
  if (kind == history::Kind::passed_over || !entry.ended_at) return std::nullopt;
  if (kind != history::Kind::executed) return metrics::JobEnd{std::string(history::name_of(kind)), *entry.ended_at};
  const auto result = history::result_of(entry);
  if (!result || *result == history::RunResult::running) return std::nullopt;
  const bool has_timed_out = *result != history::RunResult::unknown && entry.detail.starts_with(runner::kTimedOut);
  metrics::JobEnd end{has_timed_out ? "timed_out" : std::string(history::name_of(*result)), *entry.ended_at};
  if (entry.started_at && *entry.started_at <= *entry.ended_at) end.duration = *entry.ended_at - *entry.started_at;
  return end;
}

}  // namespace kron::api
