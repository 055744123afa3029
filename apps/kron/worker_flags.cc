#include <CLI/CLI.hpp>
#include <memory>

#include "kron/queue/task_queue.h"
#include "shared_flags.h"
#include "task_verbs.h"

namespace kron::cli {

std::function<int()> set_up_worker(CLI::App& verb) {
  const auto options = std::make_shared<WorkerVerbOptions>();
  verb.add_option("--type", options->types, "Only tasks of this type; may be repeated (default: all types)")
      ->type_name("TYPE")
      ->allow_extra_args(false);
  verb.add_option("--exec", options->command,
                  "Command to run for each task: data on standard input, result on standard output")
      ->type_name("CMD")
      ->required();
  verb.add_flag("--shell", options->shell, "Run the command with /bin/sh");
  verb.add_option("--concurrency", options->concurrency, "Number of commands at a time (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kMostLeases));
  verb.add_option("--lease", options->lease, "Lease duration: how long a task is held without a renewal")
      ->type_name("DURATION")
      ->capture_default_str();
  verb.add_option("--timeout", options->timeout, "Time limit per attempt for tasks without their own (default: none)")
      ->type_name("DURATION");
  verb.add_option("--grace", options->grace, "Time between SIGTERM and SIGKILL when a command must end")
      ->type_name("DURATION")
      ->capture_default_str();
  auto* drain = verb.add_flag("--drain", options->drain, "Exit when no task of these types is left");
  auto* once = verb.add_flag("--once", options->once, "Exit when no task is ready now");
  once->excludes(drain);
  verb.add_option("--name", options->name, "Name of the lease holder (default: host:PID)")->type_name("NAME");
  add_task_place(verb, options->place);
  verb.add_option("--work-dir", options->work_dir,
                  "Directory for staged output (default: below the data or state directory)")
      ->type_name("DIR");
  verb.add_option_function<std::string>(
          "--log-format", [options](const std::string& format) { options->json_log = format == "json"; },
          "Format of the log on standard error (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
  verb.add_option("--helper", options->helper, "Path of kron-exec, if it is not in its installed place")
      ->type_name("PATH");
  return [options] { return work(*options); };
}

}  // namespace kron::cli
