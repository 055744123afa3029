#include "kron/api/task_json.h"

#include <array>
#include <utility>

#include "kron/api/attribution.h"
#include "kron/api/call.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/env/random_hex.h"
#include "kron/http/message.h"
#include "kron/json/fields.h"
#include "kron/queue/opaque_json.h"
#include "kron/queue/task_request.h"

namespace kron::api {
namespace {

constexpr JsonLimits kLimits{kMostTasksBody, kMostPayloadDepth + 4};
constexpr Seconds kUsualAge = std::chrono::days(7);

// What a body holds, and where it stands in its text: a large one is parsed once.
struct Body {
  Node document;
  JsonSource source;
};

Result<Body> read_body(std::string_view text) {
  if (Status plain = check_no_byte_order_mark(text); !plain) return fail(plain.error());
  auto document = parse_json(text, kLimits);
  if (!document) return fail(document.error());
  if (document->as<Node::Map>() == nullptr) {
    return fail(Code::invalid, "the body is a JSON object, not " + std::string(kind_of(*document)));
  }
  return Body{*std::move(document), JsonSource(text)};
}

Result<NewTask> new_task_at(Body& body, const Node& node) {
  Result<NewTask> task = new_task_in(node, body.source);
  if (task && task->id.empty()) task->id = task->type + "-" + random_hex();
  return task;
}

template <std::size_t N>
Fields members_of(const Node& document, std::vector<Error>& errors, const std::array<std::string_view, N>& known) {
  Fields fields(document, "", errors);
  fields.reject_unknown(known);
  return fields;
}

std::uint64_t token_in(Fields& fields) {
  const auto token = fields.integer("token");
  if (!token && !fields.has("token")) fields.report("token", "is missing; the lease came with it");
  if (token && *token < 0) fields.report("token", "is not negative");
  return token && *token >= 0 ? static_cast<std::uint64_t>(*token) : 0;
}

void read_duration(Fields& fields, std::string_view key, Seconds& target) {
  if (const auto text = fields.text(key)) fields.take(target, key, parse_whole_seconds(*text));
}

LeaseRequest lease_request_in(Fields& fields) {
  LeaseRequest request;
  request.worker = fields.text("worker").value_or("");
  request.types = fields.scalars("types");
  if (fields.has("types") && request.types.empty()) {
    fields.report("types", "names at least one; leave it out for tasks of any type");
  }
  if (const auto count = fields.integer("n")) {
    if (*count < 1 || *count > static_cast<std::int64_t>(kMostLeases)) fields.report("n", "is from 1 to 1000");
    request.count = static_cast<std::size_t>(*count);
  }
  read_duration(fields, "term", request.term);
  request.starts = fields.boolean("start").value_or(false);
  return request;
}

// Leases that are asked for with a commit: what is ready, without a wait that the commit's answer would share.
LeaseRequest lease_behind_commit(Fields& fields) {
  constexpr std::array<std::string_view, 5> kMembers{"worker", "types", "n", "term", "start"};
  fields.reject_unknown(kMembers);
  LeaseRequest request = lease_request_in(fields);
  if (const Status good = check_lease_request(request); !good) fields.report(good.error().field, good.error().message);
  return request;
}

bool is_blank(std::string_view body) { return trimmed(body).empty(); }

}  // namespace

Result<std::vector<Result<NewTask>>> read_new_tasks(std::string_view text) {
  auto body = read_body(text);
  if (!body) return fail(body.error());
  std::vector<Result<NewTask>> tasks;
  const Node* many = body->document.find("tasks");
  if (many == nullptr) {
    tasks.push_back(new_task_at(*body, body->document));
    return tasks;
  }
  const auto* list = many->as<Node::List>();
  std::vector<Error> errors;
  members_of(body->document, errors, std::array<std::string_view, 1>{"tasks"});
  if (!errors.empty()) return fail(errors.front());
  if (list == nullptr || list->empty() || list->size() > kMostTasksAtOnce) {
    return fail(Code::invalid, "tasks: a list of 1 to " + std::to_string(kMostTasksAtOnce) + " tasks", "tasks");
  }
  for (const Node& node : *list) tasks.push_back(new_task_at(*body, node));
  return tasks;
}

Result<LeaseBody> read_lease_request(std::string_view text) {
  const auto body = read_body(text);
  if (!body) return fail(body.error());
  std::vector<Error> errors;
  Fields fields = members_of(body->document, errors,
                             std::array<std::string_view, 6>{"worker", "types", "n", "wait", "term", "start"});
  LeaseBody lease{lease_request_in(fields)};
  read_duration(fields, "wait", lease.wait);
  if (lease.wait > kMostWait) fields.report("wait", "is at most 60s; ask again");
  if (!errors.empty()) return fail(errors.front());
  if (Status good = check_lease_request(lease.request); !good) return fail(good.error());
  return lease;
}

Result<std::uint64_t> read_token(std::string_view text) {
  const auto body = read_body(text);
  if (!body) return fail(body.error());
  std::vector<Error> errors;
  Fields fields = members_of(body->document, errors, std::array<std::string_view, 1>{"token"});
  const std::uint64_t token = token_in(fields);
  if (!errors.empty()) return fail(errors.front());
  return token;
}

Result<CommitBody> read_commit(std::string_view text, std::string_view exec_id) {
  auto body = read_body(text);
  if (!body) return fail(body.error());
  std::vector<Error> errors;
  Fields fields =
      members_of(body->document, errors, std::array<std::string_view, 4>{"token", "result", "followUps", "lease"});
  CommitBody read;
  CommitRequest& commit = read.request;
  commit.key = {std::string(exec_id), token_in(fields)};
  commit.result = fields.text("result").value_or("");
  if (const Node* follow_ups = fields.find("followUps")) {
    const auto* list = follow_ups->as<Node::List>();
    if (list == nullptr) fields.report("followUps", "is a list of tasks");
    for (std::size_t i = 0; list != nullptr && i < list->size() && errors.empty(); ++i) {
      Result<NewTask> task = new_task_at(*body, (*list)[i]);
      if (!task) {
        fields.report("followUps[" + std::to_string(i) + "]", task.error().message);
      } else {
        commit.follow_ups.push_back(*std::move(task));
      }
    }
  }
  if (auto lease = fields.map("lease")) read.then = lease_behind_commit(*lease);
  if (!errors.empty()) return fail(errors.front());
  return read;
}

Result<FailRequest> read_fail(std::string_view text, std::string_view exec_id) {
  const auto body = read_body(text);
  if (!body) return fail(body.error());
  std::vector<Error> errors;
  Fields fields = members_of(body->document, errors, std::array<std::string_view, 3>{"token", "reason", "counts"});
  FailRequest request;
  request.key = {std::string(exec_id), token_in(fields)};
  request.reason = fields.text("reason").value_or("");
  request.counts = fields.boolean("counts").value_or(true);
  if (!errors.empty()) return fail(errors.front());
  return request;
}

Result<RetryRequest> read_retry(std::string_view text) {
  if (is_blank(text)) return RetryRequest{};
  const auto body = read_body(text);
  if (!body) return fail(body.error());
  std::vector<Error> errors;
  Fields fields = members_of(body->document, errors, std::array<std::string_view, 2>{"attempts", "note"});
  const std::int64_t attempts = fields.integer("attempts").value_or(1);
  if (attempts < 1 || attempts > kMostAttempts) fields.report("attempts", "is from 1 to 1000");
  RetryRequest request{.note = note_in(fields)};
  if (!errors.empty()) return fail(errors.front());
  request.attempts = static_cast<int>(attempts);
  return request;
}

Result<PruneRequest> read_prune(std::string_view text, Instant now) {
  PruneRequest request{.over_before = now - kUsualAge};
  if (is_blank(text)) return request;
  const auto body = read_body(text);
  if (!body) return fail(body.error());
  std::vector<Error> errors;
  Fields fields = members_of(body->document, errors, std::array<std::string_view, 2>{"olderThan", "state"});
  Seconds age = kUsualAge;
  read_duration(fields, "olderThan", age);
  request.over_before = now - std::min(age, Seconds(now.time_since_epoch()));
  if (const auto state = fields.text("state")) {
    if (*state == "succeeded") {
      request.state = TaskState::succeeded;
    } else if (*state == "failed") {
      request.state = TaskState::failed;
    } else {
      fields.report("state", "is succeeded or failed");
    }
  }
  if (!errors.empty()) return fail(errors.front());
  return request;
}

void write_answer(JsonWriter& json, const Result<SubmitAnswer>& answer) {
  json.begin_map();
  if (answer) {
    json.member("taskId", answer->task_id).member("outcome", name_of(answer->outcome));
  } else {
    json.key("error").document(http::problem(answer.error()).body);
  }
  json.end_map();
}

void write_lease(JsonWriter& json, const Lease& lease) {
  json.begin_map().member("execId", lease.key.exec_id);
  json.key("token").integer(static_cast<std::int64_t>(lease.key.token)).member("taskId", lease.task_id);
  json.key("attempt").integer(lease.attempt).member("leaseExpiresAt", rfc3339(lease.lease_expires_at));
  if (lease.timeout) json.member("timeout", duration_text(*lease.timeout));
  json.key("payload").begin_map().member("type", lease.type).key("data").document(lease.data).end_map().end_map();
}

}  // namespace kron::api
