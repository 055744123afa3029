#include <array>
#include <climits>
#include <csignal>
#include <unistd.h>

#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/env/places.h"
#include "kron/jobs/words.h"
#include "kron/runner/find_kron_exec.h"
#include "lines.h"
#include "task_api_queue.h"
#include "task_owned_queue.h"
#include "task_redis_queue.h"
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

// A worker of krond waits there for tasks; one that is to end by itself asks more often whether there are any left.
Seconds patience_of(WorkUntil until) {
  if (until == WorkUntil::idle) return Seconds(0);
  return until == WorkUntil::drained ? Seconds(1) : Seconds(30);
}

// Every worker of a host has a directory of its own. One that was killed leaves its commands, and whoever takes its
// place ends them.
Result<std::unique_ptr<Commands>> commands_among_others(const std::string& directory, const std::string& helper,
                                                        const Clock& clock, const CommandOptions& options) {
  constexpr int kMostWorkers = 1000;
  for (int number = 1; number < kMostWorkers; ++number) {
    auto commands = Commands::open(directory + "/" + std::to_string(number), helper, clock, options);
    if (commands || commands.error().code != Code::conflict) return commands;
  }
  return fail(Code::conflict, "there are too many workers in " + directory + "; name another --work-dir");
}

Result<std::unique_ptr<TaskClient>> client_at(const TaskPlace& place, const WorkerVerbOptions& options, WorkUntil until,
                                              const Clock& clock, Log& log) {
  if (place.in_redis) {
    auto client = RedisTasks::open(options.place.redis, until != WorkUntil::idle, clock, log);
    if (!client) return fail(client.error());
    return *std::move(client);
  }
  auto client = ApiQueue::open(*place.krond, patience_of(until), clock);
  if (!client) return fail(client.error());
  return *std::move(client);
}

Status work_for_others(const WorkerVerbOptions& options, const TaskPlace& place, const Clock& clock, LineLog& log,
                       const std::string& helper, CommandOptions command_options, WorkerOptions worker_options) {
  const auto directory = options.work_dir.empty() ? workers_directory(options.place) : absolute_path(options.work_dir);
  if (!directory) return fail(directory.error());
  const auto client = client_at(place, options, worker_options.until, clock, log);
  if (!client) return fail(client.error());
  // One that goes on for ever waits for a krond or a Redis that is away; one that is to end says so.
  if (worker_options.until != WorkUntil::stopped) {
    if (const auto left = (*client)->has_left(worker_options.types); !left) return fail(left.error());
  }
  const auto commands = commands_among_others(*directory, helper, clock, command_options);
  if (!commands) return fail(commands.error());
  return Worker(**client, **commands, clock, log, std::move(worker_options)).run();
}

Status work_on_directory(const WorkerVerbOptions& options, const std::string& path, const Clock& clock, LineLog& log,
                         const std::string& helper, CommandOptions command_options, WorkerOptions worker_options) {
  const auto client = OwnedQueue::open(path, true, clock, log);
  if (!client) return fail(client.error());
  const std::string directory = options.work_dir.empty() ? path + "/worker" : absolute_path(options.work_dir);
  const auto commands = Commands::open(directory, helper, clock, std::move(command_options));
  if (!commands) return fail(commands.error());
  return Worker(**client, **commands, clock, log, std::move(worker_options)).run();
}

Status work_on(const WorkerVerbOptions& options, const Clock& clock, LineLog& log) {
  auto worker_options = worker_options_of(options);
  if (!worker_options) return fail(worker_options.error());
  auto command_options = command_options_of(options);
  if (!command_options) return fail(command_options.error());
  const auto helper = runner::find_kron_exec(options.helper);
  if (!helper) return fail(helper.error());
  const auto place = task_place(options.place);
  if (!place) return fail(place.error());
  if (!place->data_directory.empty()) {
    return work_on_directory(options, place->data_directory, clock, log, *helper, *std::move(command_options),
                             *std::move(worker_options));
  }
  return work_for_others(options, *place, clock, log, *helper, *std::move(command_options), *std::move(worker_options));
}

}  // namespace

int work(const WorkerVerbOptions& options) {
  // A reader of the log who goes away must not end us.
  std::signal(SIGPIPE, SIG_IGN);
  const RealClock clock;
  LineLog log(STDERR_FILENO, clock, options.json_log ? LogFormat::json : LogFormat::text, LogLevel::info);
  const Status worked = work_on(options, clock, log);
  log.flush();
  return worked ? 0 : complain("worker", worked.error());
}

}  // namespace kron::cli
