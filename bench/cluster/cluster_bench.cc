#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "../krond/bare_loop.h"
#include "../krond/host.h"
#include "bare_scripts.h"
#include "servers.h"

// Hosts on one Redis, next to what bounds them on this machine: processes without a scheduler, the scripts without a
// krond, and krond on files.
namespace kron::bench {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr char kEachSecond[] = R"({"second":"*"})";

struct Counts {
  int spawns;  // of the bare loop
  int rounds;  // of 128 bare scripts
  int crowd;   // due in one second
  int rate;    // due in each
  int seconds;
  std::vector<int> hosts;
};

const Counts kFull{1000, 200, 1000, 200, 20, {1, 3, 5}};
const Counts kBrief{10, 2, 10, 5, 2, {1, 3}};

// cron_args of one second, in UTC.
std::string cron_at(std::int64_t second) {
  const auto time = static_cast<time_t>(second);
  tm civil{};
  ::gmtime_r(&time, &civil);
  char text[160];
  std::snprintf(text, sizeof text, R"({"month":"%d","day":"%d","hour":"%d","minute":"%d","second":"%d"})",
                civil.tm_mon + 1, civil.tm_mday, civil.tm_hour, civil.tm_min, civil.tm_sec);
  return text;
}

double per_second(const std::vector<std::int64_t>& stamps, std::int64_t begin, std::int64_t end) {
  const auto count = std::ranges::count_if(stamps, [&](std::int64_t at) { return at >= begin && at < end; });
  return static_cast<double>(count) * 1e9 / static_cast<double>(end - begin);
}

// More jobs a second than can be started: how many commands run in a second, once it is under way.
double through_files(int offered, int seconds) {
  Host host;
  std::string text;
  for (int i = 0; i < offered; ++i) {
    text += "* * * * * * @policy(deadline=1s) name=busy/job-" + std::to_string(i) + " shell=true command=\"" +
            host.stamp_command() + "\"\n";
  }
  host.write_jobs(text);
  host.start();
  const std::int64_t begin = wall_nanoseconds() + 2 * kSecond;
  rest(seconds + 2);
  const std::int64_t end = wall_nanoseconds();
  return per_second(host.stamps(), begin, end);
}

double through_redis(int offered, int hosts, int seconds) {
  Redis redis;
  Fleet fleet(redis);
  for (int i = 0; i < offered; ++i) fleet.define("busy-" + std::to_string(i), kEachSecond);
  fleet.start(hosts);
  const std::int64_t begin = wall_nanoseconds() + 2 * kSecond;
  rest(seconds + 2);
  const std::int64_t end = wall_nanoseconds();
  return per_second(fleet.stamps(), begin, end);
}

std::string lateness_json(const Fleet& fleet) {
  std::vector<double> late = fleet.lateness();
  auto outcomes = fleet.outcomes();
  const std::size_t runs = late.size();
  if (late.empty()) late.push_back(0);
  char text[256];
  std::snprintf(text, sizeof text,
                "\"runs\":%zu,\"p50Milliseconds\":%.2f,\"p99Milliseconds\":%.2f,\"lastMilliseconds\":%.2f,"
                "\"missed\":%d,\"skipped\":%d,\"passedOver\":%d",
                runs, at_share(late, 0.5) * 1e3, at_share(late, 0.99) * 1e3, late.back() * 1e3, outcomes["missed"],
                outcomes["skipped"], outcomes["passed over"]);
  return text;
}

// `crowd` jobs due in one second.
std::string crowd_json(int crowd, int hosts) {
  Redis redis;
  Fleet fleet(redis);
  // Joining and reading takes its time.
  const std::int64_t due = wall_nanoseconds() / kSecond + 6 + hosts;
  for (int i = 0; i < crowd; ++i) fleet.define("crowd-" + std::to_string(i), cron_at(due));
  fleet.start(hosts);
  while (wall_nanoseconds() < due * kSecond - kSecond / 2) rest(0.05);
  const std::uint64_t calls = redis.script_calls();
  const double cpu = redis.cpu_seconds();
  for (int i = 0; i < 600 && fleet.stamp_count() < static_cast<std::size_t>(crowd); ++i) rest(0.05);
  rest(1);  // their ends
  const double runs = std::max<double>(1, static_cast<double>(fleet.stamp_count()));
  char text[160];
  std::snprintf(text, sizeof text, ",\"scriptCallsPerRun\":%.2f,\"redisCpuMicrosecondsPerRun\":%.1f}",
                static_cast<double>(redis.script_calls() - calls) / runs, (redis.cpu_seconds() - cpu) * 1e6 / runs);
  return "{\"hosts\":" + std::to_string(hosts) + "," + lateness_json(fleet) + text;
}

// `rate` jobs in each second, for a while.
std::string sustained_json(int rate, int seconds, int hosts) {
  Redis redis;
  Fleet fleet(redis);
  for (int i = 0; i < rate; ++i) fleet.define("each-" + std::to_string(i), kEachSecond);
  fleet.start(hosts);
  rest(2);
  const std::uint64_t calls = redis.script_calls();
  const double cpu = redis.cpu_seconds();
  const std::size_t before = fleet.stamp_count();
  rest(seconds);
  const double runs = std::max<double>(1, static_cast<double>(fleet.stamp_count() - before));
  char text[160];
  std::snprintf(text, sizeof text, ",\"scriptCallsPerRun\":%.2f,\"redisCpuMicrosecondsPerRun\":%.1f}",
                static_cast<double>(redis.script_calls() - calls) / runs, (redis.cpu_seconds() - cpu) * 1e6 / runs);
  return "{\"hosts\":" + std::to_string(hosts) + "," + lateness_json(fleet) + text;
}

// From the death of the master to the first start after it.
std::string failover_json(int rate) {
  Redis master;
  const Redis replica({"--replicaof", "127.0.0.1", std::to_string(master.port()), "--repl-diskless-sync-delay", "0"});
  const int port = 20'000 + master.port() % 10'000;
  const auto sentinel = start_sentinel(master, port);
  rest(2);  // until it knows the replica
  Fleet fleet(master);
  for (int i = 0; i < rate; ++i) fleet.define("each-" + std::to_string(i), kEachSecond);
  fleet.start(3, "redis+sentinel://127.0.0.1:" + std::to_string(port) + "/m");
  rest(3);
  const std::int64_t killed = wall_nanoseconds();
  master.kill();
  std::int64_t next = 0;
  for (int i = 0; i < 600 && next == 0; ++i) {
    rest(0.1);
    // What was claimed before begins a moment later.
    const auto stamps = fleet.stamps();
    const auto found = std::ranges::upper_bound(stamps, killed + kSecond / 2);
    if (found != stamps.end()) next = *found;
  }
  char text[120];
  std::snprintf(text, sizeof text, "{\"downAfterSeconds\":0.5,\"pauseSeconds\":%.3f}",
                next != 0 ? static_cast<double>(next - killed) / 1e9 : -1.0);
  return text;
}

std::string bare_json(const BareRedis& bare, double spawns) {
  char text[256];
  std::snprintf(text, sizeof text,
                "{\"pingsPerSecond\":%.0f,\"pipelinedPingsPerSecond\":%.0f,\"scriptRunsPerSecond\":%.0f,"
                "\"redisCpuMicrosecondsPerRun\":%.1f,\"spawnsPerSecond\":%.0f}",
                bare.pings, bare.pipelined, bare.runs, bare.cpu_per_run * 1e6, spawns);
  return text;
}

}  // namespace
}  // namespace kron::bench

