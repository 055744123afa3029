#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "kron/api/answer_tag.h"
#include "kron/api/attribution.h"
#include "kron/api/job_fields.h"
#include "kron/api/job_json.h"
#include "kron/api/job_source.h"
#include "kron/api/json_values.h"
#include "kron/api/paths.h"
#include "kron/api/secrets.h"
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
using RecentOnes = std::map<std::string, history::Recent>;

// What the history tells of jobs. An error, or nothing: it does not know.
struct OfHistory {
  Result<LastEntries> last = LastEntries();
  Result<RecentOnes> recent = RecentOnes();
};

constexpr std::int64_t kMostDecisions = 1000;
constexpr std::size_t kMostKeyBytes = 200;

void write_definition(JsonWriter& json, const View& view, const JobFields& fields) {
  const jobs::JobDefinition& definition = view.definition;
  json.member("identity", definition.job.identity);
  if (fields.has("schedule")) json.member("schedule", expression_of(definition.job.schedule));
  if (fields.has("timezone")) json.member("timezone", definition.job.zone.name());
  if (const auto* task = std::get_if<jobs::SubmitTask>(&definition.action)) {
    if (fields.has("task")) json.member("task", task->type);
  } else if (fields.has("command")) {
    json.member("command", command_of(definition));
  }
  const std::string& description = definition.options->description;
  if (fields.has("description") && !description.empty()) json.member("description", description);
  if (fields.has("file")) json.member("file", *definition.file);
  if (fields.has("line")) json.key("line").integer(definition.line);
  if (fields.has("suspended")) {
    json.key("suspended").boolean(definition.job.policy.suspend && pause_in_definition(view) == nullptr);
  }
}

template <class Known>
const Known* known_of(const Result<std::map<std::string, Known>>& known, const View& view) {
  if (!known) return nullptr;
  const auto found = known->find(view.definition.job.identity);
  return found == known->end() ? nullptr : &found->second;
}

// The last of the letters; null when the history cannot say.
void write_recent(JsonWriter& json, const history::Recent* recent, const JobFields& fields) {
  if (fields.has("outcomes")) {
    json.key("outcomes");
    if (recent == nullptr) {
      json.null();
    } else {
      const std::string_view letters = recent->letters;
      json.text(letters.substr(letters.size() - std::min(letters.size(), fields.outcomes())));
    }
  }
  if (!fields.has("usualSeconds")) return;
  json.key("usualSeconds");
  if (recent == nullptr || !recent->usual) {
    json.null();
  } else {
    json.real(std::chrono::duration<double>(*recent->usual).count());
  }
}

