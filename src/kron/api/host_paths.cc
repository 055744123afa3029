#include <charconv>
#include <memory>
#include <unistd.h>
#include <utility>

#include "kron/api/attribution.h"
#include "kron/api/job_files_json.h"
#include "kron/api/json_values.h"
#include "kron/api/paths.h"
#include "kron/base/rfc3339.h"

namespace kron::api {
namespace {

using Changes = std::optional<std::vector<FileChange>>;

std::string why_cut_off(const DaemonStatus& status) { return status.cluster ? status.cluster->why_not_ready : ""; }

// Who asks, and what he may do.
void write_you(JsonWriter& json, const http::Principal& principal) {
  json.key("you").begin_map().member("name", principal.name).member("role", name_of(right_of(principal))).end_map();
}

// Where and what krond is.
void write_place(JsonWriter& json, const DaemonStatus& status, std::uint64_t generation) {
  json.member("host", status.host).key("zone");
  if (status.zone.empty()) {
    json.null();
  } else {
    json.text(status.zone);
  }
  json.key("generation").integer(static_cast<std::int64_t>(generation));
}

struct Asked {
  http::Principal by;
  std::uint64_t generation = 0;  // of the jobs
};

// What is limited, and how much of it is taken.
void write_slots(JsonWriter& json, const std::vector<Scheduler::SlotUse>& slots) {
  if (slots.empty()) return;
  json.key("slots").begin_list();
  for (const auto& [use, longest] : slots) {
    json.begin_map();
    if (!use.pool.empty()) json.member("pool", use.pool);
    json.key("slots").integer(number(use.slots)).key("used").integer(number(use.used));
    json.key("waiting").integer(number(use.waiting));
    if (use.longest_since) json.member("waitingSince", rfc3339(*use.longest_since)).member("longest", longest);
    json.end_map();
  }
  json.end_list();
}

std::string status_json(const DaemonStatus& status, const Asked& asked, Instant now, const Result<TaskSummary>& tasks,
                        std::size_t streams, const Changes& changes) {
  JsonWriter json;
  json.begin_map().member("version", status.version).key("pid").integer(::getpid());
  write_place(json, status, asked.generation);
  write_you(json, asked.by);
  json.member("startedAt", rfc3339(status.started_at)).member("now", rfc3339(now));
  json.key("clockOffsetSeconds").real(std::chrono::duration<double>(status.clock_offset).count());
  const bool is_ready = status.is_ready && !status.broken && why_no_job(status).empty() && why_cut_off(status).empty();
  json.key("ready").boolean(is_ready).key("stopping").boolean(status.is_stopping);
  json.key("jobs").integer(number(status.jobs)).key("running").integer(number(status.running));
  json.key("nextDue");
  if (status.next_due) {
    json.text(rfc3339(*status.next_due));
  } else {
    json.null();
  }
  json.member("stateDirectory", status.state_directory).key("config").begin_list();
  for (const std::string& path : status.config) json.text(path);
  json.end_list().member("socket", status.socket).key("notScheduled").begin_list();
  for (const auto& [identity, reason] : status.not_scheduled) {
    json.begin_map().member("identity", identity).member("reason", reason).end_map();
  }
  json.end_list().key("tasks");
  if (tasks) {
    json.begin_map().key("pending").integer(number(tasks->counts.pending));
    json.key("running").integer(number(tasks->counts.running)).end_map();
    if (tasks->problem) json.member("tasksProblem", tasks->problem->message);
  } else {
    json.null().member("tasksProblem", tasks.error().message);
  }
  json.key("eventStreams").integer(number(streams));
  write_job_files(json, status.job_files, changes);
  write_slots(json, status.slots);
  if (status.max_running != 0) json.key("maxRunning").integer(number(status.max_running));
  if (status.catch_up_spread > Seconds(0)) json.key("catchUpSpreadSeconds").integer(status.catch_up_spread.count());
  if (status.cluster) {
    json.key("cluster");
    write(json, *status.cluster);
  }
  return json.end_map().take();
}

void status(Parts& parts, const CallPtr& call) {
  const auto looks = word_parameter(call->request, "changes", {"true", "false"});
  if (!looks) return call->refuse(looks.error());
  parts.on_loop([&parts, call, looks = *looks == "true"] {
    const Asked asked{call->request.principal, parts.scheduler.generation()};
    parts.tasks.summary([&parts, call, asked, looks, status = parts.status()](const Result<TaskSummary>& tasks) {
      const auto answer = [&parts, call, asked, status, tasks](const Changes& changes) {
        call->send_json(status_json(status, asked, now(parts.clock), tasks, parts.events.streams(), changes));
      };
      // Only who asks for the changes waits for the disk, and for what else takes its time.
      const bool is_asked = looks && status.job_files.changes;
      if (!is_asked || !parts.aside([answer, status] { answer(status.job_files.changes()); })) answer({});
    });
  });
}

Result<std::optional<std::uint64_t>> last_event(const http::Request& request) {
  auto text = request.header("last-event-id");
  if (!text) text = request.parameter("after");
  if (!text) return std::optional<std::uint64_t>();
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), id);
  if (error == std::errc() && end == text->data() + text->size()) return std::optional(id);
  return fail(Code::invalid, "Last-Event-ID is the number of an event, as it came with it", "Last-Event-ID");
}

