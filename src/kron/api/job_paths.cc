#include <array>
#include <charconv>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "kron/api/json_values.h"
#include "kron/api/paths.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/schedule_expression.h"
#include "kron/forecast/next_start.h"
#include "kron/forecast/upcoming.h"
#include "kron/jobs/model.h"
#include "kron/json/decide_request.h"
#include "kron/json/fields.h"
#include "kron/scheduler/run_cause.h"

namespace kron::api {
namespace {

using View = Scheduler::View;
using LastEntries = std::map<std::string, history::Entry>;

constexpr std::int64_t kMostDecisions = 1000;
constexpr std::size_t kMostKeyBytes = 200;

// In a cluster the definition itself says so: there a job that is suspended is one that somebody has paused.
bool is_paused_by_definition(const View& view) {
  return view.definition.options->terms && view.definition.job.policy.suspend;
}

bool is_paused(const View& view, Instant now) {
  if (is_paused_by_definition(view)) return true;
  const auto& suspended = view.known.periods.suspended;
  return suspended && (!suspended->until || *suspended->until > now);
}

void write_time(JsonWriter& json, std::string_view name, const std::optional<Instant>& time) {
  if (time) json.member(name, rfc3339(*time));
}

void write_paused(JsonWriter& json, const View& view, Instant now) {
  json.key("paused");
  if (!is_paused(view, now)) {
    json.null();
    return;
  }
  if (is_paused_by_definition(view)) {
    json.begin_map().end_map();
    return;
  }
  const Suspension& suspended = *view.known.periods.suspended;
  json.begin_map().member("since", rfc3339(suspended.since));
  write_time(json, "until", suspended.until);
  if (suspended.skip_missed) json.key("skipMissed").boolean(true);
  json.end_map();
}

std::optional<NextStart> next_of(const View& view, Instant now) {
  return next_start(view.definition.job, view.known.periods, !view.known.active.empty(), now);
}

void write_start(JsonWriter& json, std::string_view name, const std::optional<NextStart>& start) {
  json.key(name);
  if (!start) {
    json.null();
    return;
  }
  json.begin_map().member("periodId", period_id(start->period.nominal));
  write_time_or_null(json, "chosenTime", start->period.chosen);
  json.member("startsAt", rfc3339(start->at)).end_map();
}

// The members of a JobSummary, in a map that the caller has begun.
void write_summary(JsonWriter& json, const View& view, const history::Entry* last, Instant now) {
  const jobs::JobDefinition& definition = view.definition;
  json.member("identity", definition.job.identity).member("schedule", expression_of(definition.job.schedule));
  json.member("timezone", definition.job.zone.name());
  if (const auto* task = std::get_if<jobs::SubmitTask>(&definition.action)) {
    json.member("task", task->type);
  } else {
    json.member("command", command_of(definition));
  }
  if (!definition.options->description.empty()) json.member("description", definition.options->description);
  json.member("file", *definition.file).key("line").integer(definition.line);
  json.key("suspended").boolean(definition.job.policy.suspend && !is_paused_by_definition(view));
  write_paused(json, view, now);
  write_start(json, "next", next_of(view, now));
  json.key("running").integer(static_cast<std::int64_t>(view.known.active.size()));
  json.key("last");
  if (last != nullptr) {
    history::write(json, *last);
  } else {
    json.null();
  }
}

void write_active(JsonWriter& json, const ActiveExecution& run) {
  json.begin_map().member("runId", run.run_id).member("trigger", name_of(run.trigger));
  write_time(json, "periodId", run.period);
  write_time(json, "chosenTime", run.chosen);
  json.member("startedAt", rfc3339(run.started_at));
  if (!run.is_task() && run.pid > 0) json.key("pid").integer(run.pid);
  if (!run.task_id.empty()) json.member("taskId", run.task_id);
  json.end_map();
}

// Values of the environment are often secrets, in a file that only its owner may read: who may not operate is told the
// names alone.
Node without_env_values(const Node& model) {
  Node::Map shown = *model.as<Node::Map>();
  for (Node::Member& member : shown) {
    if (member.key != "env") continue;
    Node::Map variables = *member.value.as<Node::Map>();
    for (Node::Member& variable : variables) variable.value = Node();
    member.value = Node(std::move(variables));
  }
  return Node(std::move(shown));
}

std::string job_json(const View& view, const history::Entry* last, Instant now, Right right) {
  JsonWriter json;
  json.begin_map();
  write_summary(json, view, last, now);
  json.member("spelling", name_of(view.definition.spelling)).key("definition");
  if (const auto model = jobs::node_of(view.definition)) {
    json.node(right == Right::operate ? *model : without_env_values(*model));
  } else {
    json.null();
  }
  json.key("active").begin_list();
  for (const ActiveExecution& run : view.known.active) write_active(json, run);
  json.end_list();
  write_time_or_null(json, "lastPeriodId", view.known.periods.last_handled);
  json.key("openPeriods").begin_list();
  for (const Instant period : view.known.periods.open_periods) json.text(period_id(period));
  return json.end_list().end_map().take();
}

const history::Entry* entry_of(const Result<LastEntries>& last, const View& view) {
  if (!last) return nullptr;
  const auto found = last->find(view.definition.job.identity);
  return found == last->end() ? nullptr : &found->second;
}

// A list that is being gathered, a stretch of jobs in each turn of the loop.
struct Listing {
  CallPtr call;
  Scheduler::Stretch stretch;
  std::size_t limit = 0;
  std::vector<View> found = {};
  std::optional<std::size_t> next = {};
};

std::string page_json(const Listing& listing, const Result<LastEntries>& last, Instant now) {
  JsonWriter json;
  json.begin_map().key("jobs").begin_list();
  for (const View& view : listing.found) {
    json.begin_map();
    write_summary(json, view, entry_of(last, view), now);
    json.end_map();
  }
  json.end_list();
  if (listing.next) json.member("next", std::to_string(*listing.next));
  return json.end_map().take();
}

void gather(Parts& parts, const std::shared_ptr<Listing>& listing) {
  parts.on_loop([&parts, listing] {
    listing->stretch.most_views = listing->limit - listing->found.size();
    Scheduler::Views views = parts.scheduler.views(listing->stretch);
    for (View& view : views.views) listing->found.push_back(std::move(view));
    listing->next = views.next;
    if (views.next && listing->found.size() < listing->limit) {
      listing->stretch.first = *views.next;
      return gather(parts, listing);
    }
    std::vector<std::string> names;
    for (const View& view : listing->found) names.push_back(view.definition.job.identity);
    parts.history.last_of(std::move(names), [&parts, listing](const Result<LastEntries>& last) {
      listing->call->send_json(page_json(*listing, last, now(parts.clock)));
    });
  });
}

std::function<bool(const View&)> state_filter(const std::string& state, const Clock& clock) {
  if (state == "running") return [](const View& view) { return !view.known.active.empty(); };
  if (state == "suspended") {
    return [](const View& view) { return view.definition.job.policy.suspend && !is_paused_by_definition(view); };
  }
  if (state == "paused") return [&clock](const View& view) { return is_paused(view, now(clock)); };
  return [&clock](const View& view) {
    return view.known.active.empty() && !view.definition.job.policy.suspend && !is_paused(view, now(clock));
  };
}

void list_jobs(Parts& parts, const CallPtr& call) {
  const http::Request& request = call->request;
  const auto limit = limit_parameter(request);
  if (!limit) return call->refuse(limit.error());
  const auto after = number_parameter(request, "after", 0, 0, std::int64_t{1} << 32);
  if (!after) return call->refuse(after.error());
  const auto state = word_parameter(request, "state", {"running", "paused", "suspended", "idle"});
  if (!state) return call->refuse(state.error());
  const auto listing = std::make_shared<Listing>(Listing{.call = call, .stretch = {}, .limit = *limit});
  listing->stretch.first = static_cast<std::size_t>(*after);
  listing->stretch.most_looks = kLooksAtOnce;
  const std::string prefix = text_parameter(request, "prefix");
  const std::string part = text_parameter(request, "match");
  if (!prefix.empty() || !part.empty()) {
    listing->stretch.has_name = [prefix, part](std::string_view name) {
      return name.starts_with(prefix) && name.find(part) != std::string_view::npos;
    };
  }
  if (*state) listing->stretch.is_wanted = state_filter(**state, parts.clock);
  gather(parts, listing);
}

Error no_such_job(std::string_view name) { return {Code::not_found, "there is no job named " + quoted(name, 200)}; }

void get_job(Parts& parts, const CallPtr& call) {
  parts.on_loop([&parts, call] {
    const std::string& name = call->names.front();
    auto view = std::make_shared<std::optional<View>>(parts.scheduler.view(name));
    if (!*view) return call->refuse(no_such_job(name));
    parts.history.last_of({name}, [&parts, call, view](const Result<LastEntries>& last) {
      const Right right = right_of(call->request.principal);
      call->send_json(job_json(**view, entry_of(last, **view), now(parts.clock), right));
    });
  });
}

std::string decisions_json(const Job& job, Upcoming upcoming, std::int64_t count) {
  JsonWriter json;
  json.begin_map().key("decisions").begin_list();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::optional<Decision> period = upcoming.next();
    if (!period) break;
    json.begin_map();
    write_decision(json, job, *period);
    json.end_map();
  }
  return json.end_list().end_map().take();
}

void decisions(Parts& parts, const CallPtr& call) {
  const auto from = time_parameter(call->request, "from");
  if (!from) return call->refuse(from.error());
  const auto count = number_parameter(call->request, "count", 10, 1, kMostDecisions);
  if (!count) return call->refuse(count.error());
  parts.on_loop([&parts, call, from = from->value_or(now(parts.clock)), count = *count] {
    const auto view = parts.scheduler.view(call->names.front());
    if (!view) return call->refuse(no_such_job(call->names.front()));
    // Looking far ahead takes its time, which is not the loop's.
    const bool taken = parts.aside([call, job = view->definition.job, from, count] {
      const auto upcoming = Upcoming::of(job, from);
      if (!upcoming) return call->refuse(upcoming.error());
      call->send_json(decisions_json(job, *upcoming, count));
    });
    if (!taken) call->refuse(too_busy());
  });
}

std::string_view name_of(Scheduler::Triggered::How how) {
  switch (how) {
    case Scheduler::Triggered::How::started:
      return "started";
    case Scheduler::Triggered::How::waiting:
      return "waiting";
    case Scheduler::Triggered::How::already_known:
      break;
  }
  return "already_known";
}

// A job's record remembers its last runs, the directories of runs many more.
bool has_run_before(const Parts& parts, const std::string& identity, const std::string& key) {
  return !key.empty() && parts.run_files.has(requested_run_id(identity, key));
}

void answer_with_start(const CallPtr& call, const Result<Scheduler::Triggered>& triggered) {
  if (!triggered) return call->refuse(triggered.error());
  JsonWriter json;
  json.begin_map().member("runId", triggered->run_id).member("outcome", name_of(triggered->how));
  call->send_json(json.end_map().take());
}

void trigger(Parts& parts, const CallPtr& call) {
  const auto given = call->request.header("idempotency-key");
  const std::string key(given.value_or(""));
  // An empty one is a variable that was not set: taken for none, each repetition would be a run of its own.
  if (given && (key.empty() || key.size() > kMostKeyBytes)) {
    return call->refuse(
        {Code::invalid, "an Idempotency-Key has 1 to 200 bytes; leave the header out for none", "Idempotency-Key"});
  }
  parts.on_loop([&parts, call, key] {
    const std::string& identity = call->names.front();
    if (has_run_before(parts, identity, key)) {
      using Triggered = Scheduler::Triggered;
      return answer_with_start(call, Triggered{requested_run_id(identity, key), Triggered::How::already_known});
    }
    parts.operations.trigger(identity, key, [call](const auto& triggered) { answer_with_start(call, triggered); });
  });
}

// What the body of a pause, or of a resume, asks for; none of it when there is none.
struct PauseRequest {
  std::optional<Instant> until = {};
  bool skip_missed = false;
};

Result<PauseRequest> pause_request(const std::string& body, std::span<const std::string_view> known) {
  PauseRequest request;
  const auto document = object_in(body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(known);
  if (const auto text = fields.text("until")) {
    Instant time;
    fields.take(time, "until", parse_rfc3339(*text));
    request.until = time;
  }
  request.skip_missed = fields.boolean("skipMissed").value_or(false);
  if (!errors.empty()) return fail(errors.front());
  return request;
}

void answer_with_pause(Parts& parts, const CallPtr& call, const Status& changed) {
  if (!changed) return call->refuse(changed.error());
  const auto view = parts.scheduler.view(call->names.front());
  if (!view) return call->refuse(no_such_job(call->names.front()));
  JsonWriter json;
  json.begin_map().member("identity", view->definition.job.identity);
  const Instant present = now(parts.clock);
  write_paused(json, *view, present);
  // The turn that follows starts it.
  const std::optional<NextStart> next = next_of(*view, present);
  if (next && next->at <= present) write_start(json, "startsNow", next);
  call->send_json(json.end_map().take());
}

void pause(Parts& parts, const CallPtr& call) {
  const auto request = pause_request(call->request.body, std::array<std::string_view, 2>{"until", "skipMissed"});
  if (!request) return call->refuse(request.error());
  if (request->until && *request->until <= now(parts.clock)) {
    return call->refuse({Code::invalid, "until: this time is past; leave it out to pause until resumed", "until"});
  }
  if (request->until && *request->until > kLastInstant) {
    return call->refuse(
        {Code::invalid, "until: schedules end with the year 2199; leave it out to pause until resumed", "until"});
  }
  parts.on_loop([&parts, call, request = *request] {
    parts.operations.pause(call->names.front(), request.until, request.skip_missed,
                           [&parts, call](const Status& paused) { answer_with_pause(parts, call, paused); });
  });
}

void resume(Parts& parts, const CallPtr& call) {
  const auto request = pause_request(call->request.body, std::array<std::string_view, 1>{"skipMissed"});
  if (!request) return call->refuse(request.error());
  parts.on_loop([&parts, call, skip_missed = request->skip_missed] {
    parts.operations.resume(call->names.front(), skip_missed,
                            [&parts, call](const Status& resumed) { answer_with_pause(parts, call, resumed); });
  });
}

}  // namespace

std::vector<Route> job_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/jobs", Right::read, with(parts, list_jobs), {"limit", "after", "prefix", "match", "state"}},
      {"GET", "/api/v1/jobs/{name}", Right::read, with(parts, get_job)},
      {"GET", "/api/v1/jobs/{name}/decisions", Right::read, with(parts, decisions), {"from", "count"}},
      {"POST", "/api/v1/jobs/{name}/trigger", Right::operate, with(parts, trigger)},
      {"POST", "/api/v1/jobs/{name}/pause", Right::operate, with(parts, pause)},
      {"POST", "/api/v1/jobs/{name}/resume", Right::operate, with(parts, resume)},
  };
}

}  // namespace kron::api
