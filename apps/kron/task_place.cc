#include "task_place.h"

#include "daemon_client.h"
#include "kron/env/places.h"

namespace kron::cli {
namespace {

Result<std::string> state_directory(const TaskPlaceOptions& options, const char* flag) {
  if (!options.state_dir.empty()) return absolute_path(options.state_dir);
  auto usual = default_state_directory();
  if (!usual) return fail(usual.error().code, std::string("there is no home directory for tasks; use ") + flag);
  return usual;
}

}  // namespace

Result<TaskPlace> task_place(const TaskPlaceOptions& options) {
  if (!options.data_dir.empty()) return TaskPlace{absolute_path(options.data_dir), ""};
  auto socket = socket_path(options.socket, options.state_dir);
  if (!socket) return fail(socket.error());
  return TaskPlace{"", *std::move(socket)};
}

Result<std::string> workers_directory(const TaskPlaceOptions& options) {
  const auto state = state_directory(options, "--work-dir");
  if (!state) return fail(state.error());
  return *state + "/workers";
}

}  // namespace kron::cli
