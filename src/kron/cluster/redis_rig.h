#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kron/cluster/aside.h"
#include "kron/cluster/fake/direct_link.h"
#include "kron/cluster/keys.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_redis.h"

namespace kron::cluster::testing {

// A Redis in memory, a clock for it, and the way to it, for tests of services that live on a loop. What they do aside
// is done at once, or when the test says so; so is what they hand to the loop.
struct RedisRig {
  explicit RedisRig(Instant start = instant_of(1'800'000'000), std::string name_space = "{t}")
      : clock(start), keys(std::move(name_space)) {}

  std::unique_ptr<DirectLink> link_of_its_own() {
    return std::make_unique<DirectLink>(redis.connection(), keys, clock);
  }

  // Work that is done aside waits for do_aside() when `is_held`.
  Aside aside() {
    return {.run =
                [this](Aside::Work work) {
                  if (is_full) return false;
                  if (is_held) {
                    held.push_back(std::move(work));
                  } else {
                    work();
                  }
                  return true;
                },
            .to_loop =
                [this](Aside::Work work) {
                  if (is_loop_held) {
                    loop.push_back(std::move(work));
                  } else {
                    work();
                  }
                }};
  }
  static void do_all(std::deque<Aside::Work>& waiting) {
    while (!waiting.empty()) {
      const Aside::Work work = std::move(waiting.front());
      waiting.pop_front();
      work();
    }
  }
  void do_aside() { do_all(held); }
  void do_loop() { do_all(loop); }

  RedisValue ask(RedisCommand command) { return redis.execute(command).value; }
  std::string text(RedisCommand command) { return ask(std::move(command)).text; }
  std::vector<std::string> texts(RedisCommand command) {
    std::vector<std::string> texts;
    for (RedisValue& item : ask(std::move(command)).items) texts.push_back(std::move(item.text));
    return texts;
  }

  kron::testing::FakeClock clock;
  kron::testing::CapturingLog log;
  kron::testing::FakeRedis redis{[this] { return clock.wall(); }};
  Keys keys;
  DirectLink link{redis.connection(), keys, clock};
  bool is_held = false;
  bool is_full = false;  // what is given to be done aside is not taken
  std::deque<Aside::Work> held;
  bool is_loop_held = false;
  std::deque<Aside::Work> loop;
};

}  // namespace kron::cluster::testing
