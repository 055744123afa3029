#include <cstdio>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "id_prefix.h"
#include "kron/base/duration.h"
#include "kron/env/random_hex.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "operate_verbs.h"
#include "run_end.h"

namespace kron::cli {
namespace {

int status_of(const Node& run) { return has_failed(run) ? exit_status(Code::invalid) : 0; }

// Prints how a run ended; 0 only when it succeeded.
int tell_end(std::string_view verb, const DaemonOptions& options, const Result<std::string>& body) {
  const int printed =
      answered(verb, options.json, body, [&](const Node& run) { print_run(run, screen_times(options.times)); });
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

// What is to be said about it, as the API wants it; empty: nothing.
std::string note_body(const std::string& note) {
  if (note.empty()) return {};
  JsonWriter body;
  return body.begin_map().member("note", note).end_map().take();
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
  const auto body = client->post_until_answered(Target("jobs").segment(options.name).segment("trigger"),
                                                {{"Idempotency-Key", key}}, note_body(options.note));
  if (!options.wait || !body) {
    return answered("trigger", options.json, body, [](const Node& answer) {
      std::printf("%s %s\n", text_in(answer, "outcome").c_str(), text_in(answer, "runId").c_str());
    });
  }
  const auto answer = parsed_answer(*body);
  if (!answer) return refuse("trigger", answer.error(), options.json);
  const auto run = run_at_its_end(client->place(), {text_in(*answer, "runId"), *krond}, *limit);
  return tell_end("trigger", options, run);
}

int wait_for_end(const WaitOptions& options) {
  const auto limit = limit_of(options.timeout);
  if (!limit) return refuse("wait", limit.error(), options.json);
  const auto place = krond_place(options);
  if (!place) return refuse("wait", place.error(), options.json);
  // A krond that is away is waited for, but only by a whole id.
  DaemonClient client(*place);
  const auto run_id = run_id_of(client, options.name);
  if (!run_id) return refuse("wait", run_id.error(), options.json);
  return tell_end("wait", options, run_at_its_end(*place, {*run_id}, *limit));
}

int kill_run(const KillOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("kill", client.error(), options.json);
  const auto run_id = run_id_of(*client, options.name);
  if (!run_id) return refuse("kill", run_id.error(), options.json);
  const auto body = client->post(Target("runs").segment(*run_id).segment(options.gently ? "terminate" : "kill"),
                                 note_body(options.note));
  return answered("kill", options.json, body, [](const Node& answer) {
    std::printf("sent %s to %s\n", text_in(answer, "signal").c_str(), text_in(answer, "runId").c_str());
  });
}

}  // namespace kron::cli
