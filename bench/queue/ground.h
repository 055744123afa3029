#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/real_file_system.h"
#include "kron/queue/task.h"

// What the measurements of the queue share.
namespace kron::bench {

class NoLog : public Log {
 public:
  void write(LogLevel, std::string_view, std::span<const LogField>) override {}
};

inline bool is_brief() { return std::getenv("BRIEF") != nullptr; }

inline double seconds_of(auto&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A directory that goes when it is done with.
class Scratch {
 public:
  Scratch() {
    const char* base = std::getenv("QUEUE_BENCH_DIR");
    std::string pattern = std::filesystem::absolute(base != nullptr ? base : ".").string() + "/queue-bench-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline constexpr char kTaskType[] = "REPORT";

inline NewTask task_number(std::size_t number) {
  NewTask task;
  task.id = "report-" + std::to_string(1'000'000 + number);
  task.type = kTaskType;
  task.data = R"({"customer":4711,"month":"2026-01","format":"pdf","to":"someone@example.com"})";
  return task;
}

inline void require(bool good) {
  if (good) return;
  std::fputs("queue_bench: the queue did not do what was asked\n", stderr);
  std::abort();
}

}  // namespace kron::bench