void events(Parts& parts, const CallPtr& call) {
  const auto after = last_event(call->request);
  if (!after) return call->refuse(after.error());
  const auto fields = word_parameter(call->request, "fields", {"all", "brief"});
  if (!fields) return call->refuse(fields.error());
  const auto form = *fields == "brief" ? EventHub::Form::brief : EventHub::Form::full;
  // A proxy that gathers an answer before it passes it on would keep all of it.
  http::Response head{.content_type = "text/event-stream",
                      .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}};
  // With this id a reader who has seen no event yet goes on, when the stream breaks, from where it began.
  const std::uint64_t last = parts.events.last_id();
  head.headers.emplace_back("Last-Event-ID", std::to_string(last));
  if (call->request.method == "HEAD") {
    // For a front that holds one stream for all readers of a role.
    head.headers.emplace_back("Kron-Role", name_of(right_of(call->request.principal)));
    return call->send(std::move(head));
  }
  const auto stream = std::make_shared<std::weak_ptr<http::Stream>>();
  call->on_gone([&parts, stream] {
    if (const auto gone = stream->lock()) parts.events.leave(gone);
  });
  const std::shared_ptr<http::Stream> begun = call->begin(std::move(head));
  if (!begun) return;
  *stream = begun;
  parts.events.subscribe(begun, after->value_or(last), form);
  parts.on_loop([] {});  // which sees to its beats from now on
}

http::Response text_response(int status, std::string text) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .headers = {}, .body = std::move(text) + "\n"};
}

// A loop that hangs answers nothing: whoever asks has a timeout of his own, and that is the answer.
void healthz(Parts& parts, const CallPtr& call) {
  parts.on_loop([call] { call->send(text_response(200, "ok")); });
}

void readyz(Parts& parts, const CallPtr& call) {
  parts.on_loop([&parts, call] {
    std::string why_not = why_not_ready(parts.status());
    const bool may_know = right_of(call->request.principal) >= Right::read;
    if (!why_not.empty() && !may_know) why_not = "not ready";
    call->send(why_not.empty() ? text_response(200, "ready") : text_response(503, why_not));
  });
}

void openapi(Parts&, const CallPtr& call) { call->send_json(std::string(openapi_document())); }

}  // namespace

std::string why_not_ready(const DaemonStatus& status) {
  if (status.broken) return status.broken->message;
  if (status.is_stopping) return "about to end";
  if (std::string why = why_cut_off(status); !why.empty()) return why;
  return status.is_ready ? why_no_job(status) : "the jobs are not loaded yet";
}

Error too_busy() {
  return {Code::unreachable, "too many requests that take their time are waiting already; ask again in a moment"};
}

std::vector<Route> host_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/status", Right::read, with(parts, status), {"changes"}},
      {"GET", "/api/v1/events", Right::read, with(parts, events), {"after", "fields"}},
      {"GET", "/api/v1/openapi.json", Right::read, with(parts, openapi)},
      {"GET", "/healthz", Right::none, with(parts, healthz)},
      {"GET", "/readyz", Right::none, with(parts, readyz)},
  };
}

}  // namespace kron::api
