#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "answer_text.h"
#include "cluster_hosts.h"
#include "cluster_read.h"
#include "cluster_server.h"
#include "cluster_verbs.h"
#include "flag_values.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

// Of how many jobs the memory of their results is added up.
constexpr std::size_t kMostMeasured = 20'000;
constexpr const char* kOutcomesRead = "1000";
// A clock that is further off is worth a warning: not for the schedule, but for whoever reads logs.
constexpr double kMostOffset = 1.0;

struct Counts {
  std::int64_t jobs = 0, paused = 0, runs = 0, active = 0, state = 0, outcomes = 0;
  std::size_t invalid = 0;  // definitions with validation_errors, or without JSON
  std::uint64_t memory = 0;
  std::uint64_t result_memory = 0;
  bool is_all_measured = true;
  std::size_t lost_writes = 0;  // among the last outcomes
};

struct Overview {
  std::string timezone;
  std::string format;
  double now = 0;
  ClusterHosts hosts;
  Counts counts;
  RedisInfo info;
  std::vector<std::string> warnings;
};

Result<std::uint64_t> memory_of(ClusterSession& session, const std::vector<std::string>& keys) {
  constexpr std::size_t kBatch = 500;
  std::uint64_t sum = 0;
  for (std::size_t first = 0; first < keys.size(); first += kBatch) {
    std::vector<RedisCommand> commands;
    for (std::size_t i = first; i < std::min(first + kBatch, keys.size()); ++i) {
      commands.push_back({"MEMORY", "USAGE", keys[i]});
    }
    const auto replies = session.ask_all(commands);
    if (!replies) return fail(replies.error());
    for (const RedisReply& reply : *replies)
      sum += static_cast<std::uint64_t>(std::max<std::int64_t>(integer_of(reply), 0));
  }
  return sum;
}

Status count_jobs(ClusterSession& session, Counts& counts) {
  const auto definitions = read_definitions(session);
  if (!definitions) return fail(definitions.error());
  const cluster::Keys& keys = session.keys();
  std::vector<std::string> results;
  for (const auto& [name, text] : *definitions) {
    const auto node = lenient_json(text);
    if (!node || node->as<Node::Map>() == nullptr || !problem_in(*node).empty()) ++counts.invalid;
    if (results.size() >= 2 * kMostMeasured) {
      counts.is_all_measured = false;
      continue;
    }
    for (const char* status : {"success", "fail"}) results.push_back(keys.results(name, status));
  }
  const auto memory = memory_of(session, {keys.jobs(), keys.rundata(), keys.active(), keys.state(), keys.claims(),
                                          keys.outcomes(), keys.results("success"), keys.results("fail")});
  if (!memory) return fail(memory.error());
  const auto of_results = memory_of(session, results);
  if (!of_results) return fail(of_results.error());
  counts.result_memory = *of_results;
  counts.memory = *memory + *of_results;
  return {};
}

// Sizes. A key of another type, or a right that is missing, is a warning and not the end: this verb is for trouble.
Status count_keys(ClusterSession& session, Overview& overview) {
  const cluster::Keys& keys = session.keys();
  Counts& counts = overview.counts;
  struct Wanted {
    const char* command;
    std::string key;
    std::int64_t* count;
  };
  const std::array wanted{
      Wanted{"HLEN", keys.jobs(), &counts.jobs},    Wanted{"SCARD", keys.paused(), &counts.paused},
      Wanted{"HLEN", keys.rundata(), &counts.runs}, Wanted{"ZCARD", keys.active(), &counts.active},
      Wanted{"HLEN", keys.state(), &counts.state},  Wanted{"XLEN", keys.outcomes(), &counts.outcomes}};
  std::vector<RedisCommand> commands;
  for (const Wanted& one : wanted) commands.push_back({one.command, one.key});
  const auto replies = session.ask_all(commands);
  if (!replies) return fail(replies.error());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    *wanted[i].count = integer_of((*replies)[i]);
    if ((*replies)[i].how == RedisReply::How::error) {
      overview.warnings.push_back(wanted[i].key + ": " + error_of_redis((*replies)[i].why).message);
    }
  }
  const auto outcomes =
      session.ask_all(std::array{RedisCommand{"XREVRANGE", keys.outcomes(), "+", "-", "COUNT", kOutcomesRead}});
  if (!outcomes) return fail(outcomes.error());
  for (const RedisValue& entry : outcomes->front().value.items) {
    if (entry.items.size() != 2 || entry.items[1].items.size() < 2) continue;
    if (entry.items[1].items[1].text.starts_with(R"({"event":"lost_writes")")) ++counts.lost_writes;
  }
  return {};
}

