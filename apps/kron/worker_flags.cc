#include <CLI/CLI.hpp>
#include <memory>

#include "kron/queue/task_queue.h"
#include "shared_flags.h"
#include "task_verbs.h"

namespace kron::cli {

std::function<int()> set_up_worker(CLI::App& verb) {
  const auto options = std::make_shared<WorkerVerbOptions>();
  verb.add_option("--type", options->types, "Tasks of this type; again for more (any)")
      ->type_name("TYPE")
      ->allow_extra_args(false);
  verb.add_option("--exec", options->command, "The command: data on standard input, result on standard output")
      ->type_name("CMD")
      ->required();
  verb.add_flag("--shell", options->shell, "The command is for /bin/sh");
  verb.add_option("--concurrency", options->concurrency, "Commands at a time (1)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kMostLeases));
  verb.add_option("--lease", options->lease, "How long a task is ours without a renewal")
      ->type_name("DURATION")
      ->capture_default_str();
  verb.add_option("--timeout", options->timeout, "Of an attempt at a task that has none of its own (none)")
      ->type_name("DURATION");
  verb.add_option("--grace", options->grace, "Between TERM and KILL for a command that must end")
      ->type_name("DURATION")
      ->capture_default_str();
  auto* drain = verb.add_flag("--drain", options->drain, "End when no task of these types is left");
  auto* once = verb.add_flag("--once", options->once, "End when none is ready now");
  once->excludes(drain);
  verb.add_option("--name", options->name, "Who holds the leases (host:PID)")->type_name("NAME");
  add_task_place(verb, options->place);
  verb.add_option("--work-dir", options->work_dir,
                  "Where its commands stage their output (below the data or the state directory)")
      ->type_name("DIR");
  verb.add_option_function<std::string>(
          "--log-format", [options](const std::string& format) { options->json_log = format == "json"; },
          "How lines of the log on standard error look (text)")
      ->check(CLI::IsMember({"text", "json"}));
  verb.add_option("--helper", options->helper, "The kron-exec to use, when it is not where it was installed")
      ->type_name("PATH");
  return [options] { return work(*options); };
}

}  // namespace kron::cli
