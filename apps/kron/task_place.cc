#include "task_place.h"

#include <cstdlib>

#include "daemon_client.h"
#include "kron/daemon/options.h"

namespace kron::cli {
namespace {

bool is_socket_named(const TaskPlaceOptions& options) {
  const char* variable = std::getenv("KRON_SOCKET");
  return !options.socket.empty() || (variable != nullptr && *variable != '\0');
}

Result<std::string> state_directory(const TaskPlaceOptions& options, const char* flag) {
  if (!options.state_dir.empty()) return daemon::absolute_path(options.state_dir);
  auto usual = daemon::default_state_directory();
  if (!usual) return fail(usual.error().code, std::string("there is no home directory for tasks; use ") + flag);
  return usual;
}

}  // namespace

Result<TaskPlace> task_place(const TaskPlaceOptions& options) {
  if (!options.data_dir.empty()) return TaskPlace{daemon::absolute_path(options.data_dir), ""};
  const auto state = state_directory(options, "--data-dir");
  if (!state) return fail(state.error());
  auto socket = socket_path(options.socket, *state);
  if (!socket) return fail(socket.error());
  if (is_socket_named(options)) return TaskPlace{"", *std::move(socket)};
  // Whatever krond has to say, even that it will not: where it is, its word counts.
  const auto status = DaemonClient(*socket).get(Target("status"));
  if (status || status.error().code != Code::unreachable) return TaskPlace{"", *std::move(socket)};
  return TaskPlace{*state + "/data", ""};
}

Result<std::string> workers_directory(const TaskPlaceOptions& options) {
  const auto state = state_directory(options, "--work-dir");
  if (!state) return fail(state.error());
  return *state + "/workers";
}

}  // namespace kron::cli