Status look_at_server(ClusterSession& session, Overview& overview) {
  const std::array commands{RedisCommand{"INFO"}, RedisCommand{"CONFIG", "GET", "appendfsync"},
                            RedisCommand{"HGET", session.keys().cluster(), "timezone"},
                            RedisCommand{"HGET", session.keys().cluster(), "format"}};
  const auto replies = session.ask_all(commands);
  if (!replies) return fail(replies.error());
  if ((*replies)[0].how == RedisReply::How::error) {
    overview.warnings.push_back("INFO: " + error_of_redis((*replies)[0].why).message);
  }
  overview.info = parse_info(text_of((*replies)[0]));
  const auto& config = (*replies)[1].value.items;
  std::ranges::move(warnings_of(overview.info, config.size() == 2 ? config[1].text : ""),
                    std::back_inserter(overview.warnings));
  overview.timezone = text_of((*replies)[2]);
  overview.format = text_of((*replies)[3]);
  return {};
}

void warn_of_hosts(Overview& overview) {
  const ClusterHosts& hosts = overview.hosts;
  std::vector<std::string>& warnings = overview.warnings;
  if (!hosts.has_fresh_krond() && overview.counts.jobs > 0) warnings.emplace_back("no krond runs these jobs");
  bool has_seed_mode = false;
  for (const ClusterHost& host : hosts.krond) {
    has_seed_mode = has_seed_mode || (host.is_fresh() && host.entry.mode == cluster::Dialect::seed);
    if (!host.is_fresh()) {
      warnings.push_back(host.instance + " has said nothing for " + seconds_text(host.age));
    }
    if (std::abs(host.entry.clock_offset) > kMostOffset) {
      warnings.push_back("the clock of " + host.instance + " is off by " + seconds_text(-host.entry.clock_offset) +
                         "; jobs run by Redis's clock, and its logs have the other");
    }
  }
  if (has_seed_mode && !hosts.others.empty()) {
    warnings.emplace_back(
        "there are instances of cronken, and krond that do not run with --cluster-compat cronken: they "
        "damage each other's runs; see docs/migrating-from-cronken.md");
  }
  if (hosts.unreadable > 0) {
    warnings.push_back(std::to_string(hosts.unreadable) + " entries among the hosts cannot be read");
  }
  if (overview.counts.lost_writes > 0) {
    warnings.push_back("Redis has lost writes (" + std::to_string(overview.counts.lost_writes) +
                       " reports among the last outcomes): a period may have run twice; see docs/cluster.md");
  }
}

Result<Overview> look(ClusterSession& session) {
  Overview overview;
  const auto now = read_time(session);
  if (!now) return fail(now.error());
  overview.now = *now;
  if (const Status done = look_at_server(session, overview); !done) return fail(done.error());
  if (const Status done = count_keys(session, overview); !done) return fail(done.error());
  // What is of another type has been said; the rest is shown.
  const auto note = [&overview](const Error& error) {
    if (error.code == Code::unreachable) return false;
    overview.warnings.push_back(error.message);
    return true;
  };
  auto hosts = read_hosts(session);
  if (!hosts && !note(hosts.error())) return fail(hosts.error());
  if (hosts) overview.hosts = *std::move(hosts);
  if (const Status done = count_jobs(session, overview.counts); !done && !note(done.error())) return fail(done.error());
  warn_of_hosts(overview);
  return overview;
}

std::string state_of(const ClusterHost& host) {
  if (!host.is_fresh()) return "away";
  return host.entry.is_draining ? "draining" : "up";
}

// Whole seconds: a beat comes every few of them.
std::string ago_text(double age) { return seconds_text(std::floor(std::max(age, 0.0))) + " ago"; }

std::string_view name_of(cluster::Dialect dialect) { return dialect == cluster::Dialect::cronken ? "cronken" : "seed"; }

