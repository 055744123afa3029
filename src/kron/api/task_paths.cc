#include <memory>
#include <utility>

#include "kron/api/attribution.h"
#include "kron/api/paths.h"
#include "kron/api/task_json.h"
#include "kron/queue/task_file.h"

namespace kron::api {
namespace {

std::string outcome_json(std::string_view task_id, std::string_view outcome) {
  JsonWriter json;
  return json.begin_map().member("taskId", task_id).member("outcome", outcome).end_map().take();
}

// A task as its file has it, without the newline at its end.
std::string task_json(const Task& task) {
  std::string text = task_text(task);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void submit(Parts& parts, const CallPtr& call) {
  auto tasks = read_new_tasks(call->request.body);
  if (!tasks) return call->refuse(tasks.error());
  call->drop_body();
  const bool is_single = tasks->size() == 1;
  if (is_single && !tasks->front()) return call->refuse(tasks->front().error());
  auto asked = std::make_shared<std::vector<Result<NewTask>>>(*std::move(tasks));
  std::vector<NewTask> good;
  for (const auto& task : *asked) {
    if (task) good.push_back(*task);
  }
  parts.tasks.submit(std::move(good), [call, asked](const std::vector<Result<SubmitAnswer>>& answers) {
    // What is wrong with the queue is wrong with the whole request; nothing of it is to be taken for done.
    for (const auto& answer : answers) {
      if (!answer && answer.error().code != Code::invalid) return call->refuse(answer.error());
    }
    JsonWriter json;
    json.begin_map().key("answers").begin_list();
    std::size_t next = 0;
    for (const auto& task : *asked) {
      write_answer(json, task ? answers[next++] : Result<SubmitAnswer>(fail(task.error())));
    }
    call->send_json(json.end_list().end_map().take());
  });
}

void list_tasks(Parts& parts, const CallPtr& call) {
  TaskFilter filter;
  const auto limit = limit_parameter(call->request);
  if (!limit) return call->refuse(limit.error());
  const auto word = word_parameter(call->request, "state", {"PENDING", "RUNNING", "SUCCEEDED", "FAILED"});
  if (!word) return call->refuse(word.error());
  for (const TaskState state : {TaskState::pending, TaskState::running, TaskState::succeeded, TaskState::failed}) {
    if (*word && name_of(state) == **word) filter.state = state;
  }
  filter.limit = *limit;
  filter.type = text_parameter(call->request, "type");
  filter.after = text_parameter(call->request, "after");
  parts.tasks.list(filter, [call](const Result<TaskPage>& tasks) {
    if (!tasks) return call->refuse(tasks.error());
    std::string text = "{\"tasks\":[";
    for (const Task& task : *tasks) text += (text.back() == '[' ? "" : ",") + task_json(task);
    text += ']';
    if (!tasks->next.empty()) text += ",\"next\":\"" + tasks->next + "\"";  // no id needs an escape
    call->send_json(text + "}");
  });
}

void get_task(Parts& parts, const CallPtr& call) {
  parts.tasks.get(call->names.front(), [call](const Result<Task>& task) {
    if (!task) return call->refuse(task.error());
    call->send_json(task_json(*task));
  });
}

void cancel(Parts& parts, const CallPtr& call) {
  const auto from = attribution_of(call->request);
  if (!from) return call->refuse(from.error());
  parts.tasks.cancel(call->names.front(), [&parts, call, from = *from](const Result<CancelOutcome>& outcome) {
    if (!outcome) return call->refuse(outcome.error());
    const bool is_cancelled = *outcome == CancelOutcome::cancelled;
    if (is_cancelled) {
      parts.log.info("task_cancelled", {{"task", call->names.front()}, {"by", from.by}, {"note", from.note}});
    }
    call->send_json(outcome_json(call->names.front(), name_of(*outcome)), is_cancelled ? 200 : 409);
  });
}

void retry(Parts& parts, const CallPtr& call) {
  const auto request = read_retry(call->request.body);
  if (!request) return call->refuse(request.error());
  const Attribution from{asker_name(call->request.principal), request->note};
  parts.tasks.retry(call->names.front(), request->attempts, [&parts, call, from](const Result<RetryOutcome>& outcome) {
    if (!outcome) return call->refuse(outcome.error());
    const bool is_retried = *outcome == RetryOutcome::retried;
    if (is_retried) {
      parts.log.info("task_retried", {{"task", call->names.front()}, {"by", from.by}, {"note", from.note}});
    }
    call->send_json(outcome_json(call->names.front(), name_of(*outcome)), is_retried ? 200 : 409);
  });
}

void prune(Parts& parts, const CallPtr& call) {
  const auto request = read_prune(call->request.body, now(parts.clock));
  if (!request) return call->refuse(request.error());
  parts.tasks.prune(*request, [call](const Result<std::size_t>& removed) {
    if (!removed) return call->refuse(removed.error());
    JsonWriter json;
    call->send_json(json.begin_map().key("removed").integer(static_cast<std::int64_t>(*removed)).end_map().take());
  });
}

}  // namespace

std::vector<Route> task_routes(Parts& parts) {
  return {
      {"POST", "/api/v1/tasks", Right::operate, with(parts, submit), {}, kMostTasksBody},
      {"GET", "/api/v1/tasks", Right::read, with(parts, list_tasks), {"limit", "after", "state", "type"}},
      {"GET", "/api/v1/tasks/{id}", Right::read, with(parts, get_task)},
      {"POST", "/api/v1/tasks/prune", Right::admin, with(parts, prune)},
      {"POST", "/api/v1/tasks/{id}/cancel", Right::operate, with(parts, cancel)},
      {"POST", "/api/v1/tasks/{id}/retry", Right::operate, with(parts, retry)},
  };
}

}  // namespace kron::api
