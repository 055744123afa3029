#include "task_session.h"

#include <unistd.h>

#include "kron/json/decide_request.h"
#include "kron/json/writer.h"
#include "task_api_queue.h"
#include "task_owned_queue.h"
#include "task_redis_queue.h"

namespace kron::cli {
namespace {

JsonWriter begun(std::string_view task_id, std::size_t line) {
  JsonWriter json;
  json.begin_map();
  if (line > 0) json.key("line").integer(static_cast<std::int64_t>(line));
  if (!task_id.empty()) json.member("taskId", task_id);
  return json;
}

}  // namespace

TaskSession::TaskSession() : log_(STDERR_FILENO, clock_, LogFormat::text, LogLevel::warning) {}

Result<std::unique_ptr<TaskSession>> TaskSession::open(const TaskPlaceOptions& options, bool may_make) {
  const auto place = task_place(options);
  if (!place) return fail(place.error());
  std::unique_ptr<TaskSession> session(new TaskSession());
  if (place->in_redis) {
    auto shared = RedisTasks::open(options.redis, false, session->clock_, session->log_);
    if (!shared) return fail(shared.error());
    session->client_ = *std::move(shared);
  } else if (!place->krond) {
    auto owned = OwnedQueue::open(place->data_directory, may_make, session->clock_, session->log_);
    if (!owned) return fail(owned.error());
    session->client_ = *std::move(owned);
  } else {
    auto asked = ApiQueue::open(*place->krond, Seconds(0), session->clock_);
    if (!asked) return fail(asked.error());
    session->client_ = *std::move(asked);
  }
  return session;
}

std::string outcome_json(std::string_view task_id, std::string_view outcome, std::size_t line) {
  return begun(task_id, line).member("outcome", outcome).end_map().take();
}

std::string task_error_json(std::string_view task_id, const Error& error, std::size_t line) {
  const std::string head = begun(task_id, line).take();
  return head == "{" ? error_json(error) : head + "," + error_json(error).substr(1);
}

}  // namespace kron::cli
