#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

// A host of its own for a benchmark: a directory in TMPDIR (/tmp), job files, and a real krond.
namespace kron::bench {

// Ends the benchmark: what it would print is worth nothing.
[[noreturn]] void give_up(const std::string& why);

std::int64_t wall_nanoseconds();
double seconds_since(std::int64_t wall_start);

// Lines of a job file: jobs that are not due while anybody measures.
std::string idle_jobs(int count);

// `S M H d m *` of this second, in UTC.
std::string cron_at(std::int64_t second);

// Of values in order: the one that this share of them is below.
double at_share(const std::vector<double>& sorted, double share);

class Host {
 public:
  Host();
  ~Host();  // ends krond; the program's end removes all of it
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& directory() const { return directory_; }
  std::string stamps_file() const { return directory_ + "/stamps"; }
  std::string log_file() const { return directory_ + "/log"; }
  std::string socket() const { return directory_ + "/state/krond.sock"; }

  // A command that stamps its start.
  std::string stamp_command() const;

  void write_jobs(const std::string& text) const;

  // Starts krond and returns how long it took until it was ready, in seconds.
  double start();
  void stop();
  pid_t pid() const { return pid_; }

  // The times at which stamp commands ran, in order.
  std::vector<std::int64_t> stamps() const;

  // Waits until there are that many, or for that many seconds.
  std::vector<std::int64_t> wait_for_stamps(std::size_t count, double seconds) const;

 private:
  std::string directory_;
  pid_t pid_ = -1;
};

// Of the process, in bytes, from /proc.
std::uint64_t resident_bytes(pid_t pid);

// What all threads of the process have used.
double cpu_seconds_of(pid_t pid);

// Voluntary context switches of its first thread.
std::uint64_t wakeups_of(pid_t pid);

}  // namespace kron::bench
