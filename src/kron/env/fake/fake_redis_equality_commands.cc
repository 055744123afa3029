#include <map>
#include <sstream>

#include "kron/env/fake/fake_redis_equality.h"

namespace kron::testing {
namespace {

// Words in braces are drawn from kWords; `x?` comes or does not, `x*` comes up to twice. A group in parentheses counts
// as one. Small positive times to live are left out: they would run out between the two servers.
constexpr const char* kShapes[] = {
    "PING word?",
    "ECHO word",
    "SELECT zero",
    "CLIENT SETNAME word",
    "CLIENT GETNAME",
    "CONFIG GET databases",
    "SCRIPT EXISTS word word?",
    "DBSIZE",
    "WAIT zero zero",
    "ROLE",
    "PUBLISH word word",
    "EVALSHA word zero",
    "DEL key key*",
    "UNLINK key",
    "EXISTS key key*",
    "TYPE key",
    "KEYS pattern",
    "SCAN zero COUNT thousand",
    "EXPIRE key ttl",
    "PEXPIRE key ttl",
    "EXPIREAT key when expireoption?",
    "PEXPIREAT key when expireoption?",
    "TTL key",
    "PTTL key",
    "PERSIST key",
    "RENAME key key",
    "GET key",
    "MGET key key*",
    "SET key value",
    "SET key value setoption* (timeunit ttl)?",
    "SETNX key value",
    "SETEX key ttl value",
    "PSETEX key ttl value",
    "MSET key value (key value)*",
    "INCR key",
    "DECR key",
    "INCRBY key int",
    "DECRBY key int",
    "GETDEL key",
    "APPEND key value",
    "STRLEN key",
    "HSET key field value (field value)*",
    "HMSET key field value",
    "HSETNX key field value",
    "HGET key field",
    "HMGET key field field*",
    "HGETALL key",
    "HKEYS key",
    "HVALS key",
    "HDEL key field field*",
    "HEXISTS key field",
    "HLEN key",
    "HSTRLEN key field",
    "HINCRBY key field int",
    "HSCAN key zero (MATCH pattern)? (COUNT int)?",
    "SADD key member member*",
    "SREM key member member*",
    "SISMEMBER key member",
    "SMEMBERS key",
    "SCARD key",
    "SSCAN key zero (MATCH pattern)? (COUNT thousand)?",
    "RPUSH key value value*",
    "LPUSH key value",
    "LRANGE key int int",
    "LTRIM key int int",
    "LLEN key",
    "ZADD key zaddoption* score member (score member)*",
    "ZADD key zaddoption? score member",
    "ZINCRBY key score member",
    "ZREM key member member*",
    "ZSCORE key member",
    "ZMSCORE key member member*",
    "ZCARD key",
    "ZSCAN key zero (MATCH pattern)? (COUNT int)?",
    "ZRANK key member",
    "ZREVRANK key member",
    "ZRANGE key int int WITHSCORES?",
    "ZREVRANGE key int int WITHSCORES?",
    "ZRANGE key scoreend scoreend BYSCORE REV? WITHSCORES? (LIMIT int int)?",
    "ZRANGE key int int REV WITHSCORES?",
    "ZRANGEBYSCORE key scoreend scoreend WITHSCORES? (LIMIT int int)?",
    "ZREVRANGEBYSCORE key scoreend scoreend WITHSCORES? (LIMIT int int)?",
    "ZCOUNT key scoreend scoreend",
    "ZREMRANGEBYRANK key int int",
    "ZREMRANGEBYSCORE key scoreend scoreend",
    "ZADD texts zero member (zero member)*",
    "ZRANGEBYLEX texts textend textend (LIMIT int int)?",
    "ZRANGE texts textend textend BYLEX REV?",
    "ZREMRANGEBYLEX texts textend textend",
    "XADD key id field value",
    "XADD key trim id field value (field value)?",
    "XADD key NOMKSTREAM id field value",
    "XADD key * field value",
    "XTRIM key trim",
    "XLEN key",
    "XRANGE key idend idend (COUNT int)?",
    "XREVRANGE key idend idend (COUNT int)?",
    "XREAD (COUNT int)? STREAMS key id",
    "XREAD STREAMS key key id id",
    "XREAD (COUNT int)? BLOCK one STREAMS key id",
    "NOSUCH word*",
    "FLUSHDB",
};

const std::map<std::string, std::vector<std::string>>& words() {
  static const auto* const all = new std::map<std::string, std::vector<std::string>>{
      {"key", {"a", "b", "c", "d", "e", "f", "g"}},
      {"texts", {"texts"}},
      {"word", {"x", "", "a b", "a\nb", std::string("a\0b", 3), "0123456789012345678901234567890123456789"}},
      {"zero", {"0"}},
      {"one", {"1"}},
      {"thousand", {"1000"}},
      {"pattern", {"*", "a*", "[a-c]", "[^a]", "?", "\\a", "f*1", "", "[", "**", "f?"}},
      {"ttl", {"100000", "200000", "900000", "0", "-1", "x", "9223372036854775807", "1.5", ""}},
      {"when", {"4000000000000", "5000000000000", "6000000000000", "1", "-5", "x"}},
      {"expireoption", {"NX", "XX", "GT", "LT", "gt", "FOO"}},
      {"setoption", {"NX", "XX", "GET", "KEEPTTL", "nx", "FOO"}},
      {"timeunit", {"EX", "PX", "px"}},
      {"value", {"0", "1", "-7", "9223372036854775807", "x", "", "007", "1.5", std::string("n\0l", 3), "\r\n", "word"}},
      {"int", {"0", "1", "2", "-1", "-2", "5", "-9", "9223372036854775807", "x", "", "01", "+1", " 1"}},
      {"field", {"f1", "f2", "f3", "", "1"}},
      {"member", {"m1", "m2", "m3", "m4", "", "1"}},
      {"score",
       {"0", "1", "2", "2.5", "-3", "inf", "-inf", "+inf", "1700000000.123456", "1e10", "0.1", "nan", "x", "", "0x10",
        "1e400", "1700000000.123457"}},
      {"zaddoption", {"NX", "XX", "GT", "LT", "CH", "INCR", "nx"}},
      {"scoreend",
       {"0", "1", "(1", "(2", "2.5", "-inf", "+inf", "inf", "(-inf", "x", "(", "", "1700000000.123456", "-3"}},
      {"textend", {"-", "+", "[m1", "(m1", "[m3", "(m4", "m1", "", "[", "("}},
      {"id",
       {"1-1", "1-2", "2", "2-0", "3-*", "5-5", "7-1", "9", "0-0", "0", "x", "1-", "-", "(1-1", "12-3", "20-*", "$"}},
      {"idend", {"-", "+", "1", "2", "(2", "5-5", "(5-5", "3-0", "x", "(-", "9-9", "(0-0", ""}},
      {"trim",
       {"MAXLEN 3", "MAXLEN ~ 3", "MAXLEN = 2", "MAXLEN ~ 0", "MAXLEN 0", "MAXLEN -1", "MAXLEN x", "MAXLEN ~ 2 LIMIT 1",
        "MAXLEN 2 LIMIT 1", "MAXLEN"}},
  };
  return *all;
}

void add_words(Random& random, const std::string& word, RedisCommand& command) {
  const auto found = words().find(word);
  if (found == words().end()) {
    command.push_back(word);
  } else if (word == "trim") {
    std::istringstream parts(pick(random, found->second));
    for (std::string part; parts >> part;) command.push_back(part);
  } else {
    command.push_back(pick(random, found->second));
  }
}

// A word of a shape, or a group of them, and how often it comes.
void add_part(Random& random, std::string part, RedisCommand& command) {
  std::size_t times = 1;
  if (part.size() > 1 && part.back() == '?') times = below(random, 2);
  if (part.size() > 1 && part.back() == '*') times = below(random, 3);
  if (part.size() > 1 && (part.back() == '?' || part.back() == '*')) part.pop_back();
  if (part.front() == '(') part = part.substr(1, part.size() - 2);
  for (; times > 0; --times) {
    std::istringstream parts(part);
    for (std::string word; parts >> word;) add_words(random, word, command);
  }
}

std::vector<std::string> parts_of(const std::string& shape) {
  std::vector<std::string> parts;
  std::istringstream all(shape);
  for (std::string word; all >> word;) {
    if (!parts.empty() && parts.back().front() == '(' && parts.back().find(')') == std::string::npos) {
      parts.back() += " " + word;
    } else {
      parts.push_back(word);
    }
  }
  return parts;
}

// Too many, too few, or not what is expected there.
void spoil(Random& random, RedisCommand& command) {
  if (chance(random, 40) && command.size() > 1) {
    command.pop_back();
  } else if (chance(random, 50)) {
    command.push_back(pick(random, words().at("value")));
  } else if (command.size() > 2) {
    command[2 + below(random, command.size() - 2)] = pick(random, words().at("word"));
  }
}

// What a server with another clock would answer otherwise.
bool depends_on_the_clock(const RedisCommand& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const bool is_short = command[i].size() < 6 && !command[i].empty() &&
                          command[i].find_first_not_of("0123456789") == std::string::npos && command[i] != "0";
    const std::string& name = command[0];
    const bool takes_time =
        name == "EXPIRE" || name == "PEXPIRE" || name == "SETEX" || name == "PSETEX" || (name == "SET" && i > 3);
    if (is_short && takes_time) return true;
  }
  return false;
}

}  // namespace

RedisCommand random_command(Random& random) {
  for (;;) {
    RedisCommand command;
    // FLUSHDB is rare, or there would be nothing to disagree about.
    const std::string shape = pick(random, kShapes);
    if (shape == "FLUSHDB" && !chance(random, 10)) continue;
    for (const std::string& part : parts_of(shape)) add_part(random, part, command);
    // Ranges of texts are defined only where all have the same score.
    if (chance(random, 6) && shape.find("texts") == std::string::npos) spoil(random, command);
    if (chance(random, 5)) {
      for (char& letter : command[0]) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      if (command[0] == "expire" || command[0] == "set" || command[0] == "pexpire" || command[0] == "setex" ||
          command[0] == "psetex") {
        continue;
      }
    }
    if (!depends_on_the_clock(command)) return command;
  }
}

}  // namespace kron::testing
