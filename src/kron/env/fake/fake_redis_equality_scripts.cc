#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "kron/env/fake/fake_redis_equality.h"
#include "kron/testing/golden.h"

namespace kron::testing {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kRunIds[] = {"00000000000000000000000000000001", "00000000000000000000000000000002",
                                   "0000000000004000a000000000000003", "00000000000000000000000000000004",
                                   "00000000000000000000000000000005"};
constexpr const char* kOwners[] = {"owner1", "owner2"};
constexpr const char* kJobs[] = {"job1", "job2"};
constexpr const char* kLines[] = {"line", "", "same", "same", "a\xff", "last"};
constexpr const char* kStepTypes[] = {"MAIL", "FAX"};
constexpr const char* kHosts[] = {"alpha", "beta"};

using Arguments = ScriptArguments;

std::string revision_of(const std::string& record) {
  const std::size_t begin = record.find(':');
  const std::size_t end = record.find(',');
  return begin == std::string::npos || end == std::string::npos ? "" : record.substr(begin + 1, end - begin - 1);
}

std::string line(Random& random) {
  std::string text = pick(random, kLines);
  if (chance(random, 10))
    text += std::string(
        "\0"
        "7",
        2);
  return text;
}

std::string kind(Random& random, const std::string& run) {
  // Of one kind mostly: another is a wrong type.
  return chance(random, 95) ? (run.back() < '4' ? "zset" : "list") : "zset";
}

Arguments step(Random& random, FakeRedis& fake) {
  const std::string job = pick(random, kJobs);
  const bool has_lock = chance(random, 50);
  const bool looks_for_cronken = chance(random, 20);
  Arguments call{{"state", "rundata", "active", "claims", "fence", "outcomes", "paused"}, {}};
  if (has_lock) call.keys.push_back("lock:" + job);
  if (looks_for_cronken) call.keys.insert(call.keys.end(), {"results:" + job + ":success", "results:" + job + ":fail"});
  std::string revision = revision_of(text_from(fake, {"HGET", "state", job}));
  if (chance(random, 20)) revision = "12";
  if (chance(random, 20)) revision = "";
  call.args = {job,
               pick(random, kOwners),
               revision,
               ",\"Version\":1,\"n\":" + random_second(random) + "}",
               chance(random, 70) ? "" : random_second(random),
               chance(random, 70) ? "" : random_second(random),
               chance(random, 70) ? "" : random_second(random),
               chance(random, 50) ? "" : job,
               has_lock ? "1" : "",
               "90000000",
               chance(random, 50) ? "1" : "0",
               looks_for_cronken ? random_second(random) : "",
               chance(random, 90) ? "150" : "2"};
  const bool has_tasks = chance(random, 30);
  if (has_tasks) call.keys.insert(call.keys.end(), {"results:success", "results:" + job + ":success"});
  call.args.insert(call.args.end(),
                   {has_tasks ? "9" : "0", chance(random, 50) ? "0" : "80000000", "3", "2", "{t}:kron:q:", "60"});
  const std::size_t starts = below(random, 3);
  call.args.push_back(std::to_string(starts));
  for (std::size_t i = 0; i < starts; ++i) {
    call.args.insert(call.args.end(), {pick(random, kRunIds), "{\"job\":\"" + job + "\",\"start_time\":\"", "\"}"});
    if (!has_tasks) continue;
    call.args.insert(call.args.end(), {pick(random, kRunIds), pick(random, kStepTypes),
                                       chance(random, 80) ? "null" : "1", "0", "", "5", "10 3600", "", ""});
  }
  for (std::size_t i = below(random, 3); i > 0; --i) call.args.push_back("{\"outcome\":" + random_second(random) + "}");
  return call;
}

Arguments end(Random& random, FakeRedis&) {
  const std::string job = pick(random, kJobs);
  const std::string run = pick(random, kRunIds);
  const std::string result = chance(random, 70) ? "success" : "fail";
  Arguments call{{"rundata", "active", "claims", "fence", "outcomes", "results:" + result,
                  "results:" + job + ":" + result, "output:" + run},
                 {}};
  if (chance(random, 50)) call.keys.push_back("lock:" + job);
  call.args = {run,
               random_second(random) + ".250000",
               "{\"duration\":",
               "}",
               chance(random, 50) ? "3" : "100",
               chance(random, 50) ? "2" : "100",
               run,
               chance(random, 50) ? "0" : "80000000",
               chance(random, 70) ? "" : "5",
               chance(random, 50) ? "" : "{\"end\":1}",
               "150",
               "86400",
               kind(random, run),
               std::to_string(below(random, 4))};
  for (std::size_t i = below(random, 4); i > 0; --i) call.args.push_back(line(random));
  return call;
}

Arguments keep(Random& random, FakeRedis&) {
  Arguments call{{"active", "fence"}, {}};
  const std::size_t runs = below(random, 4);
  call.args.push_back(std::to_string(runs));
  for (std::size_t i = 0; i < runs; ++i) call.args.emplace_back(pick(random, kRunIds));
  for (const char* job : kJobs) {
    if (chance(random, 50)) continue;
    call.keys.push_back(std::string("lock:") + job);
    call.args.insert(call.args.end(), {pick(random, kRunIds), "91000000"});
  }
  return call;
}

Arguments push(Random& random, FakeRedis& fake) {
  const std::string run = pick(random, kRunIds);
  const RedisReply there = fake.execute({run.back() < '4' ? "ZCARD" : "LLEN", "output:" + run});
  const std::int64_t lines = chance(random, 80) ? there.value.integer : static_cast<std::int64_t>(below(random, 5));
  Arguments call{{"output:" + run}, {std::to_string(lines), "86400", kind(random, run)}};
  for (std::size_t i = below(random, 5); i > 0; --i) call.args.push_back(line(random));
  return call;
}

Arguments define(Random& random, FakeRedis& fake) {
  const std::string job = pick(random, kJobs);
  std::string read = text_from(fake, {"HGET", "jobs", job});
  if (chance(random, 30)) read = "{\"x\":1}";
  constexpr const char* kPaused[] = {"1", "0", ""};
  return {{"jobs", "paused"}, {job, read, "{\"x\":" + std::to_string(below(random, 3)) + "}", pick(random, kPaused)}};
}

Arguments stale_runs(Random& random, FakeRedis&) {
  return {{"rundata", "active", "instances", "fence"},
          {std::to_string(below(random, 30)), std::to_string(below(random, 4))}};
}

Arguments sweep(Random&, FakeRedis&) { return {{"claims", "active"}, {"0", "100"}}; }

Arguments raise(Random& random, FakeRedis& fake) {
  std::string seen = text_from(fake, {"GET", "fence"});
  if (chance(random, 30)) seen = std::to_string(below(random, 5000));
  return {{"fence", "outcomes"}, {seen.empty() ? "0" : seen, "100", "150", chance(random, 50) ? "" : "{\"lost\":1}"}};
}

Arguments make(Random& random, FakeRedis&) {
  return {{"state", "fence"}, {pick(random, kJobs), ",\"Version\":1}", random_second(random)}};
}

Arguments restore(Random& random, FakeRedis& fake) {
  const std::string job = pick(random, kJobs);
  const std::string record = text_from(fake, {"HGET", "state", job});
  constexpr const char* kExpected[] = {"absent", "revision", "text"};
  const std::string expected = pick(random, kExpected);
  return {{"state", "fence"},
          {job, ",\"Version\":2}", chance(random, 50) ? "0" : "1700000020000000", expected,
           expected == "revision" ? revision_of(record) : record, chance(random, 80) ? "" : "moved"}};
}

Arguments join(Random& random, FakeRedis&) {
  const std::string host = pick(random, kHosts);
  const std::string owner = pick(random, kOwners);
  return {{"hosts", "instances"},
          {host, owner, chance(random, 50) ? "" : host, std::to_string(below(random, 30)),
           R"({"owner":")" + owner + R"(","beat":)", "}", chance(random, 50) ? "" : "{\"host\":1}"}};
}

Arguments leave(Random& random, FakeRedis&) {
  const std::string host = pick(random, kHosts);
  return {{"hosts", "instances"}, {host, pick(random, kOwners), host, chance(random, 50) ? "" : "{\"host\":1}"}};
}

Arguments assert_run(Random& random, FakeRedis& fake) {
  const std::string run = pick(random, kRunIds);
  std::string blob = text_from(fake, {"HGET", "rundata", run});
  if (blob.empty() || chance(random, 20)) blob = "{\"asserted\":1}";
  Arguments call{{"rundata", "active", "claims", "fence"},
                 {run, pick(random, kOwners), "7", random_second(random) + ".000001", blob, "90000000"}};
  if (chance(random, 50)) call.keys.push_back(std::string("lock:") + pick(random, kJobs));
  return call;
}

// For a script that nobody has written a generator for: both should at least refuse it alike.
Arguments any_arguments(Random& random) {
  constexpr const char* kKeys[] = {"state", "rundata", "active", "claims", "fence", "outcomes", "paused", "hosts"};
  constexpr const char* kWords[] = {"", "0", "1", "7", "job1", "owner1", "zset"};
  Arguments call;
  for (int i = 0; i < 8; ++i) call.keys.emplace_back(pick(random, kKeys));
  for (int i = 0; i < 16; ++i) {
    call.args.emplace_back(chance(random, 30) ? pick(random, kRunIds) : pick(random, kWords));
  }
  return call;
}

// A key of another type, or an argument that is none.
void spoil_call(Random& random, Arguments& call) {
  constexpr const char* kOdd[] = {"", "x", "-1", "1.5", "9007199254740993", "nan"};
  if (chance(random, 40))
    call.keys[below(random, call.keys.size())] = "of_another_type";
  else if (chance(random, 50))
    call.args[below(random, call.args.size())] = pick(random, kOdd);
  else
    call.args.pop_back();
}

std::string with_given_time(std::string text) {
  const std::string asks = "redis.call('TIME')";
  for (std::size_t at = 0; (at = text.find(asks, at)) != std::string::npos;) {
    text.replace(at, asks.size(), "redis.call('LRANGE', '{now}', 0, 1)");
  }
  return text;
}

// As the build does it: a line `--include NAME` gives way to that file.
std::string with_parts(std::string text, const std::string& directory, std::set<std::string>& parts) {
  const std::string word = "--include ";
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    const std::size_t end = text.find('\n', at);
    const std::string name = text.substr(at + word.size(), end - at - word.size());
    parts.insert(name);
    const std::string part = read_file(directory + "/" + name);
    text.replace(at, end - at, part);
    at += part.size();
  }
  return text;
}

}  // namespace

