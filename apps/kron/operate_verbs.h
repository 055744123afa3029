#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kron/base/instant.h"
#include "krond_place.h"
#include "screen_times.h"
#include "web_service.h"

namespace kron::cli {

// The verbs that ask a running krond, free of the parsing of flags (operate_flags.cc). All return the exit status. Text
// of durations and times is as the user gave it; empty: none.

struct DaemonOptions : KrondOptions {
  bool json = false;
  TimeFlags times;
};

int show_status(const DaemonOptions& options);

// One live screen, until the reader ends it.
int show_top(const DaemonOptions& options);

struct ReloadOptions : DaemonOptions {
  bool dry_run = false;
};
int reload_jobs(const ReloadOptions& options);

struct JobsOptions : DaemonOptions {
  std::string prefix, match, state;
  std::string sort;  // name, next, last or duration; empty: as krond has them
  std::size_t limit = 100;
  bool all = false;         // whatever the limit
  bool only_names = false;  // one a line
};
int list_jobs(const JobsOptions& options);

struct RunsOptions : DaemonOptions {
  std::string job, prefix, outcome, result, from, to, before;
  std::size_t limit = 100;
};
int list_runs(const RunsOptions& options);

struct NameOptions : DaemonOptions {
  std::string name;  // of a job or a run
};
int show_one(const NameOptions& options);
// Edits the file of a job, or a file, checks it, and has krond read it again.
int edit_jobs(const NameOptions& options);

struct WhyOptions : NameOptions {
  std::string at, period;  // at most one
};
int show_why(const WhyOptions& options);

struct LogsOptions : NameOptions {
  bool follow = false;
  std::size_t tail = 0;  // so many of the last lines; 0: all
};
int show_output(const LogsOptions& options);

struct TriggerOptions : NameOptions {
  std::string key;    // empty: a new one
  std::string note;   // what is to be said about it; empty: nothing
  bool wait = false;  // for its end
  std::string timeout;
};
int trigger_job(const TriggerOptions& options);

struct WaitOptions : NameOptions {
  std::string timeout;
};
int wait_for_end(const WaitOptions& options);

struct PauseOptions : DaemonOptions {
  std::vector<std::string> names;
  std::string prefix;           // in place of the names
  bool yes = false;             // with a prefix: do it, not only say what would be done
  std::string note;             // what is to be said about it; empty: nothing
  std::string until, duration;  // at most one
  bool skip_missed = false;
};
int pause_jobs(const PauseOptions& options);
int resume_jobs(const PauseOptions& options);

struct KillOptions : NameOptions {
  std::string note;     // what is to be said about it; empty: nothing
  bool gently = false;  // TERM first
};
int kill_run(const KillOptions& options);

struct EventsOptions : DaemonOptions {
  std::string after;               // an event's id
  std::size_t limit = 0;           // end after so many; 0: never
  Nanoseconds pause = Seconds(1);  // before a stream that broke is asked for again
};
int show_events(const EventsOptions& options);

struct DoctorOptions : DaemonOptions {
  std::vector<std::string> config;  // empty: what krond says, else the default
  std::string helper;
};
struct WebOptions : DaemonOptions {
  std::string listen;       // empty: 127.0.0.1:8126 and [::1]:8126, or the next port that is free
  bool no_open = false;     // no browser is started
  bool admin = false;       // also what only administrators may
  bool is_service = false;  // for many, with tokens, not as oneself
  ServiceOptions service = {};
};
int serve_page(const WebOptions& options);

int examine_host(const DoctorOptions& options);

}  // namespace kron::cli
