#include <charconv>
#include <memory>
#include <unistd.h>
#include <utility>

#include "kron/api/job_files_json.h"
#include "kron/api/json_values.h"
#include "kron/api/paths.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/load_profile.h"

namespace kron::api {
namespace {

// More than this is asked of `kron simulate`, which has the memory of a process of its own.
constexpr std::size_t kMostLoadJobs = 200'000;

using Changes = std::optional<std::vector<FileChange>>;

std::string why_cut_off(const DaemonStatus& status) { return status.cluster ? status.cluster->why_not_ready : ""; }

std::string status_json(const DaemonStatus& status, Instant now, const Result<TaskSummary>& tasks, std::size_t streams,
                        const Changes& changes) {
  JsonWriter json;
  json.begin_map().member("version", status.version).key("pid").integer(::getpid());
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
    parts.tasks.summary([&parts, call, looks, status = parts.status()](const Result<TaskSummary>& tasks) {
      const auto answer = [&parts, call, status, tasks](const Changes& changes) {
        call->send_json(status_json(status, now(parts.clock), tasks, parts.events.streams(), changes));
      };
      // Only who asks for the changes waits for the disk, and for what else takes its time.
      const bool is_asked = looks && status.job_files.changes;
      if (!is_asked || !parts.aside([answer, status] { answer(status.job_files.changes()); })) answer({});
    });
  });
}

std::string reload_json(const ReloadReport& report) {
  JsonWriter json;
  json.begin_map().key("jobs").integer(number(report.jobs)).key("keptFiles").begin_list();
  for (const std::string& path : report.kept_files) json.text(path);
  json.end_list().key("problems").begin_list();
  for (const jobs::Problem& problem : report.problems) {
    json.begin_map().member("file", problem.file).key("line").integer(number(problem.at.line));
    json.key("column").integer(number(problem.at.column)).member("severity", name_of(problem.severity));
    if (!problem.field.empty()) json.member("field", problem.field);
    json.member("message", problem.message + (problem.cure.empty() ? "" : "; " + problem.cure)).end_map();
  }
  return json.end_list().end_map().take();
}

void reload(Parts& parts, const CallPtr& call) {
  parts.on_loop([&parts, call] {
    parts.reload([call](const Result<ReloadReport>& report) {
      if (!report) return call->refuse(report.error());
      call->send_json(reload_json(*report));
    });
  });
}

// The definitions of all jobs, gathered a stretch in each turn of the loop.
struct Gathering {
  CallPtr call;
  LoadQuestion question;
  std::vector<jobs::JobDefinition> definitions = {};
  std::size_t at = 0;
};

void answer_load(Parts& parts, const std::shared_ptr<Gathering>& gathering) {
  const bool taken = parts.aside([gathering] {
    const auto profile = load_profile(gathering->definitions, gathering->question);
    if (!profile) return gathering->call->refuse(profile.error());
    gathering->call->send_json(load_profile_json(*profile, gathering->definitions));
  });
  if (!taken) gathering->call->refuse(too_busy());
}

void gather(Parts& parts, const std::shared_ptr<Gathering>& gathering) {
  parts.on_loop([&parts, gathering] {
    auto found =
        parts.scheduler.views({.first = gathering->at, .most_views = kLooksAtOnce, .most_looks = kLooksAtOnce});
    for (auto& view : found.views) gathering->definitions.push_back(std::move(view.definition));
    if (gathering->definitions.size() > kMostLoadJobs) {
      return gathering->call->refuse(
          {Code::refused, "there are more than 200,000 jobs; `kron simulate` on their files answers the same"});
    }
    if (!found.next) return answer_load(parts, gathering);
    gathering->at = *found.next;
    gather(parts, gathering);
  });
}

void load(Parts& parts, const CallPtr& call) {
  const auto from = time_parameter(call->request, "from");
  if (!from) return call->refuse(from.error());
  const auto length = duration_parameter(call->request, "for");
  if (!length) return call->refuse(length.error());
  const auto step = duration_parameter(call->request, "step");
  if (!step) return call->refuse(step.error());
  LoadQuestion question;
  question.from = from->value_or(std::chrono::floor<std::chrono::minutes>(now(parts.clock)));
  question.length = length->value_or(question.length);
  question.step = step->value_or(question.step);
  gather(parts, std::make_shared<Gathering>(Gathering{call, question}));
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
  http::Response head{.content_type = "text/event-stream", .headers = {{"Cache-Control", "no-store"}}};
  if (call->request.method == "HEAD") return call->send(std::move(head));
  const auto stream = std::make_shared<std::weak_ptr<http::Stream>>();
  call->on_gone([&parts, stream] {
    if (const auto gone = stream->lock()) parts.events.leave(gone);
  });
  // With this id a reader who has seen no event yet goes on, when the stream breaks, from where it began.
  const std::uint64_t last = parts.events.last_id();
  head.headers.emplace_back("Last-Event-ID", std::to_string(last));
  const std::shared_ptr<http::Stream> begun = call->begin(std::move(head));
  if (!begun) return;
  *stream = begun;
  parts.events.subscribe(begun, after->value_or(last));
}

