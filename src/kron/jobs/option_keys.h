#pragma once

#include <cstdint>

#include "kron/jobs/definition.h"

namespace kron::jobs {

// What a whole number may be.
struct NumberRange {
  std::int64_t least;
  std::int64_t most;
};

// The keys by which a definition says how its job runs: all but `name`, `command`, `task` and those of
// json/job_fields.h. This is the one list of them. Whoever knows them visits it, with one verb for each kind of value:
// OptionReader (every spelling), OptionWriter (the canonical form) and OptionSchema (the schema, the names). A key
// whose kind is known is one line here. In the order of the canonical form; `shell` comes first, because the command is
// read by what it says.

// Those below `limits`.
template <class Visitor, class Limits>
void visit_limits(Visitor& visit, Limits& limits) {
  visit.seconds("cpu", limits.cpu, "CPU time");
  visit.size("memory", limits.memory, "Address space");
  visit.size("file_size", limits.file_size, "Size of a written file");
  visit.size("core", limits.core, "Size of a core dump");
  visit.count("files", limits.files, "Open files");
  visit.count("processes", limits.processes, "Processes of the user");
}

// Those below `notify`.
template <class Visitor, class Terms>
void visit_notify(Visitor& visit, Terms& terms) {
  visit.kinds("on", terms.on, "What to tell of; all of these when absent.");
  visit.number("after", terms.after, {1, kMostAfter}, 1U, "So many bad periods in a row open an alarm; 1 when absent.");
  visit.pause("repeat", terms.repeat, "While it is open, tell again no sooner than after this; never when absent.");
  visit.seconds("late", terms.late, "A run is late so long after its chosen time, or after its start.");
  visit.destinations("to", terms.to, "Names of destinations in the file of krond --notify-file.");
}

template <class Visitor, class Options>
void visit_options(Visitor& visit, Options& options) {
  visit.shell("shell", options.shell, "true: /bin/sh -c runs the command; a path: that shell.");
  visit.account("user", options.user, "Run as this user.");
  visit.account("group", options.group, "Run with this group.");
  visit.directory("cwd", options.cwd, "Working directory: an absolute path, or ~ for the user's home.");
  visit.environment("env", options.env, "Environment variables.");
  visit.env_files("env_file", options.secrets.env_files,
                  "Files with NAME=value lines, read at the start of each run: absolute paths.");
  visit.credentials("credential", options.secrets.credentials,
                    "Files that each run gets a copy of, by name, in $CREDENTIALS_DIRECTORY: NAME=/path.");
  visit.flag("mask_output", options.secrets.mask_output,
             "Replace values of env_file and credential in captured output by [masked].");
  visit.octal("umask", options.process.umask, 0777U, "Octal digits, such as 022.");
  visit.seconds("timeout", options.timeout, Seconds(0), "A run that takes longer is ended.");
  visit.seconds("grace", options.grace, kDefaultGrace, "Between asking a run to end and killing it; 10s when absent.");
  visit.number("retry", options.process.retry, {0, kMostRetries},
               "How many times a command that failed is executed again, within the same run.");
  visit.seconds("backoff", options.process.backoff, Seconds(kMostBackoff),
                "Before the first retry, then twice as long each time up to an hour; 10s when absent.");
  visit.fails_on("fails_on", options.process.fails_on,
                 "What makes a run a failed one: its exit code (exit), that or anything on standard error (stderr), or "
                 "nothing that the command itself does (nothing).");
  visit.exit_codes("success_exit", options.process.success_exit,
                   "Exit codes that are fine, such as 0,2; 0 when absent.");
  visit.output("stdout", options.out,
               "capture, discard, inherit (the daemon's own), syslog, or a file that is appended to.");
  visit.output("stderr", options.err,
               "capture, discard, inherit (the daemon's own), syslog, or a file that is appended to.");
  visit.scalar("stdin", options.input, "Standard input of the command, or payload of the task.");
  visit.number("nice", options.process.nice, {-20, 19}, "Scheduling priority.");
  visit.limits("limits", options.limits, "What the kernel holds each process of a run to.");
  visit.size("memory_max", options.process.memory_max,
             "Memory of all processes of a run together; with more, the run is killed. Needs cgroup v2.");
  visit.number("tasks_max", options.process.tasks_max, {1, kMostTasksMax},
               "Processes and threads of a run together. Needs cgroup v2.");
  visit.percent("cpu_max", options.process.cpu_max, kMostCpuMax,
                "Processor time of a run, in percent of one processor, such as 50%. Needs cgroup v2.");
  visit.pool("pool", options.pool,
             "The pool whose slots its runs need, as NAME of one that pools has, or NAME:SLOTS; a run without a slot "
             "waits until its deadline.");
  visit.number("history", options.history, {0, 100'000}, kDefaultHistory,
               "How many past periods to remember; 20 when absent.");
  visit.notify("notify", options.notify, "Who is told when the job goes bad, and when it is well again.");
  visit.ping("ping", options.ping,
             "The URL of a check, as of healthchecks, that hears of each run: when it starts, and how it ends.");
  visit.text("description", options.description, "For people.");
}

}  // namespace kron::jobs
