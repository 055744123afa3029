#include "task_place.h"

#include <cstdlib>
#include <string_view>

#include "kron/env/places.h"

namespace kron::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// A flag goes before the environment, whatever it names.
bool names_redis(const TaskPlaceOptions& options) {
  if (!options.redis.redis.empty() || !options.redis.redis_file.empty()) return true;
  if (!options.socket.empty() || !options.state_dir.empty() || !options.url.empty()) return false;
  if (!is_set("KRON_REDIS") && !is_set("KRON_REDIS_FILE")) return false;
  const char* tasks = std::getenv("KRON_TASKS");  // krond's own variable: the tasks of each host are its own
  return tasks == nullptr || std::string_view(tasks) != "file";
}

Result<std::string> state_directory(const TaskPlaceOptions& options, const char* flag) {
  if (!options.state_dir.empty()) return absolute_path(options.state_dir);
  auto usual = default_state_directory();
  if (!usual) return fail(usual.error().code, std::string("there is no home directory for tasks; use ") + flag);
  return usual;
}

}  // namespace

Result<TaskPlace> task_place(const TaskPlaceOptions& options) {
  if (!options.data_dir.empty()) return TaskPlace{.data_directory = absolute_path(options.data_dir)};
  if (names_redis(options)) return TaskPlace{.in_redis = true};
  auto krond = krond_place({.socket = options.socket,
                            .state_dir = options.state_dir,
                            .url = options.url,
                            .token_file = options.token_file,
                            .ca_file = options.ca_file});
  if (!krond) return fail(krond.error());
  return TaskPlace{.krond = *std::move(krond)};
}

Result<std::string> workers_directory(const TaskPlaceOptions& options) {
  const auto state = state_directory(options, "--work-dir");
  if (!state) return fail(state.error());
  return *state + "/workers";
}

}  // namespace kron::cli
