#include "kron/daemon/host_events.h"

#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/log/line_log.h"

namespace kron::daemon {
namespace {

std::string time_text(const std::optional<Instant>& time) { return time ? rfc3339(*time) : ""; }

}  // namespace

void HostLog::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  const std::string host = host_();
  std::vector<LogField> all(fields.begin(), fields.end());
  all.push_back({"host", std::string_view(host)});
  log_.write(level, event, all);
}

void publish_of_others(const history::Entry& entry, WallTime at, api::EventHub& events) {
  const std::string period = time_text(entry.period);
  const std::string chosen = time_text(entry.chosen);
  std::vector<LogField> fields{{"identity", std::string_view(entry.job)}};
  const auto tell = [&](LogLevel level, std::string_view event) {
    fields.push_back({"host", std::string_view(entry.host)});
    events.publish(event, json_line(at, level, event, fields));
  };
  if (!period.empty()) fields.push_back({"periodId", std::string_view(period)});
  if (entry.passed_over) {
    const std::string first = rfc3339(entry.passed_over->first);
    const std::string last = rfc3339(entry.passed_over->last);
    fields.push_back({"count", static_cast<std::int64_t>(entry.passed_over->count)});
    fields.push_back({"first", std::string_view(first)});
    fields.push_back({"last", std::string_view(last)});
    return tell(LogLevel::warning, "passed_over");
  }
  if (entry.run_id.empty()) {
    if (!entry.outcome) return;
    fields.push_back({"chosenTime", std::string_view(chosen)});
    fields.push_back({"outcome", name_of(*entry.outcome)});
    fields.push_back({"reason", name_of(entry.reason)});
    fields.push_back({"clause", std::string_view(entry.clause)});
    return tell(LogLevel::info, "period_ended");
  }
  fields.push_back({"runId", std::string_view(entry.run_id)});
  if (!entry.ended_at) {
    fields.push_back({"chosenTime", std::string_view(chosen)});
    if (!entry.period) fields.push_back({"trigger", name_of(entry.trigger)});
    return tell(LogLevel::info, "run_started");
  }
  fields.push_back(entry.exit_code ? LogField{"exitCode", std::int64_t{*entry.exit_code}}
                                   : LogField{"exitCode", std::string_view("unknown")});
  if (entry.failed) fields.push_back({"failed", LogJson{*entry.failed ? "true" : "false"}});
  if (entry.attempts) fields.push_back({"attempts", std::int64_t{*entry.attempts}});
  fields.push_back({"reason", std::string_view(entry.detail)});
  tell(LogLevel::info, "run_ended");
}

}  // namespace kron::daemon