const std::map<std::string, ScriptGenerator>& cluster_generators() {
  static const auto* const all = new std::map<std::string, ScriptGenerator>{
      {"step", step},         {"end", end},       {"keep", keep},
      {"push", push},         {"define", define}, {"stale_runs", stale_runs},
      {"sweep", sweep},       {"raise", raise},   {"make", make},
      {"restore", restore},   {"join", join},     {"leave", leave},
      {"assert", assert_run},
  };
  return *all;
}

std::string random_second(Random& random) { return std::to_string(1'700'000'000 + below(random, 40)); }

std::string text_from(FakeRedis& fake, const RedisCommand& command) {
  const RedisReply reply = fake.execute(command);
  return reply.is_reply() ? reply.value.text : std::string();
}

std::vector<ScriptText> scripts_in(const std::string& directory) {
  std::vector<ScriptText> scripts;
  std::set<std::string> parts;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() != ".lua") continue;
    const std::string text = with_parts(read_file(file.path().string()), directory, parts);
    scripts.push_back({file.path().stem().string(), with_given_time(text)});
  }
  std::erase_if(scripts, [&](const ScriptText& script) { return parts.contains(script.name + ".lua"); });
  std::sort(scripts.begin(), scripts.end(), [](const auto& left, const auto& right) { return left.name < right.name; });
  return scripts;
}

std::vector<RedisCommand> random_script_call(Random& random, FakeRedis& fake, const std::vector<ScriptText>& scripts,
                                             const std::map<std::string, ScriptGenerator>& generators) {
  const ScriptText script = pick(random, scripts);
  const auto generator = generators.find(script.name);
  Arguments call = generator == generators.end() ? any_arguments(random) : generator->second(random, fake);
  if (chance(random, 4)) spoil_call(random, call);
  std::vector<RedisCommand> commands{
      {"DEL", "{now}"}, {"RPUSH", "{now}", random_second(random), std::to_string(below(random, 1'000'000))}};
  RedisCommand command{"EVALSHA", script.sha1, std::to_string(call.keys.size())};
  command.insert(command.end(), call.keys.begin(), call.keys.end());
  command.insert(command.end(), call.args.begin(), call.args.end());
  commands.push_back(std::move(command));
  return commands;
}

}  // namespace kron::testing
