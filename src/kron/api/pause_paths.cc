#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/api/attribution.h"
#include "kron/api/job_json.h"
#include "kron/api/paths.h"
#include "kron/base/rfc3339.h"
#include "kron/json/fields.h"

namespace kron::api {
namespace {

// What the body of a pause, or of a resume, asks for; none of it when there is none.
struct PauseRequest {
  Operations::Pause pause = {};
  Attribution from = {};
};

constexpr std::array<std::string_view, 3> kOfPause{"until", "skipMissed", "note"};
constexpr std::array<std::string_view, 2> kOfResume{"skipMissed", "note"};

void read_pause(Fields& fields, PauseRequest& request) {
  if (const auto text = fields.text("until")) {
    Instant time;
    fields.take(time, "until", parse_rfc3339(*text));
    request.pause.until = time;
  }
  request.pause.skip_missed = fields.boolean("skipMissed").value_or(false);
  request.from.note = note_in(fields);
}

Result<PauseRequest> pause_request(const http::Request& asked, std::span<const std::string_view> known) {
  PauseRequest request;
  const auto document = object_in(asked.body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(known);
  read_pause(fields, request);
  if (!errors.empty()) return fail(errors.front());
  request.from.by = asker_name(asked.principal);
  return request;
}

// Why nothing can be paused until then.
std::optional<Error> wrong_end(const std::optional<Instant>& until, Instant now) {
  if (until && *until <= now) {
    return Error{Code::invalid, "until: this time is past; leave it out to pause until resumed", "until"};
  }
  if (until && *until > kLastInstant) {
    return Error{Code::invalid, "until: schedules end with the year 2199; leave it out to pause until resumed",
                 "until"};
  }
  return std::nullopt;
}

void write_changed(JsonWriter& json, const Scheduler::View& view, Instant present) {
  json.member("identity", view.definition.job.identity);
  write_paused(json, view, present);
  // The turn that follows starts it.
  const std::optional<NextStart> next = next_of(view, present);
  if (next && next->at <= present) write_start(json, "startsNow", next);
}

void answer_with_pause(Parts& parts, const CallPtr& call, const Status& changed) {
  if (!changed) return call->refuse(changed.error());
  const auto view = parts.scheduler.view(call->names.front());
  if (!view) return call->refuse(no_such_job(call->names.front()));
  JsonWriter json;
  json.begin_map();
  write_changed(json, *view, now(parts.clock));
  call->send_json(json.end_map().take());
}

void pause(Parts& parts, const CallPtr& call) {
  const auto request = pause_request(call->request, kOfPause);
  if (!request) return call->refuse(request.error());
  if (const auto wrong = wrong_end(request->pause.until, now(parts.clock))) return call->refuse(*wrong);
  parts.on_loop([&parts, call, request = *request] {
    parts.operations.pause(call->names.front(), request.pause, request.from,
                           [&parts, call](const Status& paused) { answer_with_pause(parts, call, paused); });
  });
}

void resume(Parts& parts, const CallPtr& call) {
  const auto request = pause_request(call->request, kOfResume);
  if (!request) return call->refuse(request.error());
  parts.on_loop([&parts, call, request = *request] {
    parts.operations.resume(call->names.front(), request.pause.skip_missed, request.from,
                            [&parts, call](const Status& resumed) { answer_with_pause(parts, call, resumed); });
  });
}

// Many jobs at once. Each is a request of its own to the scheduler, which writes those that wait in batches, so that a
// repetition of the whole is as harmless as that of one.
struct Bulk {
  CallPtr call;
  bool is_over = false;  // the pause ends
  std::vector<std::string> names = {};
  PauseRequest request = {};
  std::size_t at = 0;                     // the next to be asked for
  std::vector<std::string> answers = {};  // of each name, as JSON
  std::size_t answered = 0;
};

constexpr std::size_t kMostBulkJobs = 1000;
constexpr std::size_t kMostBulkBody = std::size_t{1} << 20;  // as many names of the greatest length
constexpr std::size_t kAskedAtOnce = 128;                    // of one turn of the loop

std::vector<std::string> names_in(Fields& fields) {
  std::vector<std::string> names;
  const Node* jobs = fields.find("jobs");
  const auto* list = jobs == nullptr ? nullptr : jobs->as<Node::List>();
  if (list == nullptr || list->empty() || list->size() > kMostBulkJobs) {
    fields.report("jobs", "is a list of 1 to " + std::to_string(kMostBulkJobs) + " names");
    return names;
  }
  for (const Node& item : *list) {
    const auto* name = item.as<std::string>();
    if (name == nullptr) {
      fields.report("jobs", "a name is a text, not " + std::string(kind_of(item)));
      return names;
    }
    names.push_back(*name);
  }
  return names;
}

Result<Bulk> bulk_of(const CallPtr& call, std::span<const std::string_view> known) {
  const auto document = object_in(call->request.body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  std::vector<std::string_view> all(known.begin(), known.end());
  all.emplace_back("jobs");
  fields.reject_unknown(all);
  Bulk bulk{.call = call, .names = names_in(fields)};
  read_pause(fields, bulk.request);
  if (!errors.empty()) return fail(errors.front());
  bulk.request.from.by = asker_name(call->request.principal);
  bulk.answers.resize(bulk.names.size());
  return bulk;
}

void answer_all(const Bulk& bulk) {
  std::string text = "{\"jobs\":[";
  for (const std::string& answer : bulk.answers) text += (text.back() == '[' ? "" : ",") + answer;
  bulk.call->send_json(text + "]}");
}

void answer_one(Parts& parts, Bulk& bulk, std::size_t place, const Status& changed) {
  const std::string& name = bulk.names[place];
  const auto view = changed ? parts.scheduler.view(name) : std::nullopt;
  JsonWriter json;
  json.begin_map();
  if (view) {
    write_changed(json, *view, now(parts.clock));
  } else {
    const Error why = changed ? no_such_job(name) : changed.error();
    json.member("identity", name).key("problem").document(http::problem(why).body);
  }
  bulk.answers[place] = json.end_map().take();
  if (++bulk.answered == bulk.names.size()) answer_all(bulk);
}

void ask_for_some(Parts& parts, const std::shared_ptr<Bulk>& bulk) {
  parts.on_loop([&parts, bulk] {
    const std::size_t end = std::min(bulk->at + kAskedAtOnce, bulk->names.size());
    for (; bulk->at < end; ++bulk->at) {
      const auto done = [&parts, bulk, place = bulk->at](const Status& changed) {
        answer_one(parts, *bulk, place, changed);
      };
      const PauseRequest& request = bulk->request;
      if (bulk->is_over) {
        parts.operations.resume(bulk->names[bulk->at], request.pause.skip_missed, request.from, done);
      } else {
        parts.operations.pause(bulk->names[bulk->at], request.pause, request.from, done);
      }
    }
    if (end < bulk->names.size()) ask_for_some(parts, bulk);
  });
}

void pause_many(Parts& parts, const CallPtr& call) {
  auto bulk = bulk_of(call, kOfPause);
  if (!bulk) return call->refuse(bulk.error());
  if (const auto wrong = wrong_end(bulk->request.pause.until, now(parts.clock))) return call->refuse(*wrong);
  ask_for_some(parts, std::make_shared<Bulk>(*std::move(bulk)));
}

void resume_many(Parts& parts, const CallPtr& call) {
  auto bulk = bulk_of(call, kOfResume);
  if (!bulk) return call->refuse(bulk.error());
  bulk->is_over = true;
  ask_for_some(parts, std::make_shared<Bulk>(*std::move(bulk)));
}

}  // namespace

std::vector<Route> pause_routes(Parts& parts) {
  return {
      {"POST", "/api/v1/jobs/pause", Right::operate, with(parts, pause_many), {}, kMostBulkBody},
      {"POST", "/api/v1/jobs/resume", Right::operate, with(parts, resume_many), {}, kMostBulkBody},
      {"POST", "/api/v1/jobs/{name}/pause", Right::operate, with(parts, pause)},
      {"POST", "/api/v1/jobs/{name}/resume", Right::operate, with(parts, resume)},
  };
}

}  // namespace kron::api