// The members of a JobSummary, in a map that the caller has begun.
void write_summary(JsonWriter& json, const View& view, const OfHistory& known, Instant now, const JobFields& fields) {
  write_definition(json, view, fields);
  if (fields.has("paused")) write_paused(json, view, now);
  if (fields.has("next")) write_start(json, "next", next_of(view, now));
  if (fields.has("running")) json.key("running").integer(static_cast<std::int64_t>(view.known.active.size()));
  if (fields.has("waiting")) write_waiting(json, view);
  if (fields.has("last")) {
    json.key("last");
    if (const history::Entry* last = known_of(known.last, view)) {
      history::write(json, *last);
    } else {
      json.null();
    }
  }
  write_recent(json, known_of(known.recent, view), fields);
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

// The definition as a job file would have it; null when none could.
void write_model(JsonWriter& json, const View& view, Right right) {
  json.key("definition");
  if (const auto model = jobs::node_of(view.definition)) {
    json.node(shown_to(right, *model));
  } else {
    json.null();
  }
}

std::string job_json(const View& view, const OfHistory& known, Instant now, Right right,
                     const std::optional<std::string>& source) {
  JsonWriter json;
  json.begin_map();
  write_summary(json, view, known, now, JobFields::all(history::kRecent));
  write_source(json, view, source);
  json.member("spelling", name_of(view.definition.spelling));
  write_model(json, view, right);
  json.key("active").begin_list();
  for (const ActiveExecution& run : view.known.active) write_active(json, run);
  json.end_list();
  write_time_or_null(json, "lastPeriodId", view.known.periods.last_handled);
  json.key("openPeriods").begin_list();
  for (const Instant period : view.known.periods.open_periods) json.text(period_id(period));
  return json.end_list().end_map().take();
}

// Asks the history what `fields` needs of it; answered on the history's thread, or on the one for quick answers when it
// needs nothing: texts of many jobs are not the loop's work.
void ask_history(Parts& parts, const JobFields& fields, std::vector<std::string> names,
                 std::function<void(const OfHistory&)> answer) {
  const bool wants_last = fields.has("last");
  const auto known = std::make_shared<OfHistory>();
  const bool wants_recent = fields.has("outcomes") || fields.has("usualSeconds");
  if (!wants_last && !wants_recent && parts.aside([known, answer] { answer(*known); })) return;
  const auto ask_last = [&parts, known, wants_last, names, answer = std::move(answer)] {
    if (!wants_last) return answer(*known);
    parts.history.last_of(names, [known, answer](Result<LastEntries> last) {
      known->last = std::move(last);
      answer(*known);
    });
  };
  if (!wants_recent) return ask_last();
  parts.history.recent_of(std::move(names), [known, ask_last](Result<RecentOnes> recent) {
    known->recent = std::move(recent);
    ask_last();
  });
}

// A list that is being gathered, a stretch of jobs in each turn of the loop.
struct Listing {
  CallPtr call;
  Scheduler::Stretch stretch;
  JobFields fields;
  std::size_t limit = 0;
  bool has_begun = false;
  std::vector<View> found = {};
  std::optional<std::size_t> next = {};
};

std::string page_json(const Listing& listing, const OfHistory& known, Instant now) {
  JsonWriter json;
  json.begin_map().key("jobs").begin_list();
  const Right right = right_of(listing.call->request.principal);
  for (const View& view : listing.found) {
    json.begin_map();
    write_summary(json, view, known, now, listing.fields);
    if (listing.fields.has("definition")) write_model(json, view, right);
    json.end_map();
  }
  json.end_list();
  if (listing.next) json.member("next", std::to_string(*listing.next));
  return json.end_map().take();
}

void gather(Parts& parts, const std::shared_ptr<Listing>& listing) {
  parts.on_loop([&parts, listing] {
    if (!std::exchange(listing->has_begun, true) && listing->call->is_known_by(tag_of_jobs(parts, *listing->call))) {
      return;
    }
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
    ask_history(parts, listing->fields, std::move(names), [&parts, listing](const OfHistory& known) {
      listing->call->send_json(page_json(*listing, known, now(parts.clock)));
    });
  });
}

std::function<bool(const View&)> state_filter(const std::string& state, const Clock& clock) {
  if (state == "running") return [](const View& view) { return !view.known.active.empty(); };
  if (state == "suspended") {
    return [](const View& view) { return view.definition.job.policy.suspend && pause_in_definition(view) == nullptr; };
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
  const auto fields = JobFields::in(request);
  if (!fields) return call->refuse(fields.error());
  const auto listing =
      std::make_shared<Listing>(Listing{.call = call, .stretch = {}, .fields = *fields, .limit = *limit});
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

void get_job(Parts& parts, const CallPtr& call) {
  parts.on_loop([&parts, call] {
    const std::string& name = call->names.front();
    auto view = std::make_shared<std::optional<View>>(parts.scheduler.view(name));
    if (!*view) return call->refuse(no_such_job(name));
    const DaemonStatus status = parts.status();
    const auto read_at = status.job_files.read_at;
    const auto on_disk =  // by the machine's clock
        read_at ? std::optional(*read_at - std::chrono::floor<Seconds>(status.clock_offset)) : std::nullopt;
    const auto answer = [&parts, call, view](const OfHistory& known, const std::optional<std::string>& source) {
      call->send_json(job_json(**view, known, now(parts.clock), right_of(call->request.principal), source));
    };
    ask_history(parts, JobFields::all(history::kRecent), {name},
                [&parts, call, view, on_disk, answer](const OfHistory& known) {
                  const bool sees_secrets = right_of(call->request.principal) >= Right::admin;
                  const bool taken = parts.aside([view, known, on_disk, answer, sees_secrets] {
                    answer(known, read_source((*view)->definition, on_disk, sees_secrets));
                  });
                  if (!taken) answer(known, std::nullopt);
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
  const auto from = attribution_of(call->request);
  if (!from) return call->refuse(from.error());
  parts.on_loop([&parts, call, key, from = *from] {
    const std::string& identity = call->names.front();
    if (has_run_before(parts, identity, key)) {
      using Triggered = Scheduler::Triggered;
      return answer_with_start(call, Triggered{requested_run_id(identity, key), Triggered::How::already_known});
    }
    parts.operations.trigger(identity, key, from,
                             [call](const auto& triggered) { answer_with_start(call, triggered); });
  });
}

}  // namespace

Error no_such_job(std::string_view name) { return {Code::not_found, "there is no job named " + quoted(name, 200)}; }

std::vector<Route> job_routes(Parts& parts) {
  return {
      {"GET",
       "/api/v1/jobs",
       Right::read,
       with(parts, list_jobs),
       {"limit", "after", "prefix", "match", "state", "fields", "outcomes"}},
      {"GET", "/api/v1/jobs/{name}", Right::read, with(parts, get_job)},
      {"GET", "/api/v1/jobs/{name}/decisions", Right::read, with(parts, decisions), {"from", "count"}},
      {"POST", "/api/v1/jobs/{name}/trigger", Right::operate, with(parts, trigger)},
  };
}

}  // namespace kron::api
