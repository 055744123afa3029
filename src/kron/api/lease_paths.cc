#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "kron/api/paths.h"
#include "kron/api/task_json.h"
#include "kron/http/multipart.h"
#include "kron/queue/tar.h"

namespace kron::api {
namespace {

// Staged output and all that stands around it.
constexpr std::size_t kMostCommitBody = kMostStagedBytes + (std::size_t{8} << 20);

int status_of(LeaseOutcome outcome) { return outcome == LeaseOutcome::accepted ? 200 : 409; }

std::string result_json(std::string_view result) {
  JsonWriter json;
  return json.begin_map().member("result", result).end_map().take();
}

void write_leases(JsonWriter& json, const std::vector<Lease>& leases) {
  json.key("leases").begin_list();
  for (const Lease& lease : leases) write_lease(json, lease);
  json.end_list();
}

std::string leases_json(const std::vector<Lease>& leases) {
  JsonWriter json;
  json.begin_map();
  write_leases(json, leases);
  return json.end_map().take();
}

void lease(Parts& parts, const CallPtr& call) {
  const auto body = read_lease_request(call->request.body);
  if (!body) return call->refuse(body.error());
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  const auto ticket = std::make_shared<std::atomic<QueueThread::Ticket>>(0);
  call->on_gone([&parts, is_gone, ticket] {
    *is_gone = true;
    parts.tasks.withdraw(*ticket);
  });
  *ticket = parts.tasks.lease(body->request, body->wait, [call, is_gone](const Result<std::vector<Lease>>& leases) {
    if (*is_gone) return false;
    if (!leases) {
      call->refuse(leases.error());
    } else {
      call->send_json(leases_json(*leases));
    }
    return true;
  });
}

void answer_with(const CallPtr& call, const Result<LeaseOutcome>& outcome) {
  if (!outcome) return call->refuse(outcome.error());
  call->send_json(result_json(name_of(*outcome)), status_of(*outcome));
}

// start and renew: both take the token and give an outcome.
using LeaseVerb = void (QueueThread::*)(LeaseKey, std::function<void(Result<LeaseOutcome>)>);

void move_lease(Parts& parts, const CallPtr& call, LeaseVerb verb) {
  const auto token = read_token(call->request.body);
  if (!token) return call->refuse(token.error());
  (parts.tasks.*verb)({call->names.front(), *token},
                      [call](const Result<LeaseOutcome>& outcome) { answer_with(call, outcome); });
}

void start(Parts& parts, const CallPtr& call) { move_lease(parts, call, &QueueThread::start); }
void renew(Parts& parts, const CallPtr& call) { move_lease(parts, call, &QueueThread::renew); }

// JSON alone, or a form with the JSON as `commit` and a tar of the staged files as `output`.
Result<CommitBody> commit_of(const http::Request& request, std::string_view exec_id) {
  const std::string_view type = request.header("content-type").value_or("application/json");
  if (!type.starts_with("multipart/")) return read_commit(request.body, exec_id);
  const auto parts = http::parse_multipart(type, request.body);
  if (!parts) return fail(parts.error());
  const auto commit = std::ranges::find(*parts, "commit", &http::Part::name);
  if (commit == parts->end()) return fail(Code::invalid, "the form has no part named commit", "commit");
  Result<CommitBody> read = read_commit(commit->bytes, exec_id);
  if (!read) return read;
  for (const http::Part& part : *parts) {
    if (part.name == "commit") continue;
    if (part.name != "output") return fail(Code::invalid, "a form has the parts commit and output", part.name);
    auto files = read_tar(part.bytes);
    if (!files) return fail(files.error().code, "output: " + files.error().message, "output");
    read->request.files = *std::move(files);
  }
  return read;
}

// `leases`: those that were asked for with it; null: none were.
std::string commit_json(const CommitAnswer& answer, const std::vector<Lease>* leases) {
  const bool is_committed = answer.outcome == LeaseOutcome::accepted;
  JsonWriter json;
  json.begin_map().member("result", is_committed ? "committed" : name_of(answer.outcome));
  if (is_committed && !answer.follow_ups.empty()) {
    json.key("followUps").begin_list();
    for (const SubmitAnswer& follow_up : answer.follow_ups) write_answer(json, follow_up);
    json.end_list();
  }
  if (leases != nullptr) write_leases(json, *leases);
  return json.end_map().take();
}

// The answer to the commit waits for that to the leases, which comes next. A commit that fails is answered at once, and
// whoever asked has no use for leases then; nor has one who has gone. Both are answered on the queue's thread.
void commit_and_lease(Parts& parts, const CallPtr& call, CommitBody body) {
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  const auto committed = std::make_shared<std::optional<CommitAnswer>>();
  call->on_gone([is_gone] { *is_gone = true; });
  parts.tasks.commit_and_lease(
      std::move(body.request),
      [call, committed](Result<CommitAnswer> answer) {
        if (!answer) return call->refuse(answer.error());
        *committed = *std::move(answer);
      },
      *std::move(body.then),
      [call, committed, is_gone](const Result<std::vector<Lease>>& leases) {
        if (!*committed || *is_gone) return false;
        // Why there are none is told to who asks for them alone.
        const std::vector<Lease> none;
        call->send_json(commit_json(**committed, leases ? &*leases : &none), status_of((*committed)->outcome));
        return true;
      });
}

void commit(Parts& parts, const CallPtr& call) {
  auto body = commit_of(call->request, call->names.front());
  if (!body) return call->refuse(body.error());
  call->drop_body();  // so that staged files are in memory once while they are written
  if (body->then) return commit_and_lease(parts, call, *std::move(body));
  parts.tasks.commit(std::move(body->request), [call](const Result<CommitAnswer>& answer) {
    if (!answer) return call->refuse(answer.error());
    call->send_json(commit_json(*answer, nullptr), status_of(answer->outcome));
  });
}

void fail_lease(Parts& parts, const CallPtr& call) {
  const auto request = read_fail(call->request.body, call->names.front());
  if (!request) return call->refuse(request.error());
  parts.tasks.fail_attempt(*request, [call](const Result<FailAnswer>& answer) {
    if (!answer) return call->refuse(answer.error());
    JsonWriter json;
    json.begin_map().member("result", name_of(answer->outcome)).member("state", name_of(answer->state));
    call->send_json(json.end_map().take(), status_of(answer->outcome));
  });
}

}  // namespace

std::vector<Route> lease_routes(Parts& parts) {
  return {
      {"POST", "/api/v1/leases", Right::operate, with(parts, lease)},
      {"POST", "/api/v1/leases/{execId}/start", Right::operate, with(parts, start)},
      {"POST", "/api/v1/leases/{execId}/renew", Right::operate, with(parts, renew)},
      {"POST", "/api/v1/leases/{execId}/commit", Right::operate, with(parts, commit), {}, kMostCommitBody},
      {"POST", "/api/v1/leases/{execId}/fail", Right::operate, with(parts, fail_lease)},
  };
}

}  // namespace kron::api
