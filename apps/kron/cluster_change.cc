#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "answer_text.h"
#include "cluster_definition.h"
#include "cluster_edit.h"
#include "cluster_verbs.h"
#include "kron/api/attribution.h"
#include "kron/base/text.h"
#include "kron/cluster/definition_edit.h"
#include "kron/daemon/this_machine.h"
#include "kron/env/local_users.h"
#include "kron/jobs/disk.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

namespace events = cluster::events;

Result<std::string> definition_given(const ClusterAddOptions& options) {
  if (options.file.empty()) {
    // A host would take what is no JSON for a text.
    if (const auto data = parse_json(options.data); !data && !options.data.empty()) {
      return fail(Code::invalid, "the data is no JSON: " + data.error().message, "data");
    }
    return definition_text({.cron = options.cron,
                            .command = options.command,
                            .task = options.task,
                            .data = options.data,
                            .lock = options.lock,
                            .is_locked = !options.no_lock,
                            .ttl = options.ttl});
  }
  const auto text = jobs::contents_of(options.file);
  if (!text) return fail(text.error().code, options.file + ": " + text.error().message);
  return std::string(trimmed(*text));
}

// As a host would read it. Warnings go to standard error.
Status check_definition(ClusterSession& session, const std::string& name, const std::string& text) {
  ZoneDatabase zones;
  const auto rules = read_rules(session, zones);
  if (!rules) return fail(rules.error());
  const cluster::ReadJob read = cluster::read_cluster_job(name, text, *rules, Instant());
  for (const std::string& warning : read.warnings) {
    std::fprintf(stderr, "kron cluster: %s: %s\n", harmless(name).c_str(), harmless(warning).c_str());
  }
  if (!read.errors.empty()) return fail(Code::invalid, harmless(name) + ": " + harmless(read.errors));
  return {};
}

enum class Written : std::uint8_t { added, replaced };

int print_written(const ClusterAddOptions& options, Written written, std::int64_t hosts) {
  if (options.json) {
    JsonWriter json;
    json.begin_map().member("job", options.name).key("replaced").boolean(written == Written::replaced);
    std::printf("%s\n", json.key("hosts").integer(hosts).end_map().take().c_str());
  } else {
    std::printf("%s %s\n", written == Written::added ? "added" : "replaced", harmless(options.name).c_str());
  }
  warn_if_unheard("cluster add", hosts, "those that start later read the job then");
  return 0;
}

Result<Written> write_job(ClusterSession& session, const ClusterAddOptions& options, const std::string& text) {
  const auto written = write_definition(session, options.name, text, options.replace);
  if (!written) return fail(written.error());
  if (*written == DefinitionWritten::kept) {
    return fail(Code::conflict,
                "there is a job " + quoted(options.name, 200) + " already; --replace replaces its definition");
  }
  return *written == DefinitionWritten::added ? Written::added : Written::replaced;
}

struct Switched {
  std::string_view verb;
  bool paused;
  std::string_view done;
};

// Of one call: the pause that is wanted, if one is, and who wants it.
struct WantedSwitch {
  std::optional<jobs::ClusterPause> pause;
  cluster::Sender sender;
};

Result<WantedSwitch> wanted_by_us(ClusterSession& session, const Switched& what, const std::string& note) {
  const uid_t user = ::geteuid();
  WantedSwitch wanted{
      .pause = {},
      .sender = {local_user_name(user).value_or("uid " + std::to_string(user)) + "@" + daemon::machine_name(), note}};
  if (!what.paused) return wanted;
  const auto now = read_time(session);
  if (!now) return fail(now.error());
  wanted.pause = {instant_of(static_cast<std::int64_t>(*now)), wanted.sender.by, note};
  return wanted;
}

Result<std::vector<Edit>> edits_of(ClusterSession& session, const ClusterNamesOptions& options) {
  const auto texts = options.all ? read_definitions(session) : read_definitions(session, options.names);
  if (!texts) return fail(texts.error());
  std::vector<Edit> edits;
  for (const auto& [name, text] : *texts) edits.push_back({name, text});
  return edits;
}

