#pragma once

#include <cstddef>
#include <string>

#include "files.h"
#include "operate_verbs.h"
#include "screen_times.h"

namespace kron::cli {

// The work of each verb, free of the parsing of flags (main.cc). All return the exit status.

int decide_lines();
int evaluate_lines();

struct NextOptions {
  std::string cron;
  std::string zone = "UTC";
  std::string from;  // empty: the present time
  int count = 5;
  std::string identity;
  std::string dst;
  bool json = false;
  bool ics = false;  // a calendar, of jobs

  std::string job;  // of the files, or of krond when there are none
  bool all = false;
  SourceOptions files;
  DaemonOptions krond = {};
  std::string duration;  // empty: `count` decides
  TimeFlags times = {};
};
int next(const NextOptions& options);
int next_batch();
int next_jobs(const NextOptions& options);

struct LintVerbOptions {
  SourceOptions files;
  bool of_krond = false;  // its jobs, instead of files
  DaemonOptions krond = {};
  std::size_t max_running = 0;  // 0: of krond, if it is asked; else any number
  std::string now;              // empty: the present time
  bool quiet = false;           // errors only
  bool json = false;
  std::string notify_file = {};  // of destinations; empty: krond's default, if it is there
};
int lint(const LintVerbOptions& options);

struct ExplainOptions {
  std::string job;
  SourceOptions files;  // none: the job of krond
  DaemonOptions krond = {};
  std::string at, period;  // at most one
  std::string now;         // empty: the present time
  std::string log_line;    // instead of all the above
  bool json = false;
  TimeFlags times = {};
};
int explain_period(const ExplainOptions& options);

struct ConvertOptions {
  SourceOptions files;
  std::string to;  // kron or yaml
};
int convert(const ConvertOptions& options);

struct ImportOptions {
  std::string kind;  // crontab, cronjob, timers, cronicle or dkron
  std::string file = "-";
  bool system = false;          // the machine's own crontabs
  bool user_column = false;     // the crontab has one, whatever its name
  bool readable_names = false;  // after the command, instead of a hash
  std::string to = "yaml";
  // Timers alone.
  std::string from;               // what systemctl show printed; empty: ask this machine's
  bool all = false;               // also those that are not active
  std::optional<bool> keep_unit;  // jobs start the units, or run their commands; absent: as each needs
};
int import_jobs(const ImportOptions& options);
int import_timers(const ImportOptions& options);
int import_foreign(const ImportOptions& options);

int print_schema();

struct SimulateOptions {
  SourceOptions files;  // none: the jobs of krond
  DaemonOptions krond = {};
  std::string from;  // empty: the present minute
  std::string length = "7d";
  std::string step = "1m";
  std::string format = "text";  // or json, html
  bool progress = false;        // even when standard error is no terminal
};
int simulate(const SimulateOptions& options);

}  // namespace kron::cli
