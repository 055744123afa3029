#include "kron/operator/status.h"

#include <algorithm>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"

namespace kron::kronjobs {
namespace {

void write_time(JsonWriter& out, std::string_view key, const std::optional<Instant>& time) {
  if (time) out.member(key, rfc3339(*time));
}

void write_text(JsonWriter& out, std::string_view key, std::string_view text) {
  if (!text.empty()) out.member(key, text);
}

void write_note(JsonWriter& out, const PeriodNote& note) {
  out.begin_map().member("periodID", rfc3339(note.period)).member("nominalTime", rfc3339(note.period));
  write_time(out, "chosenTime", note.chosen);
  write_time(out, "at", note.at);
  if (note.outcome) out.member("outcome", name_of(*note.outcome));
  write_text(out, "reason", note.reason);
  write_text(out, "seedHash", note.seed_hash);
  write_text(out, "jobName", note.job_name);
  out.end_map();
}

// 16 hex digits, as in a state file.
std::string schedule_hash_text(std::uint64_t hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = kDigits[hash >> (60 - 4 * i) & 0xFU];
  return text;
}

void write_handled(JsonWriter& out, const JobState& handled) {
  out.key("handled").begin_map();
  write_time(out, "through", handled.last_handled);
  if (!handled.open_periods.empty()) {
    out.key("open").begin_list();
    for (const Instant period : handled.open_periods) out.text(rfc3339(period));
    out.end_list();
  }
  if (!handled.passed_over.empty()) {
    out.key("passedOver").begin_list();
    for (const Span& span : handled.passed_over) {
      out.begin_map().member("first", rfc3339(span.first)).member("last", rfc3339(span.last)).end_map();
    }
    out.end_list();
  }
  if (handled.schedule) {
    out.key("schedule").begin_map().member("hash", schedule_hash_text(handled.schedule->hash));
    write_time(out, "since", handled.schedule->since);
    out.end_map();
  }
  out.end_map();
}

void write_starting(JsonWriter& out, const Starting& entry) {
  out.begin_map();
  write_time(out, "periodID", entry.period);
  write_text(out, "token", entry.token);
  out.member("jobName", entry.job_name).member("jobUID", entry.job_uid).member("at", rfc3339(entry.at)).end_map();
}

void write_memory(JsonWriter& out, const KronJobStatus& status) {
  if (status.handled) write_handled(out, *status.handled);
  if (!status.starting.empty()) {
    out.key("starting").begin_list();
    for (const Starting& entry : status.starting) write_starting(out, entry);
    out.end_list();
  }
  if (status.waiting) {
    out.key("waiting")
        .begin_map()
        .member("periodID", rfc3339(status.waiting->period))
        .member("since", rfc3339(status.waiting->since))
        .end_map();
  }
  if (const auto& manual = status.last_manual) {
    out.key("lastManual").begin_map().member("token", manual->token);
    write_text(out, "jobName", manual->job_name);
    write_text(out, "outcome", manual->outcome);
    write_text(out, "reason", manual->reason);
    out.end_map();
  }
}

void write_condition(JsonWriter& out, const Condition& condition) {
  out.begin_map().member("type", condition.type).member("status", condition.is_true ? "True" : "False");
  out.key("observedGeneration").integer(condition.observed_generation).member("reason", condition.reason);
  write_text(out, "message", condition.message);
  out.member("lastTransitionTime", rfc3339(condition.since)).end_map();
}

void write_active(JsonWriter& out, const KronJobStatus& status) {
  out.key("activeCount").integer(status.active_count);
  if (status.active.empty()) return;
  out.key("active").begin_list();
  for (const ActiveJob& job : status.active) {
    out.begin_map().member("name", job.name).member("uid", job.uid);
    write_time(out, "periodID", job.period);
    out.end_map();
  }
  out.end_list();
}

}  // namespace

const Condition* KronJobStatus::find(std::string_view type) const {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found != conditions.end() ? &*found : nullptr;
}

std::string status_json(const KronJobStatus& status) {
  JsonWriter out;
  out.begin_map();
  if (status.observed_generation) out.key("observedGeneration").integer(*status.observed_generation);
  if (status.last) {
    out.key("last");
    write_note(out, *status.last);
  }
  if (status.next) {
    out.key("next");
    write_note(out, *status.next);
  }
  if (!status.recent.empty()) {
    out.key("recent").begin_list();
    for (const PeriodNote& note : status.recent) write_note(out, note);
    out.end_list();
  }
  write_memory(out, status);
  write_active(out, status);
  write_time(out, "lastSuccessfulTime", status.last_successful);
  write_time(out, "lastFailureTime", status.last_failure);
  if (!status.conditions.empty()) {
    out.key("conditions").begin_list();
    for (const Condition& condition : status.conditions) write_condition(out, condition);
    out.end_list();
  }
  return out.end_map().take();
}

void fit(JobState& handled) {
  std::vector<Instant>& open = handled.open_periods;
  if (open.size() <= kMostOpenKept) return;
  open.erase(open.begin(), open.end() - static_cast<std::ptrdiff_t>(kMostOpenKept));
}

bool is_handled(const JobState& state, Instant period) {
  if (!state.last_handled || period > *state.last_handled) return false;
  if (std::ranges::binary_search(state.open_periods, period)) return false;
  return std::ranges::none_of(state.passed_over,
                              [&](const Span& span) { return span.first <= period && period <= span.last; });
}

}  // namespace kron::kronjobs
