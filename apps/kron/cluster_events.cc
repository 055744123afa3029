#include <algorithm>
#include <cstdio>
#include <poll.h>

#include "answer_text.h"
#include "cluster_edit.h"
#include "cluster_hosts.h"
#include "cluster_verbs.h"
#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/env/clock.h"
#include "kron/env/random_hex.h"
#include "kron/json/writer.h"
#include "kron/scheduler/run_cause.h"
#include "lines.h"

namespace kron::cli {
namespace {

namespace events = cluster::events;

constexpr int kWaitMilliseconds = 200;
constexpr std::size_t kMostIdBytes = 200;

struct Signal {
  const char* verb;
  const char* name;
  bool is_kill;
};

Result<ClusterRun> signal_run(ClusterSession& session, const std::string& id, const Signal& signal) {
  const auto found = read_run(session, id);
  if (!found) return fail(found.error());
  if (!*found) return fail(Code::not_found, "there is no run " + quoted(id, kMostIdBytes) + " in the cluster");
  ClusterRun run = **found;
  if (!run.is_running()) return fail(Code::conflict, "run " + id + " has ended: " + result_of(run));
  const cluster::Event event =
      signal.is_kill ? cluster::Event(events::KillRun{id}) : cluster::Event(events::TerminateRun{id});
  const auto ended = tell_until(session, event, [&]() -> Result<bool> {
    const auto now = read_run(session, id);
    if (!now) return fail(now.error());
    if (*now) run = **now;
    return !*now || !run.is_running();
  });
  if (!ended) return fail(ended.error());
  if (!*ended) {
    return fail(Code::conflict, "run " + id + " has not ended within 15 s; its host " + harmless(run.host) +
                                    " may be away, or the command ignores " + signal.name);
  }
  return run;
}

int signal_verb(const ClusterNamesOptions& options, const Signal& signal) {
  const std::string verb = std::string("cluster ") + signal.verb;
  auto session = ClusterSession::open(options);
  if (!session) return refuse(verb, session.error(), options.json);
  int worst = 0;
  for (const std::string& id : options.names) {
    const auto run = signal_run(*session, id, signal);
    if (!run) {
      worst = std::max(worst, refuse(verb, run.error(), options.json));
      continue;
    }
    if (options.json) {
      JsonWriter json;
      write_json(json, *run);
      std::printf("%s\n", json.take().c_str());
    } else {
      std::printf("%s ended: %s\n", id.c_str(), harmless(result_of(*run)).c_str());
    }
  }
  return worst;
}

// The ids of the runs that a trigger may make: one, or without a lock one for each host.
Result<std::vector<std::string>> runs_of_trigger(ClusterSession& session, const std::string& job, bool is_locked,
                                                 const std::string& id) {
  if (is_locked) return std::vector<std::string>{requested_run_id(job, id)};
  const auto hosts = read_hosts(session);
  if (!hosts) return fail(hosts.error());
  std::vector<std::string> runs;
  for (const ClusterHost& host : hosts->krond) {
    if (host.is_fresh()) runs.push_back(requested_run_id(job + "\n" + host.instance, id));
  }
  return runs;
}

struct Waited {
  std::vector<ClusterRun> runs;
  std::optional<Error> problem = {};
};

// Until every run that has begun has ended; none begins within 15 s: a problem.
Result<Waited> wait_for_runs(ClusterSession& session, const std::vector<std::string>& ids,
                             std::optional<Nanoseconds> limit) {
  const RealClock clock;
  const Nanoseconds began = clock.monotonic();
  Scored wanted;
  for (const std::string& id : ids) wanted.emplace_back(id, 0);
  for (;;) {
    auto runs = read_runs(session, wanted);
    if (!runs) return fail(runs.error());
    const Nanoseconds passed = clock.monotonic() - began;
    const bool are_over = std::ranges::none_of(*runs, &ClusterRun::is_running);
    // Without a lock, hosts begin within a moment of each other.
    const bool are_all = runs->size() == ids.size() || passed > Seconds(5);
    if (!runs->empty() && are_over && are_all) return Waited{*std::move(runs)};
    if (limit && passed >= *limit) {
      return Waited{*std::move(runs), Error{Code::conflict, "it has not ended within " + duration_text(*limit)}};
    }
    if (runs->empty() && passed >= kEffectLimit) {
      return Waited{
          {},
          Error{Code::conflict,
                "no host has started it within 15 s: its lock is held by another run, or no host has the job"}};
    }
    ::poll(nullptr, 0, kWaitMilliseconds);
  }
}

int print_waited(const ClusterTriggerOptions& options, const Waited& waited) {
  int worst = 0;
  for (const ClusterRun& run : waited.runs) {
    if (options.json) {
      JsonWriter json;
      write_json(json, run);
      std::printf("%s\n", json.take().c_str());
    } else {
      print_cluster_run(run, screen_times(options.times));
    }
    if (run.status != "success") worst = exit_status(Code::invalid);
  }
  if (waited.problem) worst = refuse("cluster trigger", *waited.problem, options.json);
  return worst;
}

int print_triggered(const ClusterTriggerOptions& options, const std::vector<std::string>& runs, std::int64_t hosts) {
  if (options.json) {
    JsonWriter json;
    json.begin_map().member("job", options.name).key("runIds").begin_list();
    for (const std::string& run : runs) json.text(run);
    std::printf("%s\n", json.end_list().key("hosts").integer(hosts).end_map().take().c_str());
    return 0;
  }
  std::printf("told %lld host%s", static_cast<long long>(hosts), hosts == 1 ? "" : "s");
  if (runs.size() == 1) std::printf("; the run's id is %s", runs.front().c_str());
  std::printf("\n");
  return 0;
}

}  // namespace

int cluster_terminate(const ClusterNamesOptions& options) {
  return signal_verb(options, {"terminate", "SIGTERM", false});
}
int cluster_kill(const ClusterNamesOptions& options) { return signal_verb(options, {"kill", "SIGKILL", true}); }

int cluster_trigger(const ClusterTriggerOptions& options) {
  constexpr std::string_view kVerb = "cluster trigger";
  std::optional<Nanoseconds> limit;
  if (!options.timeout.empty()) {
    const auto given = parse_duration(options.timeout);
    if (!given) {
      Error error = given.error();
      error.field = "--timeout";
      return refuse(kVerb, error, options.json);
    }
    limit = *given;
  }
  if (options.id.size() > kMostIdBytes) {
    return refuse(kVerb, {Code::unreadable, "--id: at most 200 bytes"}, options.json);
  }
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const std::vector<std::string> names{options.name};
  const auto definition = read_definitions(*session, names);
  if (!definition) return refuse(kVerb, definition.error(), options.json);
  const auto node = lenient_json(definition->begin()->second);
  const bool is_locked = !node || lock_text(*node) != "none";
  const std::string id = options.id.empty() ? "kron-" + random_hex() : options.id;
  const auto now = read_time(*session);
  if (!now) return refuse(kVerb, now.error(), options.json);
  const auto runs = runs_of_trigger(*session, options.name, is_locked, id);
  if (!runs) return refuse(kVerb, runs.error(), options.json);
  const auto heard = tell(*session, events::Trigger{options.name, id, instant_of(static_cast<std::int64_t>(*now))});
  if (!heard) return refuse(kVerb, heard.error(), options.json);
  if (*heard == 0) {
    const auto hosts = read_hosts(*session);
    if (!hosts) return refuse(kVerb, hosts.error(), options.json);
    // In a Redis Cluster, listeners of other nodes are not counted.
    if (!hosts->has_fresh_krond()) {
      return refuse(kVerb, {Code::unreachable, "no host of the cluster listens; nothing was started"}, options.json);
    }
    warn_if_unheard(kVerb, 0, "it may not run");
  }
  if (!options.wait) return print_triggered(options, *runs, *heard);
  const auto waited = wait_for_runs(*session, *runs, limit);
  if (!waited) return refuse(kVerb, waited.error(), options.json);
  return print_waited(options, *waited);
}

}  // namespace kron::cli
