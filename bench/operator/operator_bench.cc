#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

#include "../krond/host.h"
#include "bare_client.h"
#include "kube_crowd.h"
#include "model_cluster.h"
#include "parts.h"

// kron-operator on the model of an API server over TLS, beside a bare client with the same transport on the same server
// in the same run: the last of many that are due in one second, one that is due, a start with many objects, and rest.
// With an argument only one of: crowd, one, many. The bare client is this program again, with bare-… and arguments.
//
// `operator_bench kube KUBECONFIG`: the crowd on a real API server, with the rights of its administrator.
// bench/operator/on_kube.py starts that of scripts/kube-assets, and this on it.
namespace kron::bench {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Counts {
  std::size_t crowd;
  int rounds;
  std::size_t seconds;
  std::size_t kron_jobs;
  int idle;
};
constexpr Counts kFull{.crowd = 500, .rounds = 5, .seconds = 150, .kron_jobs = 10'000, .idle = 30};
constexpr Counts kBrief{.crowd = 20, .rounds = 1, .seconds = 3, .kron_jobs = 100, .idle = 2};

// The server's limit and the transport's count, and none of ours.
const std::vector<std::string> kUnlimited = {"--qps", "100000", "--burst", "100000"};
constexpr char kNever[] = "0 0 1 1 *";

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return at_share(values, 0.5);
}

// One round of a crowd.
struct Crowd {
  double bare = 0;
  double watched = 0;        // bare, beside a watch of each kind
  std::vector<double> late;  // seconds behind the second that they were due in, in order
  double calls = 0;          // for each run
};

// Puts `count` KronJobs that are due in one second before the operator, in time; the second.
std::int64_t gather(ModelCluster& cluster, const std::string& begin, std::size_t count) {
  for (std::int64_t room = 4 + static_cast<std::int64_t>(count) / 50;; room *= 2) {
    const std::string names = begin + std::to_string(room) + "-";
    const std::int64_t due = wall_nanoseconds() / kSecond + room;
    for (std::size_t i = 0; i < count; ++i) cluster.add(kShop, names + std::to_string(i), cron_at(due));
    cluster.wait_until_settled(names);
    if (wall_nanoseconds() < (due - 1) * kSecond) return due;
    if (room > 300) give_up("the machine is too slow to prepare a crowd");
  }
}

Crowd crowd_round(std::size_t count, const std::vector<std::string>& flags) {
  Crowd crowd;
  ModelCluster cluster;
  for (std::size_t i = 0; i < count; ++i) {
    for (const char* ns : {"bare", "watched"}) cluster.add(ns, "bare-" + std::to_string(i), kNever);
  }
  crowd.bare = cluster.bare({"bare-runs", std::to_string(count)}).seconds.at(0);
  crowd.watched = cluster.bare({"bare-watched-runs", std::to_string(count)}).seconds.at(0);

  std::vector<std::string> all{"--namespace", kShop};
  all.insert(all.end(), flags.begin(), flags.end());
  cluster.start_operator(all);
  const std::int64_t due = gather(cluster, "crowd-", count);
  while (wall_nanoseconds() < due * kSecond - kSecond / 2) ::usleep(10'000);
  const std::size_t others = cluster.starts("shop/").size();  // of a crowd that came too late
  const ModelCluster::Calls before = cluster.calls();
  std::vector<std::int64_t> starts = cluster.wait_for_starts("shop/", others + count, 120);
  if (starts.size() != others + count) give_up("not all were started once");
  for (std::size_t i = others; i < starts.size(); ++i) {
    crowd.late.push_back(static_cast<double>(starts[i] - due * kSecond) / 1e9);
  }
  std::ranges::sort(crowd.late);
  ::usleep(2'000'000);  // what follows: events, a status
  crowd.calls = static_cast<double>((cluster.calls() - before).others) / static_cast<double>(count);
  return crowd;
}

std::string crowd_json(std::size_t count, int rounds, const std::vector<std::string>& flags) {
  std::vector<double> bare;
  std::vector<double> watched;
  std::vector<double> first;
  std::vector<double> middle;
  std::vector<double> last;
  std::vector<double> ratio;
  std::vector<double> watched_ratio;
  std::vector<double> calls;
  for (int i = 0; i < rounds; ++i) {
    const Crowd crowd = crowd_round(count, flags);
    bare.push_back(crowd.bare);
    watched.push_back(crowd.watched);
    first.push_back(crowd.late.front());
    middle.push_back(at_share(crowd.late, 0.5));
    last.push_back(crowd.late.back());
    ratio.push_back(crowd.late.back() / crowd.bare);
    watched_ratio.push_back(crowd.late.back() / crowd.watched);
    calls.push_back(crowd.calls);
  }
  char text[500];
  std::snprintf(text, sizeof text,
                R"({"due":%zu,"rounds":%d,"bareSeconds":%.3f,"bareWatchedSeconds":%.3f,"firstSeconds":%.3f,)"
                R"("medianSeconds":%.3f,"lastSeconds":%.3f,"lastToBare":%.2f,"bestLastToBare":%.2f,)"
                R"("worstLastToBare":%.2f,"lastToBareWatched":%.2f,"callsPerRun":%.2f})",
                count, rounds, median(bare), median(watched), median(first), median(middle), median(last),
                median(ratio), *std::ranges::min_element(ratio), *std::ranges::max_element(ratio),
                median(watched_ratio), median(calls));
  return text;
}

// One that is due in each second, and as many of the bare client in between.
std::string one_json(std::size_t count) {
  ModelCluster cluster;
  cluster.server().with_options([](auto& options) { options.jobs_take = std::chrono::milliseconds(100); });
  for (std::size_t i = 0; i < count; ++i) cluster.add("bare", "bare-" + std::to_string(i), kNever);
  cluster.add(kShop, "each", "* * * * * *");
  cluster.start_operator({"--namespace", kShop});
  const std::size_t before = cluster.wait_for_starts("shop/each", 2, 60).size();
  const std::vector<double> bare = cluster.bare({"bare-timed-runs", std::to_string(count)}).seconds;
  if (bare.size() != count) give_up("the bare client did not run");
  const std::vector<std::int64_t> starts = cluster.wait_for_starts("shop/each", before + count, 60);
  if (starts.size() < before + count) give_up("seconds were left out");
  std::vector<double> late;
  for (std::size_t i = before; i < starts.size(); ++i) late.push_back(static_cast<double>(starts[i] % kSecond) / 1e9);
  std::ranges::sort(late);
  char text[300];
  std::snprintf(text, sizeof text,
                R"({"runs":%zu,"bareMedianSeconds":%.4f,"bareP99Seconds":%.4f,"medianSeconds":%.4f,"p99Seconds":%.4f,)"
                R"("mostSeconds":%.4f})",
                late.size(), at_share(bare, 0.5), at_share(bare, 0.99), at_share(late, 0.5), at_share(late, 0.99),
                late.back());
  return text;
}

// What it does when there is nothing to do, with a watch of each kind that ends meanwhile.
std::string idle_json(ModelCluster& cluster, int seconds) {
  const ModelCluster::Calls before = cluster.calls();
  const double cpu = cpu_seconds_of(cluster.pid());
  ::sleep(static_cast<unsigned>(seconds) / 2);
  cluster.server().cut_watches();
  ::sleep(static_cast<unsigned>(seconds - seconds / 2));
  const ModelCluster::Calls made = cluster.calls() - before;
  char text[200];
  std::snprintf(text, sizeof text,
                R"({"seconds":%d,"leaseCalls":%d,"watches":%d,"lists":%d,"otherCalls":%d,"cpuShare":%.4f})", seconds,
                made.lease, made.watches, made.lists, made.others, (cpu_seconds_of(cluster.pid()) - cpu) / seconds);
  return text;
}

// A start with so many KronJobs, four Jobs each.
std::string many_json(std::size_t count, int rounds, int idle) {
  ModelCluster cluster;
  const std::int64_t now = wall_nanoseconds() / kSecond;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "report-" + std::to_string(i);
    cluster.add(kShop, name, kNever);
    cluster.add_history(name, now);
  }
  cluster.start_operator(kUnlimited);  // writes what there is to be written once
  cluster.wait_until_settled("report-");
  cluster.end_operator();
  cluster.server().with_server([](auto& server) { server.compact(); });

  std::vector<double> read;
  std::vector<double> parsed;
  std::vector<double> sync;
  std::vector<double> ratio;
  std::vector<double> cpu_ratio;
  for (int i = 0; i < rounds; ++i) {
    cluster.end_operator();
    read.push_back(cluster.bare({"bare-lists", "read"}).seconds.at(0));
    const ModelCluster::Bare bare = cluster.bare({"bare-lists", "parse"});
    parsed.push_back(bare.seconds.at(0));
    sync.push_back(cluster.start_operator(kUnlimited));
    cpu_ratio.push_back(cpu_seconds_of(cluster.pid()) / bare.cpu);
    ratio.push_back(sync.back() / parsed.back());
  }
  const double at_sync = static_cast<double>(resident_bytes(cluster.pid())) / 1e6;
  cluster.wait_until_settled("report-");
  const double resident = static_cast<double>(resident_bytes(cluster.pid())) / 1e6;
  const int made = cluster.calls().others;
  char text[500];
  std::snprintf(text, sizeof text,
                R"({"kronJobs":%zu,"jobs":%zu,"rounds":%d,"bareReadSeconds":%.3f,"bareSeconds":%.3f,)"
                R"("syncSeconds":%.3f,"syncToBare":%.2f,"worstSyncToBare":%.2f,"syncCpuToBare":%.2f,)"
                R"("callsAfterSync":%d,"residentAtSyncMegabytes":%.1f,"residentMegabytes":%.1f,"idle":)",
                count, 4 * count, rounds, median(read), median(parsed), median(sync), median(ratio),
                *std::ranges::max_element(ratio), median(cpu_ratio), made, at_sync, resident);
  return text + idle_json(cluster, idle) + "}";
}

// `bare-runs COUNT`, `bare-watched-runs COUNT`, `bare-timed-runs COUNT`, `bare-lists read|parse`; then a kubeconfig.
int run_bare(const std::string& what, const std::string& argument, const std::string& kubeconfig) {
  const kube::Connection connection = connection_of(kubeconfig);
  std::vector<double> seconds;
  if (what == "bare-lists") seconds = {bare_lists(connection, argument == "parse")};
  if (what == "bare-runs") seconds = {bare_runs(connection, "bare", std::stoul(argument), {})};
  if (what == "bare-watched-runs") {
    seconds = {bare_runs(connection, "watched", std::stoul(argument), {.with_watches = true})};
  }
  // On a server that the benchmark shares: when it began, and not how long it took.
  for (const bool is_gated : {true, false}) {
    const std::string word = is_gated ? "bare-runs-in:" : "bare-records-in:";
    if (!what.starts_with(word)) continue;
    const double took = bare_runs(connection, what.substr(word.size()), std::stoul(argument), {.is_gated = is_gated});
    seconds = {static_cast<double>(wall_nanoseconds()) / 1e9 - took};
  }
  if (what == "bare-timed-runs") seconds = bare_timed_runs(connection, "bare", std::stoul(argument));
  for (const double one : seconds) std::printf("%.6f\n", one);
  return 0;
}

}  // namespace
}  // namespace kron::bench

int main(int argc, char** argv) {
  using namespace kron::bench;
  if (argc == 4) return run_bare(argv[1], argv[2], argv[3]);
  const bool is_brief = std::getenv("BRIEF") != nullptr;
  const Counts& counts = is_brief ? kBrief : kFull;
  const std::string only = argc > 1 ? argv[1] : "";
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  std::string json = R"({"bench":"operator")";
  if (only == "kube" && argc == 3) {
    std::printf("%s,\"kube\":%s}\n", json.c_str(), kube_crowd_json(argv[2], counts.crowd, is_brief ? 1 : 3).c_str());
    return 0;
  }
  if (wanted("crowd")) {
    json += R"(,"crowd":)" + crowd_json(counts.crowd, counts.rounds, kUnlimited);
    if (!is_brief) json += R"(,"crowdAtDefaultRate":)" + crowd_json(counts.crowd, 1, {});
  }
  if (wanted("one")) json += R"(,"one":)" + one_json(counts.seconds);
  if (wanted("many")) json += R"(,"many":)" + many_json(counts.kron_jobs, is_brief ? 1 : 3, counts.idle);
  std::printf("%s}\n", json.c_str());
}
