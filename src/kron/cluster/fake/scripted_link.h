#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kron/cluster/link.h"
#include "kron/cluster/scripts.h"
#include "kron/env/clock.h"

namespace kron::cluster {

// A link whose answers a test gives by hand: what was posted waits until then.
class ScriptedLink : public Link {
 public:
  explicit ScriptedLink(const Clock& clock) : clock_(clock) {}

  struct Posted {
    RedisCommand command;
    Urgency urgency = Urgency::urgent;
    Answered answered;
    Nanoseconds sent{0};

    // "step", "end" …: which script it calls.
    [[nodiscard]] std::string script() const {
      for (const Script& script : all_scripts()) {
        if (command.size() > 1 && command[1] == script.sha) return std::string(script.name);
      }
      return "";
    }
    [[nodiscard]] bool names(std::string_view word) const {
      for (const std::string& each : command) {
        if (each == word) return true;
      }
      return false;
    }
  };

  void post(RedisCommand command, Urgency urgency, Answered answered) override {
    posted.push_back({std::move(command), urgency, std::move(answered), clock_.boot_time()});
  }
  std::vector<TimedReply> ask(std::vector<RedisCommand> commands, Nanoseconds /*timeout*/) override {
    return std::vector<TimedReply>(commands.size(), {{RedisReply::How::not_sent, {}, "scripted"}});
  }
  [[nodiscard]] bool is_up() const override { return true; }

  // The oldest that waits is answered.
  Posted answer(const RedisReply& reply) {
    Posted first = std::move(posted.front());
    posted.pop_front();
    first.answered({reply, first.sent, clock_.boot_time()});
    return first;
  }
  // As a script answers: a word, the time, the fence, and what follows.
  Posted answer(const std::string& word, std::vector<RedisValue> rest = {}) {
    RedisReply reply;
    reply.value.kind = RedisValue::Kind::array;
    for (const std::string& text : {word, std::string("1000"), std::string("000001"), std::string("7")}) {
      reply.value.items.push_back(text_value(text));
    }
    for (RedisValue& value : rest) reply.value.items.push_back(std::move(value));
    return answer(reply);
  }

  static RedisValue text_value(std::string text) { return {RedisValue::Kind::text, 0, std::move(text)}; }
  static RedisValue list_value(const std::vector<std::string>& texts) {
    RedisValue list{RedisValue::Kind::array};
    for (const std::string& text : texts) list.items.push_back(text_value(text));
    return list;
  }

  std::deque<Posted> posted;

 private:
  const Clock& clock_;
};

}  // namespace kron::cluster
