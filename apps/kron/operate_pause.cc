#include <algorithm>
#include <cstdio>
#include <span>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/http/message.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "operate_verbs.h"

// `kron pause` and `kron resume`.
namespace kron::cli {
namespace {

constexpr std::size_t kMostInARequest = 1000;  // as the API takes them

Result<Instant> present_of(DaemonClient& client) {
  const auto body = client.get(Target("status"));
  if (!body) return fail(body.error());
  const auto status = parsed_answer(*body);
  if (!status) return fail(status.error());
  return parse_rfc3339(text_in(*status, "now"));
}

// Until when, as the API wants it; empty: for good. A duration counts on krond's clock, which a drill may have shifted.
Result<std::string> until_of(DaemonClient& client, const PauseOptions& options) {
  if (options.until.empty() && options.duration.empty()) return std::string();
  const auto duration = options.duration.empty() ? Seconds(0) : parse_whole_seconds(options.duration);
  if (!duration) return about_flag(duration.error(), "--for");
  if (const auto until = time_flag(options.until, "--until"); !until) return fail(until.error());
  const auto now = present_of(client);
  if (!now) return fail(now.error());
  if (options.until.empty()) return rfc3339(*now + *duration);
  const auto until = time_flag(options.until, "--until", *now);
  if (!until) return fail(until.error());
  return rfc3339(*until);
}

void print_paused(const Node& answer, const ScreenTimes& times) {
  const Node* paused = answer.find("paused");
  const std::string name = harmless(text_in(answer, "identity"));
  if (paused == nullptr || paused->is_null()) {
    const Node* start = answer.find("startsNow");
    const bool starts = start != nullptr && !start->is_null();
    std::printf(
        "resumed %s%s\n", name.c_str(),
        starts ? ("; its period " + times.at(text_in(*start, "periodId")) + ", due at " +
                  times.at(text_in(*start, "chosenTime")) + ", starts now, at " + times.at(text_in(*start, "startsAt")))
                     .c_str()
               : "");
    return;
  }
  const std::string until = text_in(*paused, "until");
  const Node* skips = paused->find("skipMissed");
  std::printf("paused %s%s%s\n", name.c_str(), until.empty() ? "" : (" until " + times.near(until)).c_str(),
              skips != nullptr ? "; what becomes due meanwhile will be skipped" : "");
}

// What a request says beside the names: the members of its body.
void write_terms(JsonWriter& body, const PauseOptions& options, const std::string& until) {
  if (!until.empty()) body.member("until", until);
  if (options.skip_missed) body.key("skipMissed").boolean(true);
  if (!options.note.empty()) body.member("note", options.note);
}

Result<std::vector<std::string>> names_with(DaemonClient& client, const std::string& prefix) {
  std::vector<std::string> names;
  std::string after;
  do {
    const auto body =
        client.get(Target("jobs").parameter("limit", "1000").parameter("prefix", prefix).parameter("after", after));
    if (!body) return fail(body.error());
    const auto page = parsed_answer(*body);
    if (!page) return fail(page.error());
    for (const Node& job : list_in(*page, "jobs")) names.push_back(text_in(job, "identity"));
    after = text_in(*page, "next");
  } while (!after.empty());
  return names;
}

// The answer for one of many, as if it had been asked for alone.
int tell_one(std::string_view verb, const PauseOptions& options, const Node& answer) {
  JsonWriter text;
  if (const Node* problem = answer.find("problem")) {
    text.node(*problem);
    const int status = static_cast<int>(number_in(*problem, "status"));
    const http::Response response{.status = status, .content_type = "application/problem+json", .body = text.take()};
    return refuse(verb, http::error_in(response), options.json);
  }
  text.node(answer);
  return answered(verb, options.json, text.take(),
                  [&](const Node& paused) { print_paused(paused, screen_times(options.times)); });
}

int change_some(DaemonClient& client, const PauseOptions& options, const char* verb, const std::string& until,
                std::span<const std::string> names) {
  JsonWriter body;
  body.begin_map().key("jobs").begin_list();
  for (const std::string& name : names) body.text(name);
  body.end_list();
  write_terms(body, options, until);
  const auto answer = client.post(Target("jobs").segment(verb), body.end_map().take());
  if (!answer) return refuse(verb, answer.error(), options.json);
  const auto document = parsed_answer(*answer);
  if (!document) return refuse(verb, document.error(), options.json);
  int worst = 0;
  for (const Node& of_one : list_in(*document, "jobs")) {
    worst = std::max(worst, tell_one(verb, options, of_one));
  }
  return worst;
}

int change_one(DaemonClient& client, const PauseOptions& options, const char* verb, const std::string& until) {
  JsonWriter body;
  write_terms(body.begin_map(), options, until);
  const auto answer = client.post(Target("jobs").segment(options.names.front()).segment(verb), body.end_map().take());
  return answered(verb, options.json, answer,
                  [&](const Node& paused) { print_paused(paused, screen_times(options.times)); });
}

// A prefix may mean more than was thought of: first it is shown.
int show_what_would_change(const PauseOptions& options, const char* verb, const std::vector<std::string>& names) {
  if (options.json) {
    JsonWriter json;
    json.begin_map().key("would").begin_list();
    for (const std::string& name : names) json.text(name);
    std::printf("%s\n", json.end_list().end_map().take().c_str());
    return 0;
  }
  for (const std::string& name : names) std::printf("%s\n", harmless(name).c_str());
  std::printf("%zu %s; --yes %ss %s\n", names.size(), names.size() == 1 ? "job" : "jobs", verb,
              names.size() == 1 ? "it" : "them");
  return 0;
}

int change_all(DaemonClient& client, const PauseOptions& options, const char* verb, const std::string& until) {
  if (options.prefix.empty() && options.names.size() == 1) return change_one(client, options, verb, until);
  std::vector<std::string> names = options.names;
  if (!options.prefix.empty()) {
    auto found = names_with(client, options.prefix);
    if (!found) return refuse(verb, found.error(), options.json);
    if (found->empty()) {
      return refuse(verb, {Code::not_found, "no name of a job begins with " + kron::quoted(options.prefix)},
                    options.json);
    }
    names = *std::move(found);
    if (!options.yes) return show_what_would_change(options, verb, names);
  }
  int worst = 0;
  for (std::size_t at = 0; at < names.size(); at += kMostInARequest) {
    const std::size_t count = std::min(kMostInARequest, names.size() - at);
    worst = std::max(worst, change_some(client, options, verb, until, std::span(names).subspan(at, count)));
  }
  return worst;
}

}  // namespace

int pause_jobs(const PauseOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("pause", client.error(), options.json);
  const auto until = until_of(*client, options);
  if (!until) return refuse("pause", until.error(), options.json);
  return change_all(*client, options, "pause", *until);
}

int resume_jobs(const PauseOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("resume", client.error(), options.json);
  return change_all(*client, options, "resume", "");
}

}  // namespace kron::cli
