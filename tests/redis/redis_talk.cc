// Our connection to Redis for tests in another language: reads a question per line, a JSON object, and prints the
// answer as a line.
//
//   redis_talk URL [ROUTE_KEY [PING_AFTER_MS]]
//
//   {"connect": ms}                            {"call": [[…], …], "timeout": ms}
//   {"repeat": n, "command": […], "timeout": ms}   the same command n times as one pipeline: how many of each, the
//   values
//   {"big": bytes, "timeout": ms}              sets a value of that size and gets it again
//   {"subscribe": [channel, …], "timeout": ms} {"next": ms}
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "kron/env/real_redis_connection.h"
#include "kron/env/real_redis_subscription.h"

namespace {

using Json = nlohmann::json;

std::chrono::milliseconds milliseconds(const Json& number) { return std::chrono::milliseconds(number.get<int>()); }

Json json_of(const kron::RedisValue& value) {
  switch (value.kind) {
    case kron::RedisValue::Kind::nil:
      return nullptr;
    case kron::RedisValue::Kind::integer:
      return value.integer;
    case kron::RedisValue::Kind::array: {
      Json items = Json::array();
      for (const kron::RedisValue& item : value.items) items.push_back(json_of(item));
      return items;
    }
    default:
      return value.text;
  }
}

std::string how_of(const kron::RedisReply& reply) {
  switch (reply.how) {
    case kron::RedisReply::How::reply:
      return "reply";
    case kron::RedisReply::How::error:
      return "error";
    case kron::RedisReply::How::lost:
      return "lost";
    case kron::RedisReply::How::not_sent:
      return "not_sent";
  }
  return "";
}

Json json_of(const kron::RedisReply& reply) {
  Json out{{"how", how_of(reply)}};
  if (reply.is_reply()) {
    out["value"] = json_of(reply.value);
  } else {
    out["why"] = reply.why;
  }
  return out;
}

Json json_of(const kron::Error& error) {
  return {{"code", std::string(kron::name_of(error.code))}, {"message", error.message}};
}

class Talker {
 public:
  Talker(const kron::RedisUrl& url, const std::string& route_key, std::chrono::milliseconds ping_after)
      : connection_(url, route_key), subscription_(url, ping_after) {}

  Json answer(const Json& question) {
    if (question.contains("connect")) {
      const kron::Status connected = connection_.connect(milliseconds(question["connect"]));
      return connected ? Json{{"peer", connection_.peer()}} : json_of(connected.error());
    }
    if (question.contains("call")) {
      Json out = Json::array();
      for (const auto& reply : call(question["call"].get<std::vector<kron::RedisCommand>>(), question)) {
        out.push_back(json_of(reply));
      }
      return {{"replies", out}, {"peer", connection_.peer()}};
    }
    if (question.contains("repeat")) {
      std::map<std::string, int> counts;
      Json values = Json::array();
      const std::vector<kron::RedisCommand> commands(question["repeat"].get<std::size_t>(),
                                                     question["command"].get<kron::RedisCommand>());
      for (const auto& reply : call(commands, question)) {
        ++counts[how_of(reply)];
        if (reply.is_reply()) values.push_back(json_of(reply.value));
      }
      return {{"counts", counts}, {"values", values}, {"peer", connection_.peer()}};
    }
    if (question.contains("big")) {
      std::string value(question["big"].get<std::size_t>(), '\0');
      for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 31 + i / 255);
      const auto replies = call({{"SET", "big", value}, {"GET", "big"}}, question);
      return {{"same", replies[1].value.text == value}, {"set", json_of(replies[0])}, {"how", how_of(replies[1])}};
    }
    if (question.contains("subscribe")) {
      const auto channels = question["subscribe"].get<std::vector<std::string>>();
      const kron::Status subscribed = subscription_.subscribe(channels, milliseconds(question["timeout"]));
      return subscribed ? Json::object() : json_of(subscribed.error());
    }
    const auto next = subscription_.next(milliseconds(question.at("next")));
    if (!next) return json_of(next.error());
    return *next ? Json{{"channel", (*next)->channel}, {"payload", (*next)->payload}} : Json::object();
  }

 private:
  std::vector<kron::RedisReply> call(const std::vector<kron::RedisCommand>& commands, const Json& question) {
    return connection_.call(commands, milliseconds(question["timeout"]));
  }

  kron::RealRedisConnection connection_;
  kron::RealRedisSubscription subscription_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto url = kron::parse_redis_url(argc > 1 ? argv[1] : "");
  if (!url) {
    std::cerr << url.error().message << '\n';
    return 2;
  }
  Talker talker(*url, argc > 2 ? argv[2] : "", std::chrono::milliseconds(argc > 3 ? std::stoi(argv[3]) : 10'000));
  for (std::string line; std::getline(std::cin, line);) std::cout << talker.answer(Json::parse(line)) << std::endl;
}
