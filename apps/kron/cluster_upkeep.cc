#include <algorithm>
#include <cstdio>

#include "answer_text.h"
#include "cluster_edit.h"
#include "cluster_hosts.h"
#include "cluster_verbs.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

namespace events = cluster::events;

// What a host would say of it: whether it has errors.
Result<std::map<std::string, bool>> expected_errors(ClusterSession& session, const Definitions& definitions) {
  ZoneDatabase zones;
  const auto rules = read_rules(session, zones);
  if (!rules) return fail(rules.error());
  std::map<std::string, bool> expected;
  for (const auto& [name, text] : definitions) {
    expected.emplace(name, !cluster::read_cluster_job(name, text, *rules, Instant()).errors.empty());
  }
  return expected;
}

std::string noted_errors(const std::string& text) {
  const auto node = lenient_json(text);
  return node ? problem_in(*node) : "no JSON";
}

Result<Definitions> meant_definitions(ClusterSession& session, const std::vector<std::string>& names) {
  return names.empty() ? read_definitions(session) : read_definitions(session, names);
}

int print_validated(const ClusterNamesOptions& options, const Definitions& definitions) {
  std::size_t bad = 0;
  for (const auto& [name, text] : definitions) {
    const std::string errors = noted_errors(text);
    bad += errors.empty() ? 0 : 1;
    if (options.json) {
      JsonWriter json;
      json.begin_map().member("job", name).key("errors");
      errors.empty() ? json.null() : json.text(errors);
      std::printf("%s\n", json.end_map().take().c_str());
    } else if (!errors.empty()) {
      std::printf("%s: %s\n", harmless(name).c_str(), harmless(errors).c_str());
    }
  }
  if (!options.json) {
    std::printf("%zu job%s, %zu with errors\n", definitions.size(), definitions.size() == 1 ? "" : "s", bad);
  }
  return bad == 0 ? 0 : exit_status(Code::invalid);
}

bool is_host_named(const ClusterHost& host, const std::string& name) {
  return host.instance == name || host.entry.host == name;
}

}  // namespace

int cluster_validate(const ClusterNamesOptions& options) {
  constexpr std::string_view kVerb = "cluster validate";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  auto definitions = meant_definitions(*session, options.names);
  if (!definitions) return refuse(kVerb, definitions.error(), options.json);
  const auto expected = expected_errors(*session, *definitions);
  if (!expected) return refuse(kVerb, expected.error(), options.json);
  const auto hosts = read_hosts(*session);
  if (!hosts) return refuse(kVerb, hosts.error(), options.json);
  if (!hosts->has_fresh_krond() && hosts->others.empty()) {
    return refuse(kVerb, {Code::unreachable, "no host of the cluster has been seen for 45 s; nobody validates"},
                  options.json);
  }
  // Hosts that agree with us need not be waited for any longer; with others (signatures, another version) it is 15 s.
  const auto done = tell_until(*session, events::Validate{options.names}, [&]() -> Result<bool> {
    auto now = meant_definitions(*session, options.names);
    if (!now) return fail(now.error());
    definitions = *std::move(now);
    return std::ranges::all_of(*definitions, [&](const auto& definition) {
      const auto known = expected->find(definition.first);
      return known != expected->end() && known->second != noted_errors(definition.second).empty();
    });
  });
  if (!done) return refuse(kVerb, done.error(), options.json);
  return print_validated(options, *definitions);
}

int cluster_drain(const ClusterNamesOptions& options) {
  constexpr std::string_view kVerb = "cluster drain";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto known = read_hosts(*session);
  if (!known) return refuse(kVerb, known.error(), options.json);
  std::vector<std::string> silent;  // they hear the event, and do not say so in Redis
  for (const std::string& name : options.names) {
    if (std::ranges::any_of(known->krond, [&](const ClusterHost& host) { return is_host_named(host, name); })) continue;
    if (std::ranges::find(known->others, name, &ForeignInstance::host) == known->others.end()) {
      return refuse(kVerb, {Code::not_found, "there is no host " + quoted(name, 200) + " in the cluster"},
                    options.json);
    }
    silent.push_back(name);
  }
  std::vector<ClusterHost> drained;
  const auto done = tell_until(*session, events::DrainNodes{options.names}, [&]() -> Result<bool> {
    const auto hosts = read_hosts(*session);
    if (!hosts) return fail(hosts.error());
    drained.clear();
    bool are_all = true;
    for (const ClusterHost& host : hosts->krond) {
      const bool is_meant =
          std::ranges::any_of(options.names, [&](const std::string& name) { return is_host_named(host, name); });
      if (!is_meant) continue;
      if (host.entry.is_draining) drained.push_back(host);
      are_all = are_all && host.entry.is_draining;
    }
    return are_all;
  });
  if (!done) return refuse(kVerb, done.error(), options.json);
  for (const ClusterHost& host : drained) {
    if (options.json) {
      JsonWriter json;
      json.begin_map().member("instance", host.instance).key("draining").boolean(true).end_map();
      std::printf("%s\n", json.take().c_str());
    } else {
      std::printf("%s starts nothing more, until it is restarted\n", harmless(host.instance).c_str());
    }
  }
  for (const std::string& name : silent) {
    std::fprintf(stderr, "kron cluster drain: %s was told, and is no krond: it does not say whether it has heard\n",
                 harmless(name).c_str());
  }
  if (*done) return 0;
  return refuse(kVerb, {Code::conflict, "not every host has said so within 15 s; see kron cluster status"},
                options.json);
}

}  // namespace kron::cli
