#include <memory>
#include <utility>

#include "kron/api/attribution.h"
#include "kron/api/byte_range.h"
#include "kron/api/follow_others.h"
#include "kron/api/output_part.h"
#include "kron/api/paths.h"
#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/runner/output_reader.h"
#include "kron/runner/run_files.h"

namespace kron::api {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{256} << 10;
constexpr Nanoseconds kMostRunWait = Seconds(60);
// Of a run id; shorter ones would be those of half the history.
constexpr std::size_t kLeastIdPrefix = 4;
constexpr std::size_t kMostOfOthers = std::size_t{16} << 20;  // more than kron-exec captures

std::string retention_of(const Parts& parts) {
  // In days, as people give it; duration_text would make weeks of them.
  const auto days = std::chrono::duration_cast<std::chrono::days>(parts.keeps.age);
  const std::string age = days == parts.keeps.age ? std::to_string(days.count()) + "d" : duration_text(parts.keeps.age);
  return "krond removes runs and their output after " + age + " (--keep-runs)";
}

Error no_such_run(const Parts& parts, std::string_view run_id) {
  const std::string what = "there is no run " + quoted(run_id);
  return {Code::not_found, runner::is_run_id(run_id) ? what + "; " + retention_of(parts) : what};
}

}  // namespace

Error no_such_output(const Parts& parts, std::string_view run_id) {
  return {Code::not_found, "the output of run " + quoted(run_id) + " was removed; " + retention_of(parts) +
                               ", and keeps the newest " + std::to_string(parts.keeps.most) + " at most"};
}

