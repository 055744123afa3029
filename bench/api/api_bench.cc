#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../krond/host.h"
#include "asking.h"
#include "beside_forecast.h"
#include "kron/json/writer.h"
#include "kron/testing/temporary_directory.h"
#include "late_crowd.h"
#include "lateness.h"
#include "tasks.h"

// What it takes krond to be asked, next to a bare server on the same HTTP; and what its clients cost the jobs that are
// due. Clients are processes of their own with a lower priority, on the same cores.
namespace kron::bench {
namespace {

constexpr std::size_t kSmallBody = 2048;
constexpr int kFew = 8;

struct Scale {
  int jobs, many;     // loaded; connections
  double seconds;     // of each measurement
  std::size_t tasks;  // through the API
  Crowd crowd;
  int late;  // jobs that are late when krond starts
};

constexpr Scale kFull{10'000, 200, 5, 4000, {10'000, 100, 200, 6, 5}, 20'000};
constexpr Scale kBrief{200, 20, 0.3, 40, {200, 3, 20, 1, 2}, 50};

void write_cost(JsonWriter& out, const Cost& cost) {
  out.key("requestsPerSecond").real(cost.per_second).key("cpuMicroseconds").real(cost.cpu_microseconds);
  out.key("errors").integer(static_cast<std::int64_t>(cost.answers.failed));
}

Cost write_echo(JsonWriter& out, std::size_t body_bytes, int connections, double seconds) {
  const testing::TemporaryDirectory directory;
  const EchoServer echo(directory.file("socket"), body_bytes);
  const Cost cost = cost_of({directory.file("socket"), "/echo", connections, seconds}, echo.pid());
  out.begin_map().key("bodyBytes").integer(static_cast<std::int64_t>(body_bytes));
  out.key("connections").integer(connections);
  write_cost(out, cost);
  out.end_map();
  return cost;
}

void write_jobs(JsonWriter& out, const Host& host, int connections, double seconds) {
  const Cost cost = cost_of({host.socket(), "/api/v1/jobs?limit=100", connections, seconds}, host.pid());
  const std::uint64_t answers = std::max<std::uint64_t>(cost.answers.good, 1);
  out.begin_map().key("connections").integer(connections);
  write_cost(out, cost);
  out.key("echo");
  const Cost echo = write_echo(out, cost.answers.bytes / answers, connections, seconds);
  out.key("shareOfEcho").real(cost.per_second / echo.per_second);
  out.key("cpuTimesEcho").real(cost.cpu_microseconds / echo.cpu_microseconds);
  out.end_map();
}

void write_tasks(JsonWriter& out, const Cost& echo, std::size_t count) {
  Host host;
  host.write_jobs("");
  host.start();
  submit_tasks(host.socket(), count);
  const double before = cpu_seconds_of(host.pid());
  const double rate = leases_to_commits(host.socket(), kFew, count);
  const double cpu = (cpu_seconds_of(host.pid()) - before) * 1e6 / static_cast<double>(count);
  const testing::TemporaryDirectory directory;
  const double direct = leases_to_commits_without_http(directory.file("data"), kFew, count);
  out.begin_map().key("workers").integer(kFew).key("tasks").integer(static_cast<std::int64_t>(count));
  out.key("perSecond").real(rate).key("cpuMicroseconds").real(cpu);
  out.key("withoutHttpPerSecond").real(direct).key("shareOfWithoutHttp").real(rate / direct);
  // Two requests a task, and the syncs between them.
  out.key("shareOfEcho").real(2 * rate / echo.per_second);
  out.key("cpuTimesEcho").real(cpu / (2 * echo.cpu_microseconds)).end_map();
}

void measure(std::string_view only, const Scale& scale) {
  const auto wanted = [&](std::string_view part) { return only.empty() || only == part; };
  JsonWriter out;
  out.begin_map().member("bench", "api");
  Cost echo;
  if (wanted("echo") || wanted("lease_commit")) {
    out.key("echo").begin_list();
    echo = write_echo(out, kSmallBody, kFew, scale.seconds);
    write_echo(out, kSmallBody, scale.many, scale.seconds);
    out.end_list();
  }
  if (wanted("jobs")) {
    Host host;
    host.write_jobs(idle_jobs(scale.jobs));
    host.start();
    out.key("jobs").begin_list();
    for (const int connections : {kFew, scale.many}) write_jobs(out, host, connections, scale.seconds);
    out.end_list();
  }
  if (wanted("lease_commit")) {
    out.key("leaseCommit");
    write_tasks(out, echo, scale.tasks);
  }
  if (wanted("load")) {
    out.key("load");
    write_lateness(out, scale.crowd);
  }
  if (wanted("forecast")) {
    out.key("forecast");
    write_beside_forecast(out, scale.jobs, scale.seconds);
  }
  if (wanted("late")) {
    out.key("late");
    write_late_crowd(out, scale.late);
  }
  std::puts(out.end_map().take().c_str());
}

}  // namespace
}  // namespace kron::bench

// One of: echo, jobs, lease_commit, load, forecast, late; all of them when none is named.
int main(int argc, char** argv) {
  using namespace kron::bench;
  measure(argc > 1 ? argv[1] : "", std::getenv("BRIEF") != nullptr ? kBrief : kFull);
}
