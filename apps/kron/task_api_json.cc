#include "task_api_json.h"

#include <algorithm>
#include <array>
#include <optional>

#include "answer_text.h"
#include "daemon_client.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "kron/queue/opaque_json.h"
#include "kron/queue/task_file.h"

namespace kron::cli {
namespace {

tl::unexpected<Error> strange(std::string_view what) {
  return fail(Code::internal, "krond's answer is strange: " + std::string(what) +
                                  "; kron and krond may be of different versions, see `kron doctor`");
}

std::string list_of(std::span<const NewTask> tasks) {
  std::string text = "[";
  for (const NewTask& task : tasks) text += (text.size() == 1 ? "" : ",") + new_task_text(task);
  return text + "]";
}

JsonWriter begun(const LeaseKey& key) {
  JsonWriter json;
  json.begin_map().key("token").integer(static_cast<std::int64_t>(key.token));
  return json;
}

void write_lease_request(JsonWriter& json, const LeaseRequest& request, std::optional<Seconds> wait) {
  json.begin_map().member("worker", request.worker);
  if (!request.types.empty()) {
    json.key("types").begin_list();
    for (const std::string& type : request.types) json.text(type);
    json.end_list();
  }
  json.key("n").integer(static_cast<std::int64_t>(request.count));
  if (wait) json.member("wait", duration_text(*wait));
  json.member("term", duration_text(request.term)).key("start").boolean(request.starts).end_map();
}

template <class Word, std::size_t N>
std::optional<Word> word_in(const Node& map, std::string_view key, const std::array<Word, N>& words) {
  const std::string text = text_in(map, key);
  const auto found = std::ranges::find_if(words, [&](Word word) { return name_of(word) == text; });
  return found == words.end() ? std::nullopt : std::optional(*found);
}

constexpr std::array kSubmitOutcomes{SubmitOutcome::accepted, SubmitOutcome::already_known, SubmitOutcome::duplicate,
                                     SubmitOutcome::conflict};
constexpr std::array kLeaseOutcomes{LeaseOutcome::accepted, LeaseOutcome::lease_lost, LeaseOutcome::duplicate};
constexpr std::array kTaskStates{TaskState::pending, TaskState::running, TaskState::succeeded, TaskState::failed};

// A document whose values can be cut out of its text as they were written: numbers keep their spelling.
struct Document {
  Node root;
  JsonSource source;
};

Result<Document> document_of(std::string_view body) {
  auto root = parsed_answer(body);
  if (!root) return fail(root.error());
  return Document{*std::move(root), JsonSource(body)};
}

Result<SubmitAnswer> submit_answer_of(const Node& node) {
  if (const Node* problem = node.find("error")) {
    const http::Response response{static_cast<int>(number_in(*problem, "status")),
                                  "application/problem+json",
                                  {},
                                  JsonWriter().node(*problem).take()};
    return fail(http::error_in(response));
  }
  const auto outcome = word_in(node, "outcome", kSubmitOutcomes);
  if (!outcome) return strange("no outcome of a submit");
  return SubmitAnswer{*outcome, text_in(node, "taskId")};
}

Result<Lease> lease_of(Document& document, const Node& node) {
  const Node* payload = node.find("payload");
  const Node* data = payload == nullptr ? nullptr : payload->find("data");
  const auto expires = parse_rfc3339(text_in(node, "leaseExpiresAt"));
  Lease lease;
  lease.key = {text_in(node, "execId"), static_cast<std::uint64_t>(number_in(node, "token"))};
  lease.task_id = text_in(node, "taskId");
  lease.attempt = static_cast<int>(number_in(node, "attempt"));
  if (data == nullptr || !expires || lease.key.exec_id.empty() || lease.task_id.empty()) return strange("half a lease");
  lease.type = text_in(*payload, "type");
  lease.data = without_blanks(document.source.text_of(*data));
  lease.lease_expires_at = *expires;
  if (const std::string timeout = text_in(node, "timeout"); !timeout.empty()) {
    const auto parsed = parse_whole_seconds(timeout);
    if (!parsed) return strange("the timeout of a lease");
    lease.timeout = *parsed;
  }
  return lease;
}

}  // namespace

std::string submit_json(std::span<const NewTask> tasks) { return "{\"tasks\":" + list_of(tasks) + "}"; }

std::string lease_json(const LeaseRequest& request, Seconds wait) {
  JsonWriter json;
  write_lease_request(json, request, wait);
  return json.take();
}

std::string token_json(const LeaseKey& key) { return begun(key).end_map().take(); }

std::string commit_json(const CommitRequest& request, const LeaseRequest* then) {
  JsonWriter json = begun(request.key);
  if (!request.result.empty()) json.member("result", request.result);
  if (then != nullptr) {
    json.key("lease");
    write_lease_request(json, *then, std::nullopt);
  }
  if (request.follow_ups.empty()) return json.end_map().take();
  return json.take() + ",\"followUps\":" + list_of(request.follow_ups) + "}";
}

std::string fail_json(const FailRequest& request) {
  JsonWriter json = begun(request.key);
  if (!request.reason.empty()) json.member("reason", request.reason);
  return json.key("counts").boolean(request.counts).end_map().take();
}

std::string prune_json(const PruneRequest& request, Instant now) {
  JsonWriter json;
  json.begin_map().member("olderThan", duration_text(std::max(now - request.over_before, Seconds(0))));
  if (request.state) json.member("state", lower(name_of(*request.state)));
  return json.end_map().take();
}

Result<std::vector<Result<SubmitAnswer>>> submit_answers_in(std::string_view body, std::size_t count) {
  const auto answer = parsed_answer(body);
  if (!answer) return fail(answer.error());
  const Node::List& list = list_in(*answer, "answers");
  if (list.size() != count) return strange("as many answers as tasks were expected");
  std::vector<Result<SubmitAnswer>> answers;
  for (const Node& node : list) answers.push_back(submit_answer_of(node));
  return answers;
}

Result<std::vector<Lease>> leases_in(std::string_view body) {
  auto document = document_of(body);
  if (!document) return fail(document.error());
  std::vector<Lease> leases;
  for (const Node& node : list_in(document->root, "leases")) {
    auto lease = lease_of(*document, node);
    if (!lease) return fail(lease.error());
    leases.push_back(*std::move(lease));
  }
  return leases;
}

Result<LeaseOutcome> lease_outcome_in(std::string_view body) {
  const auto answer = parsed_answer(body);
  if (!answer) return fail(answer.error());
  const auto outcome = word_in(*answer, "result", kLeaseOutcomes);
  if (!outcome) return strange("no outcome of a lease");
  return *outcome;
}

Result<CommitAnswer> commit_answer_in(std::string_view body) {
  const auto answer = parsed_answer(body);
  if (!answer) return fail(answer.error());
  const bool is_committed = text_in(*answer, "result") == "committed";
  const auto refusal = word_in(*answer, "result", kLeaseOutcomes);
  if (!is_committed && !refusal) return strange("no outcome of a commit");
  CommitAnswer commit{is_committed ? LeaseOutcome::accepted : *refusal, {}};
  for (const Node& node : list_in(*answer, "followUps")) {
    auto follow_up = submit_answer_of(node);
    if (!follow_up) return fail(follow_up.error());
    commit.follow_ups.push_back(*std::move(follow_up));
  }
  return commit;
}

Result<FailAnswer> fail_answer_in(std::string_view body) {
  const auto outcome = lease_outcome_in(body);
  if (!outcome) return fail(outcome.error());
  const auto answer = parsed_answer(body);
  const auto state = word_in(*answer, "state", kTaskStates);
  return FailAnswer{*outcome, state.value_or(TaskState::pending)};
}

Result<CancelOutcome> cancel_outcome_in(std::string_view body) {
  const auto answer = parsed_answer(body);
  if (!answer) return fail(answer.error());
  const std::string outcome = text_in(*answer, "outcome");
  if (outcome == "cancelled") return CancelOutcome::cancelled;
  if (outcome == "committed") return CancelOutcome::committed;
  if (outcome == "already_over") return CancelOutcome::already_over;
  return strange("no outcome of a cancel");
}

Result<RetryOutcome> retry_outcome_in(std::string_view body) {
  const auto answer = parsed_answer(body);
  if (!answer) return fail(answer.error());
  const std::string outcome = text_in(*answer, "outcome");
  if (outcome == "retried") return RetryOutcome::retried;
  if (outcome == "not_failed") return RetryOutcome::not_failed;
  return strange("no outcome of a retry");
}

Result<std::size_t> removed_in(std::string_view body) {
  const auto answer = parsed_answer(body);
  if (!answer) return fail(answer.error());
  return static_cast<std::size_t>(number_in(*answer, "removed"));
}

Result<TaskPage> task_page_in(std::string_view body) {
  auto document = document_of(body);
  if (!document) return fail(document.error());
  TaskPage page{{}, text_in(document->root, "next")};
  for (const Node& node : list_in(document->root, "tasks")) {
    auto task = parse_task(document->source.text_of(node), text_in(node, "taskId"));
    if (!task) return fail(task.error());
    page.tasks.push_back(*std::move(task));
  }
  return page;
}

}  // namespace kron::cli
