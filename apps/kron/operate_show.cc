#include <cstdio>

#include "answer_text.h"
#include "daemon_client.h"
#include "definition_text.h"
#include "flag_values.h"
#include "id_prefix.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "named.h"
#include "operate_verbs.h"

namespace kron::cli {
namespace {

void print_active(const Node& run, const ScreenTimes& times) {
  const std::string period = text_in(run, "periodId");
  const std::string task = text_in(run, "taskId");
  print_field("running", text_in(run, "runId") + " since " + times.near(text_in(run, "startedAt")) +
                             (run.find("pid") != nullptr ? ", PID " + text_in(run, "pid") : "") +
                             (task.empty() ? "" : ", task " + task) +
                             (period.empty() ? "" : ", period " + times.at(period)));
}

void print_job(const Node& job, const ScreenTimes& times) {
  print_field("job", text_in(job, "identity"));
  print_field("description", text_in(job, "description"));
  print_field("schedule", text_in(job, "schedule") + " in " + text_in(job, "timezone"));
  print_field("command", text_in(job, "command"));
  print_field("task", text_in(job, "task"));
  if (const Node* definition = job.find("definition"); definition != nullptr && !definition->is_null()) {
    print_definition(*definition);
  }
  const std::string line = text_in(job, "line");
  print_field("file", text_in(job, "file") + (line == "0" ? "" : ":" + line));  // a job of a cluster stands in none
  if (flag_in(job, "suspended")) print_field("suspended", "by its definition");
  if (const Node* waiting = job.find("waiting")) {
    const std::string since = text_in(*waiting, "since");
    const std::string period = text_in(*waiting, "periodId");
    print_field("waits", "for " + awaited_by(*waiting) + (since.empty() ? "" : " since " + times.near(since)) +
                             (period.empty() ? "" : ", period " + times.at(period)));
  }
  if (const Node* paused = job.find("paused"); paused != nullptr && !paused->is_null()) {
    const std::string since = text_in(*paused, "since");
    const std::string until = text_in(*paused, "until");
    const std::string by = text_in(*paused, "by");
    const std::string note = text_in(*paused, "note");
    // A cluster keeps none of it.
    print_field("paused", since.empty()
                              ? "until it is resumed"
                              : "since " + times.near(since) + (until.empty() ? "" : ", until " + times.near(until)) +
                                    (by.empty() ? "" : ", by " + by) + (note.empty() ? "" : ": " + note));
  }
  if (const Node* next = job.find("next"); next != nullptr && !next->is_null()) {
    print_field("next", times.near(text_in(*next, "startsAt")) + ", period " + times.at(text_in(*next, "periodId")));
  }
  for (const Node& run : list_in(job, "active")) print_active(run, times);
  if (const Node* last = job.find("last"); last != nullptr && !last->is_null()) {
    const std::string host = text_in(*last, "host");
    print_field("last", result_of(*last) + ", " + times.near(time_of(*last)) + (host.empty() ? "" : " on " + host) +
                            "  " + text_in(*last, "runId"));
  }
  print_field("last period", times.at(text_in(job, "lastPeriodId")));
  for (const Node& period : list_in(job, "openPeriods")) {
    if (const auto* text = period.as<std::string>()) print_field("open period", times.at(*text));
  }
}

}  // namespace

Result<Named> find_named(DaemonClient& client, const std::string& name) {
  auto job = client.get(Target("jobs").segment(name));
  if (job) return Named{Named::Kind::job, *std::move(job)};
  if (job.error().code != Code::not_found) return fail(job.error());
  auto run = client.get(Target("runs").segment(name));
  if (run) return Named{Named::Kind::run, *std::move(run)};
  // What is no run id at all is meant as a job.
  if (run.error().code == Code::invalid) return fail(job.error());
  if (run.error().code != Code::not_found) return fail(run.error());
  const auto whole = run_id_of(client, name);
  if (!whole) return fail(whole.error());
  if (*whole != name) {
    run = client.get(Target("runs").segment(*whole));
    if (!run) return fail(run.error());
    return Named{Named::Kind::run, *std::move(run)};
  }
  return fail(Code::not_found,
              "there is neither a job nor a run " + quoted(name, 200) + "; see `kron jobs` and `kron runs`");
}

int show_one(const NameOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("show", client.error(), options.json);
  const auto found = find_named(*client, options.name);
  if (!found) return refuse("show", found.error(), options.json);
  const bool is_job = found->kind == Named::Kind::job;
  return answered("show", options.json, found->body,
                  [&](const Node& answer) { (is_job ? print_job : print_run)(answer, screen_times(options.times)); });
}

}  // namespace kron::cli
