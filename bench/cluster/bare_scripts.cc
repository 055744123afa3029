#include "bare_scripts.h"

#include <string>
#include <vector>

#include "../krond/host.h"
#include "kron/cluster/calls.h"
#include "kron/cluster/scripts.h"

namespace kron::bench {
namespace {

constexpr int kBatch = 128;
constexpr char kOwner[] = "00000000000000000000000000000000";
constexpr char kRecord[] =
    R"(,"Version":1,"Identity":"bench/job","FirstSeen":"2026-01-01T00:00:00Z","LastHandledPeriodID":"2026-01-01T00:00:00Z"})";

std::string run_id_of(int round, int job) {
  char text[33];
  std::snprintf(text, sizeof text, "%016x%016x", static_cast<unsigned>(round), static_cast<unsigned>(job));
  return text;
}

}  // namespace

BareRedis bare_redis(int rounds) {
  Redis redis;
  BareRedis result;
  std::int64_t begin = wall_nanoseconds();
  for (int i = 0; i < rounds * 10; ++i) redis.ask({"PING"});
  result.pings = rounds * 10 / seconds_since(begin);
  const std::vector<RedisCommand> many(kBatch, RedisCommand{"PING"});
  begin = wall_nanoseconds();
  for (int i = 0; i < rounds; ++i) redis.pipeline(many);
  result.pipelined = rounds * kBatch / seconds_since(begin);

  const cluster::Keys keys("{cronken}");
  for (const RedisCommand& command : cluster::load_scripts()) redis.ask(command);
  std::vector<std::uint64_t> revisions;
  for (int job = 0; job < kBatch; ++job) {
    const cluster::MakeCall make{
        .field = "job-" + std::to_string(job), .record = kRecord, .first_seen = Instant(Seconds(4'000'000'000))};
    const auto answer = cluster::MakeAnswer::parse(redis.ask(make.command(keys)));
    if (!answer || answer->word != cluster::MakeAnswer::Word::made) abandon("make");
    revisions.push_back(answer->revision);
  }
  begin = wall_nanoseconds();
  const double cpu = redis.cpu_seconds();
  for (int round = 0; round < rounds; ++round) {
    std::vector<RedisCommand> commands;
    for (int job = 0; job < kBatch; ++job) {
      const std::string name = "job-" + std::to_string(job);
      const cluster::StepCall step{
          .field = name,
          .owner = kOwner,
          .revision = revisions[static_cast<std::size_t>(job)],
          .record = kRecord,
          .job = name,
          .lock_key = keys.lock(name),
          .ttl = Seconds(10),
          .starts = {{.run_id = run_id_of(round, job),
                      .blob_head = R"({"job_name":")" + name + R"(","start_time":")",
                      .blob_tail =
                          R"(","host":"h1","status":"running","retcode":null,"output":null,"duration":null})"}},
          .outcomes = {R"({"job":")" + name + R"(","host":"h1","state":"running","outcome":"executed"})"}};
      commands.push_back(step.command(keys));
    }
    const auto answers = redis.pipeline(commands);
    commands.clear();
    for (int job = 0; job < kBatch; ++job) {
      const auto answer = cluster::StepAnswer::parse(answers[static_cast<std::size_t>(job)].value);
      if (!answer || answer->word != cluster::StepAnswer::Word::ok) abandon("step");
      revisions[static_cast<std::size_t>(job)] = answer->revision.value_or(0);
      const std::string name = "job-" + std::to_string(job);
      const std::string& start = answer->granted.front().start_time;
      const cluster::EndCall end{
          .run_id = run_id_of(round, job),
          .job = name,
          .start_time = start,
          .status = "success",
          .blob_head = R"({"job_name":")" + name + R"(","start_time":")" + start +
                       R"(","host":"h1","status":"success","retcode":0,"output":"","duration":)",
          .blob_tail = "}",
          .lock_key = keys.lock(name),
          .outcome = R"({"job":")" + name + R"(","host":"h1","state":"ended","outcome":"executed"})"};
      commands.push_back(end.command(keys));
    }
    for (const RedisReply& reply : redis.pipeline(commands)) {
      if (!reply.is_reply()) abandon("end: " + reply.why);
    }
  }
  const double seconds = seconds_since(begin);
  result.runs = rounds * kBatch / seconds;
  result.cpu_per_run = (redis.cpu_seconds() - cpu) / (rounds * kBatch);
  return result;
}

}  // namespace kron::bench
