#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "../peers/bullmq.h"
#include "ground.h"
#include "kron/json/writer.h"
#include "redis_queue_paths.h"

// The queue in Redis, in one run beside its own scripts called bare and, where it is here, BullMQ: submits, and whole
// lives of tasks, with `appendfsync always` and `everysec`; and the memory of a task. TMPDIR says on which disk.
namespace kron::bench {
namespace {

constexpr char kDirectPath[] = "RedisQueue, as kron task and kron worker have it with --redis";
constexpr char kKrondPath[] = "QueueThread on RedisQueue, as krond has it behind its API; without HTTP";

using Measure = std::function<double()>;

// Ours and bare by turns, the best of each: other users of the machine disturb both alike. How much they do is told by
// the shares of the turns.
double report(JsonWriter& out, const std::string& name, const char* path, const Measure& ours, const Measure& bare,
              double peer) {
  double best = 0;
  double best_bare = 0;
  std::vector<double> shares;
  for (int round = 0; round < (is_brief() ? 1 : 3); ++round) {
    const double mine = ours();
    const double its = bare();
    shares.push_back(mine / its);
    best = std::max(best, mine);
    best_bare = std::max(best_bare, its);
  }
  out.key(name).begin_map().member("path", path);
  out.key("per_second").real(best);
  out.key("bare_per_second").real(best_bare);
  out.key("share_of_bare").real(best / best_bare);
  out.key("least_share_of_a_turn").real(*std::ranges::min_element(shares));
  out.key("most_share_of_a_turn").real(*std::ranges::max_element(shares));
  if (peer > 0) {
    out.key("bullmq_per_second").real(peer);
    out.key("of_bullmq").real(best / peer);
  }
  out.end_map();
  return best;
}

void measure_speeds(JsonWriter& out, const std::string& appendfsync) {
  Redis redis({"--appendonly", "yes", "--appendfsync", appendfsync, "--auto-aof-rewrite-percentage", "0"});
  // A sync takes about a millisecond: of what waits for one each time there is less.
  const bool syncs = appendfsync == "always";
  const std::size_t alone = is_brief() ? 20 : syncs ? 300 : 5'000;
  const std::size_t some = is_brief() ? 100 : syncs ? 3'000 : 10'000;
  const std::size_t many = is_brief() ? 200 : syncs ? 10'000 : 20'000;
  const auto peer = bullmq_rates(redis.port(), {alone, many, some}, task_number(0).data);
  const BullMqRates theirs = peer ? *peer : BullMqRates{};
  const auto processed = [&](std::size_t workers) {
    const auto found = theirs.processed.find(static_cast<int>(workers));
    return found != theirs.processed.end() ? found->second : 0;
  };

  out.key("submit").begin_map();
  report(
      out, "alone", kDirectPath, [&] { return submits_directly(redis, 1, alone); },
      [&] { return bare_submits(redis, 1, alone); }, theirs.alone);
  report(
      out, "from 100", kKrondPath, [&] { return submits_at_krond(redis, 100, many); },
      [&] { return bare_submits(redis, 100, many); }, 0);
  report(
      out, "batches of 100", kDirectPath, [&] { return submits_directly(redis, 100, many); },
      [&] { return bare_submits(redis, 100, many); }, theirs.batched);
  out.end_map();

  for (const bool is_direct : {true, false}) {
    out.key(is_direct ? "lease to done, one worker" : "lease to done, workers of a krond").begin_map();
    for (const std::size_t workers : {std::size_t{1}, std::size_t{10}, std::size_t{100}}) {
      const std::size_t count = workers == 1 ? alone : workers == 10 ? some : many;
      report(
          out, std::to_string(workers) + (is_direct ? " at a time" : " workers"), is_direct ? kDirectPath : kKrondPath,
          [&] { return is_direct ? lives_directly(redis, workers, count) : lives_at_krond(redis, workers, count); },
          [&] { return bare_lives(redis, workers, count); }, processed(workers));
    }
    out.end_map();
  }
  if (!peer) out.member("bullmq_left_out", peer.error().message);
}

void measure_memory(JsonWriter& out) {
  const std::size_t count = is_brief() ? 1'000 : 100'000;
  out.key("memory").begin_map();
  out.key("tasks").integer(static_cast<std::int64_t>(count));
  out.key("by_bytes_of_data").begin_map();
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{64}, std::size_t{100}, std::size_t{1000}}) {
    const TaskMemory memory = memory_per_task(bytes, count);
    out.key(std::to_string(bytes)).begin_map();
    out.key("bytes_while_it_waits").real(memory.waits);
    out.key("bytes_when_it_has_succeeded").real(memory.has_succeeded);
    out.end_map();
  }
  out.end_map().end_map();
}

std::string redis_version() {
  Redis redis;
  const std::string text = redis.ask({"INFO", "server"}).text;
  constexpr std::string_view kKey = "redis_version:";
  const auto at = text.find(kKey) + kKey.size();
  return text.substr(at, text.find_first_of("\r\n", at) - at);
}

}  // namespace
}  // namespace kron::bench

int main(int argc, char** argv) {
  using namespace kron::bench;
  // One of: always, everysec, memory; all of them when none is named.
  const std::string only = argc > 1 ? argv[1] : "";
  kron::JsonWriter out;
  out.begin_map().member("bench", "redis_queue").member("redis", redis_version());
  if (const std::string version = bullmq_version(); !version.empty()) out.member("bullmq", version);
  for (const char* appendfsync : {"always", "everysec"}) {
    if (!only.empty() && only != appendfsync) continue;
    out.key(std::string("appendfsync ") + appendfsync).begin_map();
    measure_speeds(out, appendfsync);
    out.end_map();
  }
  if (only.empty() || only == "memory") measure_memory(out);
  std::puts(out.end_map().take().c_str());
}
