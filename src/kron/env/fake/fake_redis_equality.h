#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kron/env/fake/fake_redis.h"
#include "kron/env/fake/redis_process.h"

namespace kron::testing {

std::string shown(const RedisValue& value);
std::string shown(const RedisCommand& command);

// A FakeRedis and a real one that are asked the same. Both have this machine's clock.
class Twins {
 public:
  Twins();

  [[nodiscard]] bool has_real_one() const { return real_ != nullptr; }
  FakeRedis& fake() { return fake_; }
  RedisProcess& real() { return *real_; }

  // Asks both; empty when they answer alike, else what each said. Alike: equal but for the order where Redis promises
  // none, the ids that it makes of the time, and the instant at which it is asked how long something lasts.
  std::string difference(const std::vector<RedisCommand>& commands);
  // What both answered to the last of them.
  [[nodiscard]] const RedisValue& answer() const { return answer_; }
  // Compares everything that both hold.
  std::string difference_of_data();
  void empty();

 private:
  std::unique_ptr<RedisProcess> real_;
  FakeRedis fake_;
  std::unique_ptr<RedisConnection> connection_;
  RedisValue answer_;
};

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit);
bool chance(Random& random, int percent);

template <class Choices>
auto pick(Random& random, const Choices& choices) {
  return *(std::begin(choices) + static_cast<std::ptrdiff_t>(below(random, std::size(choices))));
}

// A command over few keys of many types, now and then wrong.
RedisCommand random_command(Random& random);

// Scripts by name, from a directory of .lua files; TIME is replaced by what the key `{now}` holds, which both servers
// are told, so that they do the same arithmetic.
struct ScriptText {
  std::string name;
  std::string text;
  std::string sha1 = {};
};
std::vector<ScriptText> scripts_in(const std::string& directory);

// What a script is given.
struct ScriptArguments {
  std::vector<std::string> keys;
  std::vector<std::string> args;
};
using ScriptGenerator = ScriptArguments (*)(Random&, FakeRedis&);
// By name of the script.
const std::map<std::string, ScriptGenerator>& cluster_generators();
const std::map<std::string, ScriptGenerator>& queue_generators();
const std::map<std::string, ScriptGenerator>& task_queue_generators();

// A second near all others, so that what depends on the time differs from call to call.
std::string random_second(Random& random);
// The text that a command answers; empty: none.
std::string text_from(FakeRedis& fake, const RedisCommand& command);

// A call of one of the scripts with plausible arguments, now and then wrong ones. Looks into `fake` for what a
// caller would have read before. First the commands that set `{now}`.
std::vector<RedisCommand> random_script_call(Random& random, FakeRedis& fake, const std::vector<ScriptText>& scripts,
                                             const std::map<std::string, ScriptGenerator>& generators);

}  // namespace kron::testing
