#include "kron/env/fake/fake_redis_equality.h"

// Calls of the scripts of the task queue (src/kron/queue/scripts).
namespace kron::testing {
namespace {

constexpr const char* kIds[] = {"t1", "t2", "t3", "t4", "t5", "t6"};
constexpr const char* kTaskTypes[] = {"mail", "report"};
constexpr const char* kKeys[] = {"", "", "u1", "u2"};
constexpr const char* kLimits[] = {"", "10", "1"};
const std::string kPrefix = "p:";

std::string request(Random& random) { return "r" + std::to_string(below(random, 60)); }

std::string field_of(FakeRedis& fake, const std::string& id, const std::string& name) {
  return text_from(fake, {"HGET", kPrefix + "t:" + id, name});
}

std::string token_of_task(Random& random, FakeRedis& fake, const std::string& id) {
  return chance(random, 15) ? "1700000000000003" : field_of(fake, id, "t");
}

void add_task(Random& random, std::vector<std::string>& to) {
  to.insert(to.end(), {pick(random, kIds), pick(random, kTaskTypes), chance(random, 80) ? "1" : "2",
                       std::to_string(below(random, 3)), chance(random, 60) ? "" : random_second(random),
                       std::to_string(1 + below(random, 3)), "10 3600", pick(random, kLimits), pick(random, kKeys)});
}

ScriptArguments submit_tasks(Random& random, FakeRedis&) {
  ScriptArguments call{{kPrefix}, {request(random), "60"}};
  for (std::size_t i = 1 + below(random, 3); i > 0; --i) add_task(random, call.args);
  return call;
}

ScriptArguments lease_tasks(Random& random, FakeRedis&) {
  ScriptArguments call{{kPrefix}, {request(random), "60", chance(random, 90) ? "1000" : "1", "60"}};
  const std::size_t types = below(random, 3);
  call.args.push_back(std::to_string(types));
  for (std::size_t i = 0; i < types; ++i) call.args.emplace_back(pick(random, kTaskTypes));
  for (std::size_t i = 1 + below(random, 2); i > 0; --i) {
    call.args.insert(call.args.end(),
                     {"w \"x", std::to_string(1 + below(random, 3)), std::to_string(5 + below(random, 30)),
                      chance(random, 60) ? "1" : "", chance(random, 20) ? "i" : ""});
  }
  return call;
}

ScriptArguments start_tasks(Random& random, FakeRedis& fake) {
  ScriptArguments call{{kPrefix}, {chance(random, 50) ? "start" : "renew"}};
  for (std::size_t i = 1 + below(random, 3); i > 0; --i) {
    const std::string id = pick(random, kIds);
    const std::string token = token_of_task(random, fake, id);
    call.args.insert(call.args.end(), {id, token, chance(random, 90) ? token : "7"});
  }
  return call;
}

ScriptArguments commit_tasks(Random& random, FakeRedis& fake) {
  ScriptArguments call{{kPrefix}, {request(random), "60"}};
  for (std::size_t i = 1 + below(random, 2); i > 0; --i) {
    const std::string id = pick(random, kIds);
    const std::string token = token_of_task(random, fake, id);
    call.args.insert(call.args.end(), {id, token, token, chance(random, 50) ? "" : "result"});
    const std::size_t files = below(random, 3);
    call.args.push_back(std::to_string(files));
    for (std::size_t file = 0; file < files; ++file) {
      call.args.insert(call.args.end(), {"path" + std::to_string(file), "bytes"});
    }
    const std::size_t follow_ups = below(random, 3);
    call.args.push_back(std::to_string(follow_ups));
    for (std::size_t task = 0; task < follow_ups; ++task) add_task(random, call.args);
  }
  return call;
}

ScriptArguments settle_tasks(Random& random, FakeRedis& fake) {
  constexpr const char* kVerbs[] = {"fail", "expire", "cancel"};
  ScriptArguments call{{kPrefix}, {"60"}};
  for (std::size_t i = 1 + below(random, 2); i > 0; --i) {
    const std::string id = pick(random, kIds);
    const std::string state = field_of(fake, id, "s");
    const bool is_retry = state == "F";
    // A task that has succeeded is never settled.
    if (state == "S") continue;
    call.args.insert(call.args.end(),
                     {id, request(random), is_retry ? "retry" : pick(random, kVerbs), state, field_of(fake, id, "t"),
                      field_of(fake, id, "n"), chance(random, 90) ? field_of(fake, id, "i") : "other",
                      is_retry || chance(random, 60) ? "P" : "F",
                      field_of(fake, id, "x") + "1700000000000009\t1\t60\t\t\t\t\t\tw\tx\n", "5",
                      chance(random, 50) ? "" : random_second(random), "2"});
  }
  return call;
}

ScriptArguments overdue(Random& random, FakeRedis&) {
  return {{kPrefix}, {std::to_string(1 + below(random, 5)), "60"}};
}

ScriptArguments audit(Random& random, FakeRedis&) {
  return {{kPrefix}, {"60", chance(random, 50) ? "" : pick(random, kIds), std::to_string(1 + below(random, 5))}};
}

ScriptArguments page(Random& random, FakeRedis&) {
  return {{kPrefix},
          {chance(random, 50) ? "" : pick(random, kIds), std::to_string(1 + below(random, 4)), "live", "succeeded",
           "failed"}};
}

ScriptArguments prune(Random& random, FakeRedis&) {
  constexpr const char* kStates[] = {"", "S", "F"};
  const bool by_age = chance(random, 50);
  return {{kPrefix},
          {by_age ? "before" : "beyond", by_age ? random_second(random) : std::to_string(2 + below(random, 3)),
           pick(random, kStates), chance(random, 80) ? "0" : "1", std::to_string(1 + below(random, 3)), "2",
           request(random), "60"}};
}

ScriptArguments summary(Random& random, FakeRedis&) { return {{kPrefix}, {chance(random, 70) ? "1" : "", "3"}}; }

}  // namespace

const std::map<std::string, ScriptGenerator>& task_queue_generators() {
  static const auto* const all = new std::map<std::string, ScriptGenerator>{
      {"submit", submit_tasks}, {"lease", lease_tasks}, {"start", start_tasks}, {"commit", commit_tasks},
      {"settle", settle_tasks}, {"overdue", overdue},   {"audit", audit},       {"page", page},
      {"prune", prune},         {"summary", summary},
  };
  return *all;
}

}  // namespace kron::testing