void print_overview(const ClusterSession& session, const Overview& overview, const ScreenTimes& times) {
  const Counts& counts = overview.counts;
  print_field("cluster", session.keys().name_space());
  print_field("timezone", overview.timezone.empty() ? "none yet: the first host sets it" : overview.timezone);
  print_field("now", times.at(time_text(overview.now)) + (times.is_for_people() ? " " + times.zone_name() : ""));
  print_field("redis", fact(overview.info, "redis_version") + " " + fact(overview.info, "role"));
  print_field("jobs", std::to_string(counts.jobs) + ", " + std::to_string(counts.paused) + " paused, " +
                          std::to_string(counts.invalid) + " invalid");
  print_field("runs", std::to_string(counts.active) + " active, " + std::to_string(counts.runs) + " remembered");
  print_field("memory", bytes_text(counts.memory) + (counts.is_all_measured ? "" : " at least") + ", results of jobs " +
                            bytes_text(counts.result_memory));
  if (!overview.hosts.krond.empty() || !overview.hosts.others.empty()) {
    std::printf("\n");
    Table table({"HOST", "STATE", "VERSION", "MODE", "CLOCK", "LAST BEAT", "RUNS"});
    for (const ClusterHost& host : overview.hosts.krond) {
      const std::string offset = seconds_text(-host.entry.clock_offset);
      const bool is_ahead = host.entry.clock_offset < 0 && offset != "0s";
      table.add({host.instance, state_of(host), host.entry.version, std::string(name_of(host.entry.mode)),
                 is_ahead ? "+" + offset : offset, ago_text(host.age), std::to_string(host.entry.runs)});
    }
    for (const ForeignInstance& other : overview.hosts.others) {
      table.add({other.host, "no krond", "-", "cronken", "-", ago_text(other.age), "-"});
    }
    table.print();
  }
  if (!overview.warnings.empty()) std::printf("\n");
  for (const std::string& warning : overview.warnings) print_field("warning", warning);
}

void print_json(const ClusterSession& session, const Overview& overview) {
  const Counts& counts = overview.counts;
  JsonWriter json;
  json.begin_map().member("namespace", session.keys().name_space()).key("timezone");
  overview.timezone.empty() ? json.null() : json.text(overview.timezone);
  json.member("now", time_text(overview.now));
  json.key("redis").begin_map().member("version", fact(overview.info, "redis_version"));
  json.member("role", fact(overview.info, "role")).end_map();
  json.key("hosts").begin_list();
  for (const ClusterHost& host : overview.hosts.krond) {
    json.begin_map().member("instance", host.instance).member("host", host.entry.host).member("ip", host.entry.ip);
    json.member("version", host.entry.version).member("mode", name_of(host.entry.mode));
    json.member("state", state_of(host)).key("clockOffset").real(-host.entry.clock_offset);
    json.key("beatAge").real(host.age).key("runs").integer(static_cast<std::int64_t>(host.entry.runs)).end_map();
  }
  json.end_list().key("foreign").begin_list();
  for (const ForeignInstance& other : overview.hosts.others) {
    json.begin_map().member("host", other.host).member("ip", other.ip).key("beatAge").real(other.age).end_map();
  }
  json.end_list();
  json.key("jobs").integer(counts.jobs).key("paused").integer(counts.paused);
  json.key("invalid").integer(static_cast<std::int64_t>(counts.invalid));
  json.key("activeRuns").integer(counts.active).key("rememberedRuns").integer(counts.runs);
  json.key("memory").integer(static_cast<std::int64_t>(counts.memory));
  json.key("resultMemory").integer(static_cast<std::int64_t>(counts.result_memory));
  json.key("lostWrites").integer(static_cast<std::int64_t>(counts.lost_writes));
  json.key("warnings").begin_list();
  for (const std::string& warning : overview.warnings) json.text(warning);
  std::printf("%s\n", json.end_list().end_map().take().c_str());
}

}  // namespace

int cluster_status(const ClusterOptions& options) {
  constexpr std::string_view kVerb = "cluster status";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto overview = look(*session);
  if (!overview) return refuse(kVerb, overview.error(), options.json);
  options.json ? print_json(*session, *overview) : print_overview(*session, *overview, screen_times(options.times));
  return 0;
}

}  // namespace kron::cli
