#include "servers.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../krond/host.h"
#include "kron/base/rfc3339.h"
#include "kron/env/real_redis_connection.h"

namespace kron::bench {
namespace {

constexpr Nanoseconds kPatience = Seconds(60);
constexpr int kRounds = 6000;  // of 10 ms

std::string make_directory() {
  std::string path = std::filesystem::temp_directory_path().string() + "/kron-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) abandon("cannot make a directory " + path);
  static const struct Leavings {
    ~Leavings() {
      std::error_code ignored;
      for (const std::string& directory : directories) std::filesystem::remove_all(directory, ignored);
    }
    mutable std::vector<std::string> directories;
  } leavings;
  leavings.directories.push_back(path);
  return path;
}

// One that nobody has now; never Redis's own.
int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(probe, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    abandon("no free port");
  }
  ::close(probe);
  return ::ntohs(address.sin_port);
}

RedisUrl url_of(int port) { return {.addresses = {{.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)}}}; }

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string member(const std::string& json, const std::string& name) {
  const std::string key = "\"" + name + "\":\"";
  const auto at = json.find(key);
  if (at == std::string::npos) return {};
  return json.substr(at + key.size(), json.find('"', at + key.size()) - at - key.size());
}

}  // namespace

void abandon(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", ::program_invocation_short_name, why.c_str());
  std::exit(1);
}

void rest(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec time{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  ::nanosleep(&time, nullptr);
}

Child::Child(std::vector<std::string> words, const std::string& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  int failed = ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  // redis-tools has the server under another name; what it is called decides what it does.
  if (failed == ENOENT && words[0] == "redis-server") {
    failed = ::posix_spawnp(&pid_, "redis-check-rdb", &actions, nullptr, arguments.data(), environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) abandon("cannot start " + words[0] + "; run scripts/deps test");
}

Child::~Child() { end(SIGTERM); }
void Child::kill() { end(SIGKILL); }

void Child::end(int signal) {
  if (pid_ <= 0) return;
  ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool Child::is_over() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
}

Redis::Redis(std::vector<std::string> arguments) : directory_(make_directory()), port_(free_port()) {
  std::vector<std::string> words{
      "redis-server", "--port", std::to_string(port_), "--bind", "127.0.0.1", "--dir", directory_,
      "--save",       "",       "--maxclients",        "1000"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  process_ = std::make_unique<Child>(std::move(words), directory_ + "/log");
  connection_ = std::make_unique<RealRedisConnection>(url_of(port_));
  for (int i = 0; !connection_->connect(kPatience); ++i) {
    if (process_->is_over() || i == kRounds) abandon("redis-server does not answer: " + file_text(directory_ + "/log"));
    rest(0.01);
  }
}

RedisValue Redis::ask(RedisCommand command) {
  const auto replies = pipeline({std::move(command)});
  if (!replies.front().is_reply()) abandon("Redis: " + replies.front().why);
  return replies.front().value;
}

std::vector<RedisReply> Redis::pipeline(const std::vector<RedisCommand>& commands) {
  if (!connection_->is_connected() && !connection_->connect(kPatience)) abandon("Redis is gone");
  return connection_->call(commands, kPatience);
}

double Redis::cpu_seconds() const { return cpu_seconds_of(process_->pid()); }

std::uint64_t Redis::script_calls() {
  const std::string text = ask({"INFO", "commandstats"}).text;
  constexpr std::string_view kKey = "cmdstat_evalsha:calls=";
  const auto at = text.find(kKey);
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + kKey.size()));
}

std::unique_ptr<Child> start_sentinel(const Redis& master, int port) {
  const std::string directory = make_directory();
  const std::string file = directory + "/sentinel.conf";
  std::ofstream(file) << "port " << port << "\nbind 127.0.0.1\ndir " << directory << "\nsentinel monitor m 127.0.0.1 "
                      << master.port() << " 1\nsentinel down-after-milliseconds m 500\n"
                      << "sentinel failover-timeout m 3000\n";
  return std::make_unique<Child>(std::vector<std::string>{"redis-server", file, "--sentinel"}, directory + "/log");
}

Fleet::Fleet(Redis& redis) : redis_(&redis), directory_(make_directory()) {
  std::filesystem::create_directory(directory_ + "/stamps");
}

void Fleet::define(const std::string& name, const std::string& cron_args) {
  redis_->ask({"HSET", "{cronken}:jobs", name,
               R"({"cron_args":)" + cron_args + R"(,"job_args":{"cmd":")" + KRON_STAMP + " " + directory_ +
                   R"(/stamps/$KRON_PERIOD_ID","lock":true,"ttl":10}})"});
}

void Fleet::start(int hosts, const std::string& url) {
  for (int i = 1; i <= hosts; ++i) {
    const std::string name = "h" + std::to_string(i);
    hosts_.push_back(std::make_unique<Child>(
        std::vector<std::string>{KRON_KROND, "--redis", url.empty() ? redis_->url() : url, "--host", name,
                                 "--default-timezone", "UTC", "--state-dir", directory_ + "/" + name, "--socket",
                                 "none", "--log-level", "warning"},
        directory_ + "/" + name + ".log"));
  }
  for (int round = 0; redis_->ask({"HLEN", "{cronken}:kron:hosts"}).integer < hosts; ++round) {
    for (int i = 1; i <= hosts; ++i) {
      if (round < kRounds && !hosts_[static_cast<std::size_t>(i) - 1]->is_over()) continue;
      abandon("krond does not join: " + file_text(directory_ + "/h" + std::to_string(i) + ".log"));
    }
    rest(0.01);
  }
}

namespace {

template <class Take>
void each_stamp(const std::string& directory, Take take) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const auto period = parse_rfc3339(entry.path().filename().string());
    const std::string bytes = file_text(entry.path());
    for (std::size_t at = 0; at + sizeof(std::int64_t) <= bytes.size(); at += sizeof(std::int64_t)) {
      std::int64_t stamp = 0;
      bytes.copy(reinterpret_cast<char*>(&stamp), sizeof stamp, at);
      take(period ? period->time_since_epoch().count() : 0, stamp);
    }
  }
}

}  // namespace

std::vector<double> Fleet::lateness() const {
  std::vector<double> late;
  each_stamp(directory_ + "/stamps", [&](std::int64_t period, std::int64_t stamp) {
    late.push_back(static_cast<double>(stamp - period * 1'000'000'000) / 1e9);
  });
  std::ranges::sort(late);
  return late;
}

std::vector<std::int64_t> Fleet::stamps() const {
  std::vector<std::int64_t> found;
  each_stamp(directory_ + "/stamps", [&](std::int64_t, std::int64_t stamp) { found.push_back(stamp); });
  std::ranges::sort(found);
  return found;
}

std::size_t Fleet::stamp_count() const { return stamps().size(); }

std::map<std::string, int> Fleet::outcomes() const {
  std::map<std::string, int> counts;
  const RedisValue entries = redis_->ask({"XRANGE", "{cronken}:kron:outcomes", "-", "+"});
  for (const RedisValue& entry : entries.items) {
    const std::string& text = entry.items.at(1).items.at(1).text;
    // A run's end is told again.
    if (member(text, "outcome") == "executed" && member(text, "state") != "running") continue;
    ++counts[member(text, "outcome")];
  }
  return counts;
}

}  // namespace kron::bench