void print_switched(const Edit& edit, const Switched& what, bool json) {
  if (json) {
    JsonWriter line;
    line.begin_map().member("job", edit.name).key("paused").boolean(what.paused);
    line.key("changed").boolean(edit.outcome == Edit::Outcome::done);
    std::printf("%s\n", line.end_map().take().c_str());
    return;
  }
  if (edit.outcome == Edit::Outcome::gone) {
    std::printf("%s was removed meanwhile\n", harmless(edit.name).c_str());
    return;
  }
  std::printf("%s %s%s\n", std::string(what.done).c_str(), harmless(edit.name).c_str(),
              edit.outcome == Edit::Outcome::unchanged ? " (it was already)" : "");
}

Result<std::int64_t> switch_jobs(ClusterSession& session, std::vector<Edit>& edits, const WantedSwitch& wanted,
                                 bool all) {
  const auto change = [&wanted](const std::string& /*name*/, const std::string& text) {
    // What is no JSON object has no job_state; the set alone counts then.
    const auto edited = cluster::with_paused(text, wanted.pause);
    return Result<std::optional<std::string>>(edited ? std::optional(*edited) : std::nullopt);
  };
  if (const Status done = apply(session, edits, change, wanted.pause.has_value()); !done) return fail(done.error());
  const auto event = [&wanted](const std::string& job) -> cluster::Event {
    if (wanted.pause) return events::Pause{job, wanted.pause->since};
    return events::Resume{job};
  };
  if (all) return tell(session, event(std::string(events::kAllJobs)), wanted.sender);
  std::int64_t least = 0;
  for (const Edit& edit : edits) {
    const auto heard = tell(session, event(edit.name), wanted.sender);
    if (!heard) return heard;
    least = least == 0 ? *heard : std::min(least, *heard);
  }
  return least;
}

int switch_verb(const ClusterSwitchOptions& options, const Switched& what) {
  const std::string verb = "cluster " + std::string(what.verb);
  if (std::ranges::find(options.names, events::kAllJobs) != options.names.end()) {
    return refuse(verb, {Code::unreadable, "no job can be called all; --all is every job"}, options.json);
  }
  if (const Status is_good = api::check_note(options.note); !is_good) {
    return refuse(verb, {Code::unreadable, "--note " + is_good.error().message}, options.json);
  }
  auto session = ClusterSession::open(options);
  if (!session) return refuse(verb, session.error(), options.json);
  auto edits = edits_of(*session, options);
  if (!edits) return refuse(verb, edits.error(), options.json);
  const auto wanted = wanted_by_us(*session, what, options.note);
  if (!wanted) return refuse(verb, wanted.error(), options.json);
  const auto heard = switch_jobs(*session, *edits, *wanted, options.all);
  if (!heard) return refuse(verb, heard.error(), options.json);
  for (const Edit& edit : *edits) print_switched(edit, what, options.json);
  if (edits->empty() && !options.json) std::printf("no jobs\n");
  if (!edits->empty()) warn_if_unheard(verb, *heard, "those that start later see it");
  return 0;
}

struct Removed {
  bool was_there = false;
  std::int64_t pruned = 0;
  std::int64_t hosts = 0;
};

Result<Removed> remove_job(ClusterSession& session, const std::string& name, const StateFields* state) {
  const auto gone = session.ask({"HDEL", session.keys().jobs(), name});
  if (!gone) return fail(gone.error());
  Removed removed{.was_there = gone->integer > 0};
  const auto unpaused = session.ask({"SREM", session.keys().paused(), name});
  if (!unpaused) return fail(unpaused.error());
  // Also when it was not there: hosts may run a job that only an event has added.
  const auto heard = tell(session, events::Remove{name});
  if (!heard) return fail(heard.error());
  removed.hosts = *heard;
  if (state == nullptr) return removed;
  const auto fields = state->find(name);
  const auto pruned =
      prune_job(session, name, fields == state->end() ? std::span<const std::string>() : fields->second);
  if (!pruned) return fail(pruned.error());
  removed.pruned = *pruned;
  return removed;
}

}  // namespace

