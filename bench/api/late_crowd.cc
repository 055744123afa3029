#include "late_crowd.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "../krond/host.h"
#include "aside.h"
#include "kron/http/client.h"

namespace kron::bench {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kToLoad = 4;  // seconds, and more for many
constexpr std::int64_t kMostToLoad = 300;
constexpr int kJobsPerSecond = 10'000;
constexpr double kLongest = 300;  // seconds
constexpr double kTooLong = 250;  // milliseconds
constexpr useconds_t kBetweenQuestions = 5'000;

constexpr std::array kTargets{"/api/v1/status", "/api/v1/jobs?limit=100", "/api/v1/runs?limit=100"};

struct Asked {
  std::size_t answers = 0, errors = 0, too_long = 0, runs = 0;
  double seconds = 0;
  double p50 = 0, p99 = 0, most = 0;  // milliseconds
};

std::size_t runs_of(const Host& host) {
  std::error_code error;
  const auto size = std::filesystem::file_size(host.stamps_file(), error);
  return error ? 0 : static_cast<std::size_t>(size) / sizeof(std::int64_t);
}

// One question after the other, as a person or a monitor would ask them.
Asked ask_until_all_ran(const Host& host, std::size_t jobs) {
  Asked asked;
  std::vector<double> times;
  http::Client client(host.socket());
  const std::int64_t begin = wall_nanoseconds();
  while (runs_of(host) < jobs && seconds_since(begin) < kLongest) {
    const std::int64_t sent = wall_nanoseconds();
    const auto answer = client.request("GET", kTargets[times.size() % kTargets.size()]);
    times.push_back(seconds_since(sent) * 1e3);
    if (!answer || answer->status != 200) ++asked.errors;
    ::usleep(kBetweenQuestions);
  }
  asked.seconds = seconds_since(begin);
  asked.runs = runs_of(host);
  if (times.empty()) return asked;
  std::ranges::sort(times);
  asked.answers = times.size();
  asked.too_long = static_cast<std::size_t>(std::ranges::count_if(times, [](double t) { return t > kTooLong; }));
  asked.p50 = at_share(times, 0.5);
  asked.p99 = at_share(times, 0.99);
  asked.most = times.back();
  return asked;
}

std::string jobs_due_at(const Host& host, int jobs, std::int64_t second) {
  std::string text;
  for (int i = 0; i < jobs; ++i) {
    text += cron_at(second) + " @policy(deadline=1h) name=late/job-" + std::to_string(i) + " command=\"" +
            host.stamp_command() + "\"\n";
  }
  return text;
}

// A host whose jobs are all late. It takes a krond that has seen them, and ended before they were due; on a busy
// machine that may take longer than was thought, and is tried again with more time.
std::unique_ptr<Host> host_of_late(int jobs) {
  for (std::int64_t lead = kToLoad + jobs / kJobsPerSecond; lead < kMostToLoad; lead *= 2) {
    auto host = std::make_unique<Host>();
    const std::int64_t due = wall_nanoseconds() / kSecond + lead;
    host->write_jobs(jobs_due_at(*host, jobs, due));
    host->start();
    // Without a note that it was told to stop: then what is due until the next start would be on time.
    ::kill(host->pid(), SIGKILL);
    host->stop();
    if (wall_nanoseconds() >= due * kSecond) continue;
    while (wall_nanoseconds() < (due + 2) * kSecond) ::usleep(100'000);
    return host;
  }
  give_up("loading takes too long for jobs that are to be late");
}

}  // namespace

void write_late_crowd(JsonWriter& out, int jobs) {
  const std::unique_ptr<Host> host = host_of_late(jobs);
  host->start();
  Aside<Asked> aside(0, [&](const auto& tell) { tell(ask_until_all_ran(*host, static_cast<std::size_t>(jobs))); });
  const Asked asked = aside.next().value_or(Asked{});
  out.begin_map().key("jobs").integer(jobs).key("ran").integer(static_cast<std::int64_t>(asked.runs));
  out.key("seconds").real(asked.seconds).key("answers").integer(static_cast<std::int64_t>(asked.answers));
  out.key("errors").integer(static_cast<std::int64_t>(asked.errors));
  out.key("p50Milliseconds").real(asked.p50).key("p99Milliseconds").real(asked.p99);
  out.key("mostMilliseconds").real(asked.most);
  out.key("above250Milliseconds").integer(static_cast<std::int64_t>(asked.too_long)).end_map();
}

}  // namespace kron::bench
