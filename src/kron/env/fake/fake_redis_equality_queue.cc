#include "kron/env/fake/fake_redis_equality.h"

// Calls of the scripts of a task queue (tests/data/redis/queue).
namespace kron::testing {
namespace {

constexpr const char* kTasks[] = {"t1", "t2", "t3", "t4", "t5", "t6"};
constexpr const char* kTypes[] = {"mail", "report"};
constexpr const char* kWorkers[] = {"w1", "w2\"x"};
constexpr const char* kUnique[] = {"", "", "u1", "u2"};
constexpr const char* kTimeouts[] = {"", "10", "1"};

std::string maybe_second(Random& random) { return chance(random, 60) ? "" : random_second(random); }

std::string token_of(Random& random, FakeRedis& fake, const std::string& task) {
  return chance(random, 15) ? "3" : text_from(fake, {"HGET", "t:" + task, "t"});
}

std::string type_of_task(FakeRedis& fake, const std::string& task) {
  const std::string type = text_from(fake, {"HGET", "t:" + task, "y"});
  return type.empty() ? "mail" : type;
}

ScriptArguments submit(Random& random, FakeRedis&) {
  const std::string task = pick(random, kTasks);
  const std::string type = pick(random, kTypes);
  return {{"t:" + task, "seq", "ready:" + type, "delayed", "keys", "ids", "types"},
          {task, type, chance(random, 80) ? "digest" : "other", R"({"data":1})", std::to_string(below(random, 3)),
           maybe_second(random), "60", pick(random, kUnique), std::to_string(1 + below(random, 3)),
           pick(random, kTimeouts)}};
}

ScriptArguments lease(Random& random, FakeRedis&) {
  ScriptArguments call{
      {"types", "delayed", "leased", "token", "running", "limits", "grant:" + std::to_string(below(random, 50))},
      {"t:", "ready:", pick(random, kWorkers), std::to_string(below(random, 4)), std::to_string(5 + below(random, 30)),
       chance(random, 50) ? "1" : "0", "60"}};
  if (chance(random, 40)) call.args.emplace_back(pick(random, kTypes));
  return call;
}

ScriptArguments start(Random& random, FakeRedis& fake) {
  const std::string task = pick(random, kTasks);
  return {{"t:" + task, "leased"}, {task, token_of(random, fake, task), chance(random, 50) ? "1" : "0"}};
}

ScriptArguments commit(Random& random, FakeRedis& fake) {
  const std::string task = pick(random, kTasks);
  ScriptArguments call{
      {"t:" + task, "leased", "running", "keys", "done", "seq", "ids", "types", "delayed", "effects:" + task},
      {task, token_of(random, fake, task), R"({"result":1})", "60"}};
  const std::size_t files = below(random, 3);
  call.args.push_back(std::to_string(files));
  for (std::size_t i = 0; i < files; ++i) call.args.insert(call.args.end(), {"path" + std::to_string(i), "bytes"});
  const std::size_t followers = below(random, 3);
  call.args.push_back(std::to_string(followers));
  std::vector<std::string> ready;
  for (std::size_t i = 0; i < followers; ++i) {
    const std::string follower = pick(random, kTasks);
    const std::string type = pick(random, kTypes);
    call.keys.push_back("t:" + follower);
    ready.push_back("ready:" + type);
    call.args.insert(call.args.end(), {follower, type, "digest", "{}", "1", maybe_second(random), pick(random, kUnique),
                                       "2", pick(random, kTimeouts)});
  }
  call.keys.insert(call.keys.end(), ready.begin(), ready.end());
  return call;
}

ScriptArguments abort_attempt(Random& random, FakeRedis& fake) {
  const std::string task = pick(random, kTasks);
  return {{"t:" + task, "leased", "running", "ready:" + type_of_task(fake, task), "delayed", "types", "done", "keys"},
          {task, token_of(random, fake, task), "went \"wrong\"", chance(random, 50) ? "" : "7",
           chance(random, 80) ? "1" : "0", "60", chance(random, 30) ? "1" : "0"}};
}

}  // namespace

const std::map<std::string, ScriptGenerator>& queue_generators() {
  static const auto* const all = new std::map<std::string, ScriptGenerator>{
      {"q_submit", submit}, {"q_lease", lease}, {"q_start", start}, {"q_commit", commit}, {"q_abort", abort_attempt}};
  return *all;
}

}  // namespace kron::testing