http::Response text_response(int status, std::string text) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .headers = {}, .body = std::move(text) + "\n"};
}

// A loop that hangs answers nothing: whoever asks has a timeout of his own, and that is the answer.
void healthz(Parts& parts, const CallPtr& call) {
  parts.on_loop([call] { call->send(text_response(200, "ok")); });
}

std::string why_not_ready(const DaemonStatus& status) {
  if (status.broken) return status.broken->message;
  if (status.is_stopping) return "about to end";
  if (std::string why = why_cut_off(status); !why.empty()) return why;
  return status.is_ready ? why_no_job(status) : "the jobs are not loaded yet";
}

void readyz(Parts& parts, const CallPtr& call) {
  parts.on_loop([&parts, call] {
    const std::string why_not = why_not_ready(parts.status());
    call->send(why_not.empty() ? text_response(200, "ready") : text_response(503, why_not));
  });
}

metrics::ClusterLevels cluster_levels_of(const ClusterStatus& cluster) {
  metrics::ClusterLevels levels{.link_up = cluster.link_up,
                                .reconnects = cluster.reconnects,
                                .lost_writes = cluster.lost_writes,
                                .clock_offset = cluster.clock_offset,
                                .answers = cluster.answers};
  for (const ClusterStatus::Host& host : cluster.hosts) levels.host_runs.emplace_back(host.instance, host.runs);
  return levels;
}

metrics::Levels levels_of(const DaemonStatus& status, const Result<TaskSummary>& tasks, std::size_t streams) {
  metrics::Levels levels{.ready = why_not_ready(status).empty(),
                         .jobs = status.jobs,
                         .running = status.running,
                         .next_due = status.next_due,
                         .event_streams = streams};
  if (status.cluster) {
    levels.cluster = cluster_levels_of(*status.cluster);
    levels.has_shared_tasks = !status.cluster->tasks_in_files;
  }
  if (!tasks) return levels;
  for (const TaskSummary::OfType& of : tasks->types) {
    levels.tasks.push_back({std::string(name_of(of.state)), of.type, of.count});
  }
  for (const TaskSummary::OfType& of : tasks->ended) {
    levels.tasks_ended.push_back({std::string(name_of(of.state)), of.type, of.count});
  }
  for (const TaskSummary::OfType& of : tasks->cancelled) {
    levels.tasks_ended.push_back({"cancelled", of.type, of.count});
  }
  levels.oldest_pending_task = tasks->oldest_pending;
  return levels;
}

void scrape(Parts& parts, const CallPtr& call) {
  parts.on_loop([&parts, call] {
    parts.tasks.summary([&parts, call, status = parts.status()](const Result<TaskSummary>& tasks) {
      const metrics::Levels levels = levels_of(status, tasks, parts.events.streams());
      call->send({.content_type = std::string(metrics::kContentType), .body = parts.metrics.text(levels)});
    });
  });
}

void openapi(Parts&, const CallPtr& call) { call->send_json(std::string(openapi_document())); }

}  // namespace

Error too_busy() {
  return {Code::unreachable, "too many requests that take their time are waiting already; ask again in a moment"};
}

std::vector<Route> host_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/status", Right::read, with(parts, status), {"changes"}},
      {"GET", "/api/v1/load", Right::read, with(parts, load), {"from", "for", "step"}},
      {"POST", "/api/v1/reload", Right::operate, with(parts, reload)},
      {"GET", "/api/v1/events", Right::read, with(parts, events), {"after"}},
      {"GET", "/api/v1/openapi.json", Right::read, with(parts, openapi)},
      {"GET", "/metrics", Right::read, with(parts, scrape)},
      {"GET", "/healthz", Right::read, with(parts, healthz)},
      {"GET", "/readyz", Right::read, with(parts, readyz)},
  };
}

}  // namespace kron::api
