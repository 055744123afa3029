#include <algorithm>
#include <charconv>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/kube/object.h"
#include "kron/operator/status.h"

namespace kron::kronjobs {
namespace {

using kube::integer_at;
using kube::node_at;
using kube::text_at;

// For people: what is not a time is no time.
std::optional<Instant> shown_time(const Node& map, std::string_view key) {
  const Result<Instant> time = parse_rfc3339(text_at(map, {key}));
  return time ? std::optional(*time) : std::nullopt;
}

const Node::List* list_at(const Node& map, std::string_view key) {
  const Node* found = node_at(map, {key});
  return found != nullptr ? found->as<Node::List>() : nullptr;
}

std::optional<PeriodNote> read_note(const Node* node) {
  if (node == nullptr) return std::nullopt;
  const std::optional<Instant> period = shown_time(*node, "periodID");
  if (!period) return std::nullopt;
  PeriodNote note{*period};
  note.chosen = shown_time(*node, "chosenTime");
  note.at = shown_time(*node, "at");
  if (const Result<Outcome> outcome = parse_outcome(text_at(*node, {"outcome"}))) note.outcome = *outcome;
  note.reason = text_at(*node, {"reason"});
  note.seed_hash = text_at(*node, {"seedHash"});
  note.job_name = text_at(*node, {"jobName"});
  return note;
}

// Reads the memory; the first thing that cannot be read is the error of it all.
class MemoryReader {
 public:
  explicit MemoryReader(const Node& status) : status_(status) {}

  Status read(KronJobStatus& to) {
    read_handled(to);
    each(status_, "starting", "status.starting", [&](const Node& item) { to.starting.push_back(starting(item)); });
    if (const Node* waiting = node_at(status_, {"waiting"})) {
      to.waiting = {required_time(*waiting, "periodID", "status.waiting.periodID"),
                    required_time(*waiting, "since", "status.waiting.since")};
    }
    if (const Node* manual = node_at(status_, {"lastManual"})) {
      to.last_manual = {text_at(*manual, {"token"}), text_at(*manual, {"jobName"}), text_at(*manual, {"outcome"}),
                        text_at(*manual, {"reason"})};
      if (to.last_manual->token.empty()) refuse("status.lastManual.token", "must be a text");
    }
    return error_ ? Status(fail(*error_)) : Status();
  }

 private:
  void refuse(const std::string& field, const std::string& what) {
    if (!error_) error_ = Error{Code::invalid, field + " " + what, field};
  }

  Instant time_in(const Node* node, const std::string& field) {
    const auto* text = node != nullptr ? node->as<std::string>() : nullptr;
    const Result<Instant> time = parse_rfc3339(text != nullptr ? *text : std::string());
    if (time) return *time;
    refuse(field, "must be an RFC 3339 time" + (text != nullptr ? ", not " + quoted(*text) : std::string()));
    return kFirstInstant;
  }
  Instant required_time(const Node& map, std::string_view key, const std::string& field) {
    return time_in(node_at(map, {key}), field);
  }

  template <class Read>
  void each(const Node& map, std::string_view key, const std::string& field, Read read) {
    const Node* found = node_at(map, {key});
    if (found == nullptr) return;
    const auto* list = found->as<Node::List>();
    if (list == nullptr) return refuse(field, "must be a list");
    for (const Node& item : *list) read(item);
  }

  void read_handled(KronJobStatus& to) {
    const Node* handled = node_at(status_, {"handled"});
    if (handled == nullptr) return;
    if (handled->as<Node::Map>() == nullptr) return refuse("status.handled", "must be a map");
    JobState& state = to.handled.emplace();
    if (const Node* through = node_at(*handled, {"through"})) {
      state.last_handled = time_in(through, "status.handled.through");
    }
    each(*handled, "open", "status.handled.open",
         [&](const Node& item) { state.open_periods.push_back(time_in(&item, "status.handled.open")); });
    each(*handled, "passedOver", "status.handled.passedOver", [&](const Node& item) {
      state.passed_over.push_back({required_time(item, "first", "status.handled.passedOver.first"),
                                   required_time(item, "last", "status.handled.passedOver.last")});
    });
    // As core expects them, whoever wrote them.
    std::ranges::sort(state.open_periods);
    std::ranges::sort(state.passed_over, {}, &Span::first);
    if (const Node* schedule = node_at(*handled, {"schedule"})) state.schedule = schedule_seen(*schedule);
  }

  ScheduleSeen schedule_seen(const Node& node) {
    ScheduleSeen seen;
    const std::string hash = text_at(node, {"hash"});
    const auto [end, error] = std::from_chars(hash.data(), hash.data() + hash.size(), seen.hash, 16);
    if (hash.size() != 16 || error != std::errc() || end != hash.data() + hash.size()) {
      refuse("status.handled.schedule.hash", "must be 16 hex digits");
    }
    if (const Node* since = node_at(node, {"since"})) seen.since = time_in(since, "status.handled.schedule.since");
    return seen;
  }

  Starting starting(const Node& item) {
    Starting entry;
    if (const Node* period = node_at(item, {"periodID"})) entry.period = time_in(period, "status.starting.periodID");
    entry.token = text_at(item, {"token"});
    entry.job_name = text_at(item, {"jobName"});
    entry.job_uid = text_at(item, {"jobUID"});
    entry.at = required_time(item, "at", "status.starting.at");
    if (entry.job_name.empty() || entry.job_uid.empty()) refuse("status.starting", "must name a Job and its uid");
    if (!entry.period && entry.token.empty()) refuse("status.starting", "must name a period or a token");
    return entry;
  }

  const Node& status_;
  std::optional<Error> error_;
};

void read_active(const Node& status, KronJobStatus& to) {
  to.active_count = integer_at(status, {"activeCount"}).value_or(0);
  if (const auto* list = list_at(status, "active")) {
    for (const Node& item : *list) {
      to.active.push_back({text_at(item, {"name"}), text_at(item, {"uid"}), shown_time(item, "periodID")});
    }
  }
}

void read_conditions(const Node& status, KronJobStatus& to) {
  const auto* list = list_at(status, "conditions");
  if (list == nullptr) return;
  for (const Node& item : *list) {
    Condition condition{.type = text_at(item, {"type"}), .reason = text_at(item, {"reason"}), .since = kFirstInstant};
    condition.is_true = text_at(item, {"status"}) == "True";
    condition.observed_generation = integer_at(item, {"observedGeneration"}).value_or(0);
    condition.message = text_at(item, {"message"});
    if (const auto since = shown_time(item, "lastTransitionTime")) condition.since = *since;
    to.conditions.push_back(std::move(condition));
  }
}

}  // namespace

Result<KronJobStatus> read_status(const Node* status) {
  KronJobStatus read;
  if (status == nullptr || status->is_null()) return read;
  if (status->as<Node::Map>() == nullptr) return fail(Code::invalid, "status must be a map", "status");
  if (const Status memory = MemoryReader(*status).read(read); !memory) return fail(memory.error());
  read.observed_generation = integer_at(*status, {"observedGeneration"});
  read.last = read_note(node_at(*status, {"last"}));
  read.next = read_note(node_at(*status, {"next"}));
  if (const auto* recent = list_at(*status, "recent")) {
    for (const Node& item : *recent) {
      if (const auto note = read_note(&item)) read.recent.push_back(*note);
    }
  }
  read_active(*status, read);
  read.last_successful = shown_time(*status, "lastSuccessfulTime");
  read.last_failure = shown_time(*status, "lastFailureTime");
  read_conditions(*status, read);
  return read;
}

}  // namespace kron::kronjobs