int cluster_add(const ClusterAddOptions& options) {
  constexpr std::string_view kVerb = "cluster add";
  auto text = definition_given(options);
  if (!text) return refuse(kVerb, text.error(), options.json);
  const auto key = signing_key(options.key_file);
  if (!key) return refuse(kVerb, key.error(), options.json);
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  if (const Status good = check_definition(*session, options.name, *text); !good) {
    return refuse(kVerb, good.error(), options.json);
  }
  if (*key) text = signed_text(**key, *session, options.name, *text);
  if (!text) return refuse(kVerb, text.error(), options.json);
  const auto written = write_job(*session, options, *text);
  if (!written) return refuse(kVerb, written.error(), options.json);
  const bool fits = text->size() < cluster::kLargestEvent / 2;
  const auto heard = *written == Written::added && fits ? tell(*session, events::Add{options.name, *text})
                                                        : tell(*session, events::Reload{});
  if (!heard) return refuse(kVerb, heard.error(), options.json);
  return print_written(options, *written, *heard);
}

int cluster_remove(const ClusterRemoveOptions& options) {
  constexpr std::string_view kVerb = "cluster remove";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto state = options.prune ? read_state_fields(*session) : Result<StateFields>(StateFields());
  if (!state) return refuse(kVerb, state.error(), options.json);
  int worst = 0;
  for (const std::string& name : options.names) {
    const auto removed = remove_job(*session, name, options.prune ? &*state : nullptr);
    if (!removed) return refuse(kVerb, removed.error(), options.json);
    if (!removed->was_there) {
      const Error missing{Code::not_found, "there is no job " + quoted(name, 200) + " in the cluster"};
      worst = std::max(worst, refuse(kVerb, missing, options.json));
      continue;
    }
    if (options.json) {
      JsonWriter json;
      json.begin_map().member("job", name).key("pruned").integer(removed->pruned);
      std::printf("%s\n", json.key("hosts").integer(removed->hosts).end_map().take().c_str());
    } else {
      std::printf("removed %s%s\n", harmless(name).c_str(), options.prune ? " and what was known of it" : "");
    }
  }
  return worst;
}

int cluster_pause(const ClusterSwitchOptions& options) { return switch_verb(options, {"pause", true, "paused"}); }
int cluster_resume(const ClusterSwitchOptions& options) { return switch_verb(options, {"resume", false, "resumed"}); }

int cluster_reload(const ClusterOptions& options) {
  constexpr std::string_view kVerb = "cluster reload";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto heard = tell(*session, events::Reload{});
  if (!heard) return refuse(kVerb, heard.error(), options.json);
  if (options.json) {
    std::printf("%s\n", JsonWriter().begin_map().key("hosts").integer(*heard).end_map().take().c_str());
  } else if (*heard > 0) {
    std::printf("told %lld host%s\n", static_cast<long long>(*heard), *heard == 1 ? "" : "s");
  }
  warn_if_unheard(kVerb, *heard, "those that start later read the jobs then");
  return 0;
}

int cluster_timezone(const ClusterTimezoneOptions& options) {
  constexpr std::string_view kVerb = "cluster timezone";
  ZoneDatabase zones;
  if (!options.zone.empty()) {
    if (const auto zone = zones.find(options.zone); !zone) return refuse(kVerb, zone.error(), options.json);
  }
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const std::string key = session->keys().cluster();
  if (!options.zone.empty()) {
    const auto set = session->ask({"HSET", key, "timezone", options.zone});
    if (!set) return refuse(kVerb, set.error(), options.json);
    const auto heard = tell(*session, events::Reload{});
    if (!heard) return refuse(kVerb, heard.error(), options.json);
  }
  const auto zone = session->ask({"HGET", key, "timezone"});
  if (!zone) return refuse(kVerb, zone.error(), options.json);
  if (options.json) {
    JsonWriter json;
    json.begin_map().key("timezone");
    zone->text.empty() ? json.null() : json.text(zone->text);
    std::printf("%s\n", json.end_map().take().c_str());
  } else {
    std::printf("%s\n", zone->text.empty() ? "none yet: the first host sets it" : harmless(zone->text).c_str());
  }
  return 0;
}

}  // namespace kron::cli
