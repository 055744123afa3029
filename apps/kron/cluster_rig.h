#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>

#include "command_rig.h"
#include "fake_redis_port.h"

// `kron cluster …` on a Redis in memory: what each verb reads, writes and says, and which exit status it has.
namespace kron::cli {

inline constexpr char kJobsKey[] = "{cronken}:jobs";
inline constexpr char kRunDataKey[] = "{cronken}:rundata";
inline constexpr char kClusterJob[] =
    R"({"cron_args":{"cronstring":"0 * * * *"},"job_args":{"cmd":"echo","lock":true,"ttl":10},"job_state":{}})";
inline const std::string kRunOne(32, '1');
inline const std::string kRunTwo(32, '2');

class ClusterVerbs : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text = kClusterJob) {
    redis_.run({"HSET", kJobsKey, name, text});
  }
  std::string definition(const std::string& name) { return redis_.get(kJobsKey, name); }

  void put_run(const std::string& id, const std::string& status, const std::string& job = "job", int code = 0) {
    redis_.run({"HSET", kRunDataKey, id,
                R"({"job_name":")" + job + R"(","start_time":"1772323200.5","host":"h1","status":")" + status +
                    R"(","retcode":)" + std::to_string(code) + R"(,"output":"last\n","duration":1.5})"});
    if (status == "running") {
      redis_.run({"ZADD", "{cronken}:rundata:active", "1772323201", id});
      return;
    }
    redis_.run({"ZADD", "{cronken}:results:" + status, "1772323202", id});
    redis_.run({"ZADD", "{cronken}:results:" + job + ":" + status, "1772323202", id});
  }

  std::int64_t number(const RedisCommand& command) { return redis_.execute(command).value.integer; }

  // `kron cluster WORD…`
  Ran cluster(Words words, std::string_view input = {}) {
    words.insert(words.begin(), "cluster");
    words.insert(words.end(), {"--redis", redis_.url()});
    return kron(words, input);
  }

  const Variable redis_variable_{"KRON_REDIS", nullptr};
  const Variable file_variable_{"KRON_REDIS_FILE", nullptr};
  const Variable cronken_variable_{"CRONKEN_REDIS_INFO", nullptr};
  const Variable namespace_variable_{"KRON_NAMESPACE", nullptr};
  const Variable other_namespace_variable_{"CRONKEN_NAMESPACE", nullptr};
  const Variable key_variable_{"KRON_JOBS_HMAC_KEY", nullptr};
  testing::RedisPort redis_;
};

}  // namespace kron::cli
