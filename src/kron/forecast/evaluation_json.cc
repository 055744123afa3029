#include "kron/forecast/evaluation_json.h"

#include "kron/base/rfc3339.h"

namespace kron {

void write_evaluation(JsonWriter& json, const Evaluation& evaluation) {
  const auto write = [&](std::string_view action, const std::optional<Instant>& until,
                         const std::optional<Decision>& period, std::string_view outcome, std::string_view reason,
                         std::string_view clause, bool is_queued = false) {
    json.begin_map()
        .member("action", action)
        .member("until", until ? rfc3339(*until) : "")
        .member("periodId", period ? period_id(period->nominal) : "")
        .member("chosenTime", period && period->chosen ? rfc3339(*period->chosen) : "")
        .member("outcome", outcome)
        .member("reason", reason);
    if (!clause.empty()) json.member("clause", clause);
    if (is_queued) json.key("queued").boolean(true);
    json.end_map();
  };
  if (const auto* wait = std::get_if<Wait>(&evaluation.action)) {
    write("wait", wait->until, wait->next, "", "", "", wait->is_queued);
  } else if (const auto* record = std::get_if<Record>(&evaluation.action)) {
    write("record", std::nullopt, record->period, name_of(record->outcome), name_of(record->reason), record->clause);
  } else {
    write("start", std::nullopt, std::get<Start>(evaluation.action).period, name_of(Outcome::executed), "", "");
  }
}

}  // namespace kron