namespace {

Result<history::Query> query_of(const http::Request& request) {
  history::Query query;
  query.job = text_parameter(request, "job");
  query.job_prefix = text_parameter(request, "prefix");
  query.run_prefix = text_parameter(request, "idPrefix");
  const bool asks_for_ids = request.parameter("idPrefix").has_value();
  if (asks_for_ids && (query.run_prefix.size() < kLeastIdPrefix || !runner::is_run_id(query.run_prefix))) {
    return fail(Code::invalid,
                "idPrefix: expected the first " + std::to_string(kLeastIdPrefix) + " or more characters of a run id",
                "idPrefix");
  }
  const auto limit = limit_parameter(request);
  if (!limit) return fail(limit.error());
  query.limit = *limit;
  const auto before = number_parameter(request, "before", 0, 0, INT64_MAX);
  if (!before) return fail(before.error());
  query.before = *before;
  query.order = history::Query::Order::time;
  const auto outcome =
      word_parameter(request, "outcome", {"executed", "skipped", "missed", "unschedulable", "passed over"});
  if (!outcome) return fail(outcome.error());
  if (*outcome) query.kind = *history::parse_kind(**outcome);
  const auto result = word_parameter(request, "result", {"running", "succeeded", "failed", "unknown"});
  if (!result) return fail(result.error());
  if (*result) query.result = *history::parse_run_result(**result);
  for (auto [name, time] : {std::pair("from", &query.from), std::pair("to", &query.to)}) {
    const auto given = time_parameter(request, name);
    if (!given) return fail(given.error());
    *time = *given;
  }
  return query;
}

void list_runs(Parts& parts, const CallPtr& call) {
  const auto query = query_of(call->request);
  if (!query) return call->refuse(query.error());
  parts.history.find(*query, [call, limit = query->limit](const Result<std::vector<history::Entry>>& found) {
    if (!found) return call->refuse(found.error());
    JsonWriter json;
    json.begin_map().key("runs").begin_list();
    for (const history::Entry& entry : *found) history::write(json, entry);
    json.end_list();
    if (found->size() == limit) json.key("next").integer(found->back().number);
    call->send_json(json.end_map().take());
  });
}

// Calls back with the run that the path names, on the history's thread, or refuses.
void with_run(Parts& parts, const CallPtr& call, std::function<void(const history::Entry&)> answer) {
  const std::string& run_id = call->names.front();
  if (!runner::is_run_id(run_id)) return call->refuse(no_such_run(parts, run_id));
  parts.history.get(run_id,
                    [&parts, call, answer = std::move(answer)](const Result<std::optional<history::Entry>>& found) {
                      if (!found) return call->refuse(found.error());
                      if (!*found) return call->refuse(no_such_run(parts, call->names.front()));
                      answer(**found);
                    });
}

// A run that was promised and then dropped has an outcome, and never ran.
bool has_ended(const history::Entry& entry) {
  return entry.ended_at.has_value() || history::kind_of(entry) != history::Kind::executed;
}

void answer_with_run(Parts& parts, const CallPtr& call) {
  with_run(parts, call, [call](const history::Entry& entry) { call->send_json(history::entry_json(entry)); });
}

bool is_elsewhere(const Parts& parts, const history::Entry& entry) {
  return parts.others.has_run && parts.others.has_run(entry);
}

// Asked on the loop, where runs end: no end comes between the look and the wait. That of another host's run may, and
// then who asks waits in vain, asks again, and is told.
void answer_at_end(Parts& parts, const CallPtr& call, Nanoseconds wait, bool is_others) {
  parts.on_loop([&parts, call, wait, is_others] {
    if (!is_others && !parts.scheduler.is_active(call->names.front())) return answer_with_run(parts, call);
    const OutputFollower::Ticket ticket = parts.outputs.new_ticket();
    call->on_gone([&parts, ticket] { parts.outputs.withdraw(ticket); });
    parts.outputs.await_end(ticket, call->names.front(), wait, [&parts, call] { answer_with_run(parts, call); });
  });
}

void get_run(Parts& parts, const CallPtr& call) {
  const auto wait = wait_parameter(call->request, "wait", kMostRunWait);
  if (!wait) return call->refuse(wait.error());
  with_run(parts, call, [&parts, call, wait = *wait](const history::Entry& entry) {
    if (wait == Nanoseconds(0) || has_ended(entry)) return call->send_json(history::entry_json(entry));
    answer_at_end(parts, call, wait, is_elsewhere(parts, entry));
  });
}

// An output on its way to one reader, a piece at a time.
struct Sending {
  runner::OutputReader output;
  std::uint64_t at = 0;
  std::uint64_t end = 0;
  std::shared_ptr<http::Stream> stream = {};
};

void send_next(Parts& parts, const std::shared_ptr<Sending>& sending) {
  const Result<std::string> piece =
      sending->output.read(sending->at, static_cast<std::size_t>(std::min(kPiece, sending->end - sending->at)));
  // A file that cannot be read to its end: the reader must not take what came for the whole.
  if (!piece || (piece->empty() && sending->at != sending->end)) return sending->stream->cut();
  sending->at += piece->size();
  if (!sending->stream->write(*piece)) return;
  if (sending->at == sending->end) return sending->stream->end();
  sending->stream->on_drained([&parts, sending] {
    if (!parts.aside([&parts, sending] { send_next(parts, sending); })) sending->stream->cut();
  });
}

void send_output(Parts& parts, const CallPtr& call, runner::OutputReader output, std::uint64_t size) {
  const ByteRange range = byte_range(call->request.header("range"), size);
  http::Response head{.content_type = "application/octet-stream", .headers = {{"Accept-Ranges", "bytes"}}};
  if (range.kind == ByteRange::Kind::none) {
    http::Response no = http::problem(416, "the output has " + std::to_string(size) + " bytes");
    no.headers.emplace_back("Content-Range", "bytes */" + std::to_string(size));
    return call->send(std::move(no));
  }
  if (range.kind == ByteRange::Kind::part) {
    head.status = 206;
    head.headers.emplace_back("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                                   std::to_string(range.end - 1) + "/" + std::to_string(size));
  }
  if (call->request.method == "HEAD") return call->send(std::move(head));
  auto sending = std::make_shared<Sending>(Sending{std::move(output), range.first, range.end});
  sending->stream = call->begin(std::move(head));
  if (!sending->stream) return;
  sending->stream->counts_as_whole();
  send_next(parts, sending);
}

void follow_output(Parts& parts, const CallPtr& call) {
  parts.on_loop([&parts, call] {
    const std::string& run_id = call->names.front();
    const bool has_ended = !parts.scheduler.is_active(run_id);
    auto stream = call->begin({.content_type = "application/octet-stream"});
    if (!stream) return;
    stream->counts_as_whole();
    parts.outputs.follow(run_id, std::move(stream), has_ended);
  });
}

void open_output(Parts& parts, const CallPtr& call, bool has_written) {
  auto output = runner::OutputReader::open(parts.run_files, call->names.front());
  if (!output && output.error().code == Code::not_found && !has_written) {
    return call->send({.content_type = "application/octet-stream"});
  }
  if (!output && output.error().code == Code::not_found) {
    return call->refuse(no_such_output(parts, call->names.front()));
  }
  if (!output) return call->refuse(output.error());
  const Result<std::uint64_t> size = output->size();
  if (!size) return call->refuse(size.error());
  send_output(parts, call, *std::move(output), *size);
}

// What the cluster keeps of it, as far as it has come.
void send_output_of_others(Parts& parts, const CallPtr& call) {
  std::string text;
  OtherHosts::Output output;
  do {
    Result<OtherHosts::Output> more = parts.others.output(call->names.front(), output.next);
    if (!more) return call->refuse(more.error());
    output = *std::move(more);
    text += output.text;
  } while (output.has_more && text.size() < kMostOfOthers);
  call->send({.content_type = "application/octet-stream", .body = std::move(text)});
}

void run_output(Parts& parts, const CallPtr& call) {
  const auto follow = word_parameter(call->request, "follow", {"true", "false"});
  if (!follow) return call->refuse(follow.error());
  const auto part = output_part(call->request);
  if (!part) return call->refuse(part.error());
  with_run(parts, call, [&parts, call, follows = *follow == "true", part = *part](const history::Entry& entry) {
    if (entry.run_id.empty()) return call->refuse(no_such_run(parts, call->names.front()));
    if (is_elsewhere(parts, entry)) {
      if (follows && call->request.method != "HEAD") return follow_output_of_others(parts, call);
      if (!parts.aside([&parts, call] { send_output_of_others(parts, call); })) call->refuse(too_busy());
      return;
    }
    if (part.is_asked()) return send_output_part(parts, call, part, follows && !entry.ended_at, entry.output_bytes > 0);
    if (follows && !entry.ended_at && call->request.method != "HEAD") return follow_output(parts, call);
    const bool taken =
        parts.aside([&parts, call, has_written = entry.output_bytes > 0] { open_output(parts, call, has_written); });
    if (!taken) call->refuse(too_busy());
  });
}

void answer_with_signal(const CallPtr& call, const Status& ended, std::string_view signal) {
  if (!ended) return call->refuse(ended.error());
  JsonWriter json;
  call->send_json(json.begin_map().member("runId", call->names.front()).member("signal", signal).end_map().take());
}

void terminate(Parts& parts, const CallPtr& call) {
  const auto from = attribution_of(call->request);
  if (!from) return call->refuse(from.error());
  parts.on_loop([&parts, call, from = *from] {
    parts.operations.terminate(call->names.front(), from,
                               [call](const Status& ended) { answer_with_signal(call, ended, "TERM"); });
  });
}

void kill(Parts& parts, const CallPtr& call) {
  const auto from = attribution_of(call->request);
  if (!from) return call->refuse(from.error());
  parts.on_loop([&parts, call, from = *from] {
    parts.operations.kill(call->names.front(), from,
                          [call](const Status& ended) { answer_with_signal(call, ended, "KILL"); });
  });
}

}  // namespace

std::vector<Route> run_routes(Parts& parts) {
  return {
      {"GET",
       "/api/v1/runs",
       Right::read,
       with(parts, list_runs),
       {"limit", "before", "job", "prefix", "outcome", "result", "from", "to", "idPrefix"}},
      {"GET", "/api/v1/runs/{id}", Right::read, with(parts, get_run), {"wait"}},
      {"GET", "/api/v1/runs/{id}/output", Right::read, with(parts, run_output), {"follow", "tail", "from"}},
      {"POST", "/api/v1/runs/{id}/terminate", Right::operate, with(parts, terminate)},
      {"POST", "/api/v1/runs/{id}/kill", Right::operate, with(parts, kill)},
  };
}

}  // namespace kron::api
