#include "kron/queue/task_file.h"

#include <algorithm>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/queue/opaque_json.h"
#include "kron/queue/task_reader.h"
#include "kron/queue/task_request.h"
#include "kron/queue/transitions.h"

namespace kron {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kInside = "inside";
// A follow-up's payload lies three levels deep in its parent's file.
constexpr JsonLimits kFileLimits{kMostTaskFileBytes, kMostPayloadDepth + 8};

void write_time(JsonWriter& out, std::string_view key, const std::optional<Instant>& time) {
  if (time) out.member(key, rfc3339(*time));
}

void write_execution(JsonWriter& out, const Execution& e, std::string_view task_id) {
  out.begin_map().member("exec_id", e.exec_id).member("job_id", task_id);
  out.key("attempt").integer(e.attempt);
  out.member("lease_owner", e.lease_owner).member("lease_expires_at", rfc3339(e.lease_expires_at));
  out.key("token").integer(static_cast<std::int64_t>(e.token));
  out.member("status", name_of(e.status)).member("lease_term", duration_text(e.lease_term));
  if (e.holder == Holder::in_process) out.member("holder", kInside);
  out.member("leased_at", rfc3339(e.leased_at));
  write_time(out, "started_at", e.started_at);
  write_time(out, "committed_at", e.committed_at);
  write_time(out, "finished_at", e.finished_at);
  if (e.final) out.key("final").boolean(true);
  if (!e.reason.empty()) out.member("reason", e.reason);
  if (!e.counts) out.key("counts").boolean(false);
  if (!e.boot_id.empty()) out.member("boot_id", e.boot_id).key("boot_deadline").integer(e.boot_deadline.count());
  out.end_map();
}

void write_policy(JsonWriter& out, const NewTask& spec) {
  out.key("priority").integer(spec.priority);
  write_time(out, "runAt", spec.run_at);
  out.key("maxAttempts").integer(spec.retry.max_attempts);
  out.member("backoff", duration_text(spec.retry.backoff)).member("maxBackoff", duration_text(spec.retry.most_backoff));
  if (spec.timeout) out.member("timeout", duration_text(*spec.timeout));
  if (!spec.unique_key.empty()) out.member("uniqueKey", spec.unique_key);
}

// The payload closes the map it is in, because its data is text that the writer does not know.
std::string closed_with_payload(JsonWriter& out, const NewTask& spec) {
  out.key("payload").begin_map().member("type", spec.type).key("data");
  return out.take() + spec.data + "}}";
}

Execution read_execution(const Node& node, std::string_view task_id, Status& status) {
  TaskReader in(node, status);
  Execution e;
  e.exec_id = in.required_text("exec_id");
  in.number("attempt", e.attempt, 1, INT32_MAX);
  e.lease_owner = in.text("lease_owner");
  in.number("token", e.token, 0, INT64_MAX);
  if (e.exec_id != exec_id_of(task_id, e.token)) in.wrong("exec_id", "is not made of the task and the token");
  const auto word = parse_execution_status(in.required_text("status"));
  if (word) {
    e.status = *word;
  } else {
    in.wrong("status", word.error().message);
  }
  if (in.text("holder") == kInside) e.holder = Holder::in_process;
  e.lease_term = in.duration("lease_term").value_or(e.lease_term);
  e.lease_expires_at = in.time("lease_expires_at").value_or(Instant());
  e.leased_at = in.time("leased_at").value_or(Instant());
  e.started_at = in.time("started_at");
  e.committed_at = in.time("committed_at");
  e.finished_at = in.time("finished_at");
  e.final = in.flag("final");
  e.reason = in.text("reason");
  e.counts = in.flag("counts", true);
  e.boot_id = in.text("boot_id");
  std::int64_t deadline = 0;
  in.number("boot_deadline", deadline, 0, INT64_MAX);
  e.boot_deadline = Nanoseconds(deadline);
  return e;
}

void check_state_word(TaskReader& in, Task& task) {
  const std::string word = in.text("state");
  const bool is_completed = word == state_word_of(TaskDirectory::completed);
  if (!is_completed && word != state_word_of(TaskDirectory::pending) && word != state_word_of(TaskDirectory::running)) {
    in.wrong("state", "is none of PENDING, RUNNING and COMPLETED");
  }
  if (!is_completed || !task.executions.empty()) return;
  // Seed 002 keeps no executions: what it completed is done.
  Execution done;
  done.exec_id = exec_id_of(task.spec.id, 0);
  done.status = ExecutionStatus::done;
  task.executions.push_back(std::move(done));
}

}  // namespace

std::string task_file_name(std::string_view task_id) { return std::string(task_id).append(kSuffix); }

std::optional<std::string_view> task_of_file_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  return check_task_id(name) ? std::optional(name) : std::nullopt;
}

std::string new_task_text(const NewTask& spec) {
  JsonWriter out;
  out.begin_map().member("taskId", spec.id);
  write_policy(out, spec);
  return closed_with_payload(out, spec);
}

std::string task_text(const Task& task) {
  JsonWriter out;
  const TaskDirectory place = directory_of(task);
  out.begin_map().member("taskId", task.spec.id).member("state", state_word_of(place));
  if (place == TaskDirectory::completed) out.member("outcome", name_of(state_of(task)));
  out.member("createdAt", rfc3339(task.created_at)).member("updatedAt", rfc3339(task.updated_at));
  out.key("sequence").integer(static_cast<std::int64_t>(task.sequence));
  out.key("attempt").integer(task.executions.empty() ? 0 : task.executions.back().attempt);
  write_policy(out, task.spec);
  out.key("executions").begin_list();
  for (const Execution& execution : task.executions) write_execution(out, execution, task.spec.id);
  out.end_list();
  if (!task.result.empty()) out.member("result", task.result);
  if (!task.staging.empty()) out.member("staging", task.staging);
  if (task.follow_ups.empty()) return closed_with_payload(out, task.spec) + "\n";
  std::string text = out.key("followUps").begin_list().take();
  for (std::size_t i = 0; i < task.follow_ups.size(); ++i) {
    text += (i == 0 ? "" : ",") + new_task_text(task.follow_ups[i]);
  }
  JsonWriter payload;
  payload.begin_map();
  return text + "]," + closed_with_payload(payload, task.spec).substr(1) + "\n";
}

Result<Task> parse_task(std::string_view text, std::string_view task_id) {
  const auto document = parse_json(text, kFileLimits);
  if (!document) return fail(document.error());
  if (document->as<Node::Map>() == nullptr) return fail(Code::invalid, "a task is a JSON object");
  Status status;
  TaskReader in(*document, status);
  JsonSource source(text);
  Task task;
  task.spec = read_new_task(*document, source, status, kMostAttempts + kMostUncounted);
  if (task.spec.id != task_id) in.wrong("taskId", "is " + quoted(task.spec.id) + ", not what the file's name says");
  task.created_at = in.time("createdAt").value_or(Instant());
  task.updated_at = in.time("updatedAt").value_or(task.created_at);
  in.number("sequence", task.sequence, 0, INT64_MAX);
  for (const Node& node : in.list("executions")) task.executions.push_back(read_execution(node, task_id, status));
  task.result = in.text("result");
  task.staging = in.text("staging");
  for (const Node& node : in.list("followUps")) {
    task.follow_ups.push_back(read_new_task(node, source, status));
    if (task.follow_ups.back().id.empty()) in.wrong("followUps", "has a task without an id");
  }
  check_state_word(in, task);
  if (!status) return fail(status.error());
  return task;
}

}  // namespace kron
