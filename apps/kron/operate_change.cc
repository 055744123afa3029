#include <algorithm>
#include <cstdio>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/env/random_hex.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "operate_verbs.h"
#include "run_end.h"

namespace kron::cli {
namespace {

int status_of(const Node& run) { return text_in(run, "exitCode") == "0" ? 0 : exit_status(Code::invalid); }

// Prints how a run ended; 0 only when it succeeded.
int tell_end(std::string_view verb, bool json, const Result<std::string>& body) {
  const int printed = answered(verb, json, body, print_run);
  if (printed != 0) return printed;
  const auto run = parsed_answer(*body);
  return run ? status_of(*run) : exit_status(run.error().code);
}

// How long to wait, as --timeout says; none: for ever.
Result<std::optional<Nanoseconds>> limit_of(const std::string& timeout) {
  if (timeout.empty()) return std::optional<Nanoseconds>();
  const auto parsed = parse_duration(timeout);
  if (!parsed) return about_flag(parsed.error(), "--timeout");
  return std::optional(*parsed);
}

Result<Instant> present_of(DaemonClient& client) {
  const auto body = client.get(Target("status"));
  if (!body) return fail(body.error());
  const auto status = parsed_answer(*body);
  if (!status) return fail(status.error());
  return parse_rfc3339(text_in(*status, "now"));
}

// Until when, as the API wants it; empty: for good. A duration counts on krond's clock, which a drill may have shifted.
Result<std::string> until_of(DaemonClient& client, const PauseOptions& options) {
  if (!options.until.empty()) {
    const auto until = time_flag(options.until, "--until");
    if (!until) return fail(until.error());
    return rfc3339(*until);
  }
  if (options.duration.empty()) return std::string();
  const auto duration = parse_whole_seconds(options.duration);
  if (!duration) return about_flag(duration.error(), "--for");
  const auto now = present_of(client);
  if (!now) return fail(now.error());
  return rfc3339(*now + *duration);
}

void print_paused(const Node& answer) {
  const Node* paused = answer.find("paused");
  const std::string name = harmless(text_in(answer, "identity"));
  if (paused == nullptr || paused->is_null()) {
    const Node* start = answer.find("startsNow");
    const bool starts = start != nullptr && !start->is_null();
    std::printf("resumed %s%s\n", name.c_str(),
                starts ? ("; its period " + text_in(*start, "periodId") + ", due at " + text_in(*start, "chosenTime") +
                          ", starts now, at " + text_in(*start, "startsAt"))
                             .c_str()
                       : "");
    return;
  }
  const std::string until = text_in(*paused, "until");
  const Node* skips = paused->find("skipMissed");
  std::printf("paused %s%s%s\n", name.c_str(), until.empty() ? "" : (" until " + until).c_str(),
              skips != nullptr ? "; what becomes due meanwhile will be skipped" : "");
}

int change_all(DaemonClient& client, const PauseOptions& options, const char* verb, const std::string& body) {
  int worst = 0;
  for (const std::string& name : options.names) {
    const auto answer = client.post(Target("jobs").segment(name).segment(verb), body);
    worst = std::max(worst, answered(verb, options.json, answer, print_paused));
  }
  return worst;
}

}  // namespace

int trigger_job(const TriggerOptions& options) {
  const auto limit = limit_of(options.timeout);
  if (!limit) return refuse("trigger", limit.error(), options.json);
  auto client = DaemonClient::open(options);
  if (!client) return refuse("trigger", client.error(), options.json);
  const auto krond = options.wait ? krond_of(*client) : std::string();
  if (!krond) return refuse("trigger", krond.error(), options.json);
  const std::string key = options.key.empty() ? "kron-" + random_hex() : options.key;
  const auto body =
      client->post_until_answered(Target("jobs").segment(options.name).segment("trigger"), {{"Idempotency-Key", key}});
  if (!options.wait || !body) {
    return answered("trigger", options.json, body, [](const Node& answer) {
      std::printf("%s %s\n", text_in(answer, "outcome").c_str(), text_in(answer, "runId").c_str());
    });
  }
  const auto answer = parsed_answer(*body);
  if (!answer) return refuse("trigger", answer.error(), options.json);
  const auto run = run_at_its_end(client->path(), {text_in(*answer, "runId"), *krond}, *limit);
  return tell_end("trigger", options.json, run);
}

int wait_for_end(const WaitOptions& options) {
  const auto limit = limit_of(options.timeout);
  if (!limit) return refuse("wait", limit.error(), options.json);
  const auto path = socket_path(options.socket, options.state_dir);
  if (!path) return refuse("wait", path.error(), options.json);
  return tell_end("wait", options.json, run_at_its_end(*path, {options.name}, *limit));
}

int pause_jobs(const PauseOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("pause", client.error(), options.json);
  const auto until = until_of(*client, options);
  if (!until) return refuse("pause", until.error(), options.json);
  JsonWriter body;
  body.begin_map();
  if (!until->empty()) body.member("until", *until);
  if (options.skip_missed) body.key("skipMissed").boolean(true);
  return change_all(*client, options, "pause", body.end_map().take());
}

int resume_jobs(const PauseOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("resume", client.error(), options.json);
  return change_all(*client, options, "resume", options.skip_missed ? R"({"skipMissed":true})" : "");
}

int kill_run(const KillOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("kill", client.error(), options.json);
  const auto body = client->post(Target("runs").segment(options.name).segment(options.gently ? "terminate" : "kill"));
  return answered("kill", options.json, body, [](const Node& answer) {
    std::printf("sent %s to %s\n", text_in(answer, "signal").c_str(), text_in(answer, "runId").c_str());
  });
}

}  // namespace kron::cli
