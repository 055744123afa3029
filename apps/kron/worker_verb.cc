#include <array>
#include <climits>
#include <csignal>
#include <unistd.h>

#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/jobs/words.h"
#include "kron/runner/find_kron_exec.h"
#include "lines.h"
#include "task_owned_queue.h"
#include "task_verbs.h"
#include "worker.h"

namespace kron::cli {
namespace {

std::string own_name() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::string(host.data()) + ":" + std::to_string(::getpid());
}

Result<Seconds> seconds_flag(const std::string& text, std::string_view flag) {
  auto duration = parse_whole_seconds(text);
  if (!duration) return about_flag(duration.error(), flag);
  return duration;
}

Result<CommandOptions> command_options_of(const WorkerVerbOptions& options) {
  CommandOptions commands;
  if (options.shell) {
    commands.command = {"/bin/sh", "-c", options.command};
  } else {
    auto words = jobs::words_of(options.command);
    if (!words) return about_flag(words.error(), "--exec");
    commands.command = *std::move(words);
  }
  const auto grace = seconds_flag(options.grace, "--grace");
  if (!grace) return fail(grace.error());
  commands.grace = *grace;
  if (options.timeout.empty()) return commands;
  const auto timeout = seconds_flag(options.timeout, "--timeout");
  if (!timeout) return fail(timeout.error());
  commands.timeout = *timeout;
  return commands;
}

Result<WorkerOptions> worker_options_of(const WorkerVerbOptions& options) {
  const auto lease = seconds_flag(options.lease, "--lease");
  if (!lease) return fail(lease.error());
  WorkerOptions worker{.name = options.name.empty() ? own_name() : options.name,
                       .types = options.types,
                       .concurrency = options.concurrency,
                       .lease = *lease};
  if (options.drain) worker.until = WorkUntil::drained;
  if (options.once) worker.until = WorkUntil::idle;
  const LeaseRequest request{.worker = worker.name, .types = worker.types, .term = worker.lease};
  if (Status good = check_lease_request(request); !good) return fail(good.error());
  return worker;
}

Status work_on(const WorkerVerbOptions& options, const Clock& clock, LineLog& log) {
  auto worker_options = worker_options_of(options);
  if (!worker_options) return fail(worker_options.error());
  auto command_options = command_options_of(options);
  if (!command_options) return fail(command_options.error());
  const auto helper = runner::find_kron_exec(options.helper);
  if (!helper) return fail(helper.error());
  const auto path = data_directory(options.data_dir);
  if (!path) return fail(path.error());
  const auto client = OwnedQueue::open(*path, true, clock, log);
  if (!client) return fail(client.error());
  const auto commands = Commands::open(*path + "/worker", *helper, clock, *std::move(command_options));
  if (!commands) return fail(commands.error());
  return Worker(**client, **commands, clock, log, *std::move(worker_options)).run();
}

}  // namespace

int work(const WorkerVerbOptions& options) {
  // A reader of the log who goes away must not end us.
  std::signal(SIGPIPE, SIG_IGN);
  const RealClock clock;
  LineLog log(STDERR_FILENO, clock, options.json_log ? LogFormat::json : LogFormat::text,
                      LogLevel::info);
  const Status worked = work_on(options, clock, log);
  log.flush();
  return worked ? 0 : complain("worker", worked.error());
}

}  // namespace kron::cli
