#include "kron/cluster/events.h"

#include <cmath>

#include "kron/base/text.h"
#include "kron/cluster/json_spans.h"
#include "kron/core/state.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron::cluster {
namespace {

constexpr std::size_t kLongestId = 200;
constexpr std::string_view kJobArgs = "the name of a job";

struct NameOfEvent {
  std::string_view operator()(const events::Pause&) const { return "pause"; }
  std::string_view operator()(const events::Resume&) const { return "resume"; }
  std::string_view operator()(const events::TerminateRun&) const { return "terminate_run"; }
  std::string_view operator()(const events::KillRun&) const { return "kill_run"; }
  std::string_view operator()(const events::Add&) const { return "add"; }
  std::string_view operator()(const events::Remove&) const { return "remove"; }
  std::string_view operator()(const events::Reload&) const { return "reload"; }
  std::string_view operator()(const events::Trigger&) const { return "trigger"; }
  std::string_view operator()(const events::Validate&) const { return "validate"; }
  std::string_view operator()(const events::DrainNodes&) const { return "drain_nodes"; }
};

tl::unexpected<Error> bad_args(std::string_view action, std::string_view expected, const Node& found) {
  return fail(
      Code::invalid,
      std::string(action) + ": expected " + std::string(expected) + " as args, found " + std::string(kind_of(found)),
      "args");
}

Result<std::string> name_in(std::string_view action, std::string_view what, const Node& args) {
  const auto* name = args.as<std::string>();
  if (name == nullptr || name->empty()) return bad_args(action, what, args);
  return *name;
}

// A text is a list of one; null is an empty one.
Result<std::vector<std::string>> names_in(std::string_view action, const Node& args) {
  std::vector<std::string> names;
  if (args.is_null()) return names;
  if (const auto* name = args.as<std::string>()) return std::vector<std::string>{*name};
  const auto* list = args.as<Node::List>();
  if (list == nullptr) return bad_args(action, "a list of names", args);
  for (const Node& item : *list) {
    const auto* name = item.as<std::string>();
    if (name == nullptr) return bad_args(action, "a list of names", item);
    names.push_back(*name);
  }
  return names;
}

Result<Event> add_event(std::string_view payload, const Node& args) {
  const Node* name = args.find("job_name");
  const Node* definition = args.find("job_def");
  if (name == nullptr || name->as<std::string>() == nullptr || definition == nullptr) {
    return bad_args("add", "job_name (a text) and job_def", args);
  }
  // The definition's own bytes: it may be written to the hash as it is.
  const std::optional<ObjectSpan> event = object_at(payload);
  const std::optional<ObjectSpan> span = object_at(payload, event->find("args")->value_begin);
  const MemberSpan& member = *span->find("job_def");
  return events::Add{*name->as<std::string>(),
                     std::string(payload.substr(member.value_begin, member.value_end - member.value_begin))};
}

// Our `at`; nothing when the event has none.
Result<std::optional<Instant>> time_of(std::string_view action, const Node& event) {
  const Node* at = event.find("at");
  if (at == nullptr || at->is_null()) return std::nullopt;
  const auto* whole = at->as<std::int64_t>();
  const auto* real = at->as<double>();
  const double seconds = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? std::floor(*real) : -1;
  if (!(seconds >= 0 && seconds <= static_cast<double>(epoch_seconds(kLastInstant)))) {
    return fail(Code::invalid, std::string(action) + ": at must be seconds since 1970", "at");
  }
  return instant_of(static_cast<std::int64_t>(seconds));
}

Result<Event> trigger_event(const Node& event, const Node& args) {
  Result<std::string> name = name_in("trigger", kJobArgs, args);
  if (!name) return fail(name.error());
  events::Trigger trigger{.job = *std::move(name)};
  if (const Node* id = event.find("id"); id != nullptr && !id->is_null()) {
    const auto* text = id->as<std::string>();
    if (text == nullptr || text->empty() || text->size() > kLongestId) {
      return fail(Code::invalid, "trigger: id must be a text of 1 to " + std::to_string(kLongestId) + " bytes", "id");
    }
    trigger.id = *text;
  }
  const auto at = time_of("trigger", event);
  if (!at) return fail(at.error());
  trigger.at = *at;
  return trigger;
}

Result<Event> pause_event(const Node& event, const Node& args) {
  Result<std::string> name = name_in("pause", kJobArgs, args);
  if (!name) return fail(name.error());
  // Whoever else says something there wants the job paused all the same.
  return events::Pause{*std::move(name), time_of("pause", event).value_or(std::nullopt)};
}

template <class T>
Result<Event> event_of(Result<std::string> name) {
  if (!name) return fail(name.error());
  return T{*std::move(name)};
}

template <class T>
Result<Event> event_of(Result<std::vector<std::string>> names) {
  if (!names) return fail(names.error());
  return T{*std::move(names)};
}

struct WriteArgs {
  JsonWriter& json;