int main(int argc, char** argv) {
  using namespace kron::bench;
  const bool brief = std::getenv("BRIEF") != nullptr;
  const Counts& counts = brief ? kBrief : kFull;
  // One of: through, crowd, sustained, failover; all of them when none is named.
  const std::string only = argc > 1 ? argv[1] : "";
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  std::string json = "{\"bench\":\"cluster\"";
  if (wanted("through")) {
    const BareRedis bare = bare_redis(counts.rounds);
    const double spawns = counts.spawns / bare_loop(counts.spawns, true).last;
    const double limit = std::min(bare.runs, spawns);
    const int offered = brief ? counts.crowd : static_cast<int>(limit * 1.5) + 1;
    const int seconds = brief ? 2 : 10;
    const double files = through_files(offered, seconds);
    json += ",\"bare\":" + bare_json(bare, spawns);
    char text[200];
    std::snprintf(text, sizeof text, ",\"offeredPerSecond\":%d,\"onFiles\":{\"runsPerSecond\":%.1f,\"share\":%.3f}",
                  offered, files, files / limit);
    json += text;
    json += ",\"onRedis\":[";
    for (const int hosts : {1, 3}) {
      const double rate = through_redis(offered, hosts, seconds);
      std::snprintf(text, sizeof text, "%s{\"hosts\":%d,\"runsPerSecond\":%.1f,\"share\":%.3f,\"shareOfFiles\":%.3f}",
                    hosts > 1 ? "," : "", hosts, rate, rate / limit, files > 0 ? rate / files : 0);
      json += text;
    }
    json += "]";
  }
  const auto for_hosts = [&](const char* name, auto part) {
    if (!wanted(name)) return;
    std::string list;
    for (const int hosts : counts.hosts) list += (list.empty() ? "" : ",") + part(hosts);
    json += ",\"" + std::string(name) + "\":[" + list + "]";
  };
  for_hosts("crowd", [&](int hosts) { return crowd_json(counts.crowd, hosts); });
  for_hosts("sustained", [&](int hosts) { return sustained_json(counts.rate, counts.seconds, hosts); });
  if (wanted("failover")) json += ",\"failover\":" + failover_json(counts.rate);
  std::printf("%s}\n", json.c_str());
}
