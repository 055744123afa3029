#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "kron/env/redis_connection.h"

// Redis servers and krond of a benchmark: processes in directories and on ports of their own.
namespace kron::bench {

[[noreturn]] void abandon(const std::string& why);
void rest(double seconds);

// A process, its output in a file; ends with it.
class Child {
 public:
  Child(std::vector<std::string> words, const std::string& log);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void kill();  // at once
  bool is_over();

 private:
  void end(int signal);

  pid_t pid_ = -1;
};

class Redis {
 public:
  // `arguments` as on redis-server's command line; everything is kept in memory unless they say otherwise.
  explicit Redis(std::vector<std::string> arguments = {});

  int port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  const std::string& directory() const { return directory_; }
  pid_t pid() const { return process_->pid(); }
  void kill() { process_->kill(); }

  RedisValue ask(RedisCommand command);  // gives up when Redis refuses
  std::vector<RedisReply> pipeline(const std::vector<RedisCommand>& commands);

  double cpu_seconds() const;
  std::uint64_t script_calls();  // EVALSHA so far

 private:
  std::string directory_;
  int port_ = 0;
  std::unique_ptr<Child> process_;
  std::unique_ptr<RedisConnection> connection_;
};

// One redis-server that watches another, and makes its replica the master when it is gone.
std::unique_ptr<Child> start_sentinel(const Redis& master, int port);

// Hosts on one Redis, whose jobs stamp the time of their start.
class Fleet {
 public:
  explicit Fleet(Redis& redis);

  // A job of `cron_args`, in JSON; `replaced` by the next of the same name.
  void define(const std::string& name, const std::string& cron_args);
  void start(int hosts, const std::string& url = {});

  // Seconds from the second of its period to its start, of every run, in order of length.
  std::vector<double> lateness() const;
  std::vector<std::int64_t> stamps() const;
  std::size_t stamp_count() const;

  // What the stream of outcomes says, by their names.
  std::map<std::string, int> outcomes() const;

 private:
  Redis* redis_;
  std::string directory_;
  std::vector<std::unique_ptr<Child>> hosts_;
};

}  // namespace kron::bench