  void operator()(const events::Pause& event) const { json.text(event.job); }
  void operator()(const events::Resume& event) const { json.text(event.job); }
  void operator()(const events::TerminateRun& event) const { json.text(event.run_id); }
  void operator()(const events::KillRun& event) const { json.text(event.run_id); }
  void operator()(const events::Add& event) const {
    json.begin_map().member("job_name", event.job).key("job_def").document(event.definition).end_map();
  }
  void operator()(const events::Remove& event) const { json.text(event.job); }
  void operator()(const events::Reload&) const { json.begin_map().end_map(); }
  void operator()(const events::Trigger& event) const { json.text(event.job); }
  void operator()(const events::Validate& event) const { list(event.jobs); }
  void operator()(const events::DrainNodes& event) const { list(event.hosts); }

  void list(const std::vector<std::string>& names) const {
    json.begin_list();
    for (const std::string& name : names) json.text(name);
    json.end_list();
  }
};

}  // namespace

std::string_view name_of(const Event& event) { return std::visit(NameOfEvent{}, event); }

Result<Event> parse_event(std::string_view payload) {
  if (payload.size() > kLargestEvent) {
    return fail(Code::invalid, "an event of " + std::to_string(payload.size()) + " bytes; " +
                                   std::to_string(kLargestEvent) + " are the most");
  }
  const Result<Node> event = parse_foreign_json(payload);
  if (!event) return fail(event.error());
  const Node* action_node = event->find("action");
  const auto* action = action_node != nullptr ? action_node->as<std::string>() : nullptr;
  const Node* args = event->find("args");
  if (action == nullptr || args == nullptr) {
    return fail(Code::invalid, "an event is a map with the text action and with args");
  }
  constexpr std::string_view kRun = "the id of a run";
  if (*action == "pause") return pause_event(*event, *args);
  if (*action == "resume") return event_of<events::Resume>(name_in(*action, kJobArgs, *args));
  if (*action == "terminate_run") return event_of<events::TerminateRun>(name_in(*action, kRun, *args));
  if (*action == "kill_run") return event_of<events::KillRun>(name_in(*action, kRun, *args));
  if (*action == "add") return add_event(payload, *args);
  if (*action == "remove") return event_of<events::Remove>(name_in(*action, kJobArgs, *args));
  if (*action == "reload") return events::Reload{};
  if (*action == "trigger") return trigger_event(*event, *args);
  if (*action == "validate") return event_of<events::Validate>(names_in(*action, *args));
  if (*action == "drain_nodes") return event_of<events::DrainNodes>(names_in(*action, *args));
  return fail(Code::invalid, "unknown action " + quoted(*action), "action");
}

Sender sender_in(std::string_view payload) {
  const Result<Node> event = parse_foreign_json(payload);
  const auto text = [&](std::string_view name) {
    const Node* member = event ? event->find(name) : nullptr;
    const auto* value = member != nullptr ? member->as<std::string>() : nullptr;
    return value != nullptr && value->size() <= kMostNoteBytes ? *value : std::string();
  };
  return {text("by"), text("note")};
}

std::string text_of(const Event& event, const Sender& sender) {
  JsonWriter json;
  json.begin_map().member("action", name_of(event)).key("args");
  std::visit(WriteArgs{json}, event);
  std::optional<Instant> at;
  if (const auto* trigger = std::get_if<events::Trigger>(&event)) {
    if (!trigger->id.empty()) json.member("id", trigger->id);
    at = trigger->at;
  } else if (const auto* pause = std::get_if<events::Pause>(&event)) {
    at = pause->at;
  }
  if (at) json.key("at").integer(epoch_seconds(*at));
  if (!sender.by.empty()) json.member("by", sender.by);
  if (!sender.note.empty()) json.member("note", sender.note);
  return json.end_map().take();
}

}  // namespace kron::cluster
