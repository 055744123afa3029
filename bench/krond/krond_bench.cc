#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "bare_loop.h"
#include "host.h"

// The real krond, durable, next to a bare loop that starts the same helper with the same command and keeps no record.
namespace kron::bench {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Counts {
  int crowd, loaded, many, most;  // due at once; loaded beside them; a large set; the largest
  int seconds;                    // of lateness and of sustained load
};

constexpr Counts kFull{1000, 10'000, 100'000, 1'000'000, 60};
constexpr Counts kBrief{10, 100, 500, 1000, 2};

// `crowd` jobs due at one second, among `loaded` others.
Started burst(int crowd, int loaded) {
  Host host;
  // Loading takes its time; the crowd comes well after it.
  const std::int64_t due = wall_nanoseconds() / kSecond + 4 + loaded / 20'000;
  std::string text = idle_jobs(loaded);
  for (int i = 0; i < crowd; ++i) {
    text += cron_at(due) + " @policy(deadline=1m) name=crowd/job-" + std::to_string(i) + " command=\"" +
            host.stamp_command() + "\"\n";
  }
  host.write_jobs(text);
  host.start();
  if (wall_nanoseconds() > due * kSecond) std::fprintf(stderr, "krond_bench: loading took too long for its crowd\n");
  return started(host.wait_for_stamps(static_cast<std::size_t>(crowd), 120), due * kSecond);
}

// One job every second on an otherwise quiet host: how long after its second its command runs, in milliseconds.
std::vector<double> lateness(int seconds) {
  Host host;
  host.write_jobs("* * * * * * name=each/second command=\"" + host.stamp_command() + "\"\n");
  host.start();
  std::vector<double> late;
  const std::vector<std::int64_t> stamps = host.wait_for_stamps(static_cast<std::size_t>(seconds) + 1, seconds * 3.0);
  // The first is of the second in which krond started, and as late as that was.
  for (std::size_t i = 1; i < stamps.size(); ++i) late.push_back(static_cast<double>(stamps[i] % kSecond) / 1e6);
  std::ranges::sort(late);
  if (late.empty()) late.push_back(0);
  return late;
}

// The least that one durable start can take on this machine: a record as STATE asks for it (a temporary file, its sync,
// a rename, the directory's sync), then the helper and its command; in milliseconds.
double least_lateness(int rounds) {
  const Host host;
  const std::string temporary = host.directory() + "/.tmp-record";
  const std::string record = host.directory() + "/record";
  const std::string bytes(1200, 'x');
  const int directory = ::open(host.directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t begin = wall_nanoseconds();
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (::write(file, bytes.data(), bytes.size()) < 0 || ::fsync(file) != 0) std::exit(1);
    ::close(file);
    if (::rename(temporary.c_str(), record.c_str()) != 0 || ::fsync(directory) != 0) std::exit(1);
    times.push_back(seconds_since(begin) * 1e3 + bare_loop(1).first * 1e3);
  }
  ::close(directory);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

std::string loaded_json(int count, int idle_seconds) {
  Host host;
  host.write_jobs("");
  host.start();
  const std::uint64_t empty = resident_bytes(host.pid());
  host.stop();
  const std::string text = idle_jobs(count);
  host.write_jobs(text);
  const double first = host.start();
  host.stop();
  const double again = host.start();
  const std::uint64_t full = resident_bytes(host.pid());
  const double cpu = cpu_seconds_of(host.pid());
  const std::uint64_t wakeups = wakeups_of(host.pid());
  ::sleep(static_cast<unsigned>(idle_seconds));
  const double idle_cpu = cpu_seconds_of(host.pid()) - cpu;
  const std::uint64_t idle_wakeups = wakeups_of(host.pid()) - wakeups;
  const double beyond = static_cast<double>(full) - static_cast<double>(empty) - static_cast<double>(text.size());
  char json[512];
  std::snprintf(
      json, sizeof json,
      "{\"jobs\":%d,\"firstStartSeconds\":%.3f,\"startSeconds\":%.3f,\"residentBytesPerJob\":%.0f,"
      "\"residentBytesPerJobBeyondText\":%.0f,\"idleSeconds\":%d,\"idleCpuSeconds\":%.3f,\"idleWakeups\":%llu}",
      count, first, again, static_cast<double>(full - empty) / count, beyond / count, idle_seconds, idle_cpu,
      static_cast<unsigned long long>(idle_wakeups));
  return json;
}

// More jobs a second than can be started: how many commands run in a second, once it is under way.
double sustained(int offered, int seconds) {
  Host host;
  std::string text;
  for (int i = 0; i < offered; ++i) {
    text += "* * * * * * name=busy/job-" + std::to_string(i) + " command=\"" + host.stamp_command() + "\"\n";
  }
  host.write_jobs(text);
  host.start();
  const std::int64_t begin = wall_nanoseconds() + kSecond;
  ::sleep(static_cast<unsigned>(seconds + 1));
  const std::int64_t end = wall_nanoseconds();
  const auto stamps = host.stamps();
  const auto count = std::ranges::count_if(stamps, [&](std::int64_t at) { return at >= begin && at < end; });
  return static_cast<double>(count) * 1e9 / static_cast<double>(end - begin);
}

std::string burst_json(const Started& ours, const Started& bare) {
  char json[512];
  std::snprintf(json, sizeof json,
                "{\"started\":%zu,\"firstSeconds\":%.4f,\"medianSeconds\":%.4f,\"lastSeconds\":%.4f,"
                "\"bareFirstSeconds\":%.4f,\"bareMedianSeconds\":%.4f,\"bareLastSeconds\":%.4f,\"lastRatio\":%.3f}",
                ours.count, ours.first, ours.median, ours.last, bare.first, bare.median, bare.last,
                ours.last / bare.last);
  return json;
}

// The middle of several rounds by its last start, so that one disturbance does not decide.
template <class Round>
Started middle_of(int rounds, Round round) {
  std::vector<Started> all;
  for (int i = 0; i < rounds; ++i) all.push_back(round());
  std::ranges::sort(all, {}, &Started::last);
  return all[all.size() / 2];
}

}  // namespace
}  // namespace kron::bench

int main(int argc, char** argv) {
  using namespace kron::bench;
  const bool brief = std::getenv("BRIEF") != nullptr;
  const Counts counts = brief ? kBrief : kFull;
  const int rounds = brief ? 1 : 3;
  // One of: burst, lateness, loaded, sustained; all of them when none is named.
  const std::string only = argc > 1 ? argv[1] : "";
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  std::string json = "{\"bench\":\"krond\"";
  if (wanted("burst")) {
    const Started bare = middle_of(rounds, [&] { return bare_loop(counts.crowd); });
    const Started ours = middle_of(rounds, [&] { return burst(counts.crowd, counts.loaded); });
    const Started among_many = middle_of(rounds, [&] { return burst(counts.crowd, counts.many); });
    json += ",\"crowd\":" + std::to_string(counts.crowd) + ",\"loaded\":" + std::to_string(counts.loaded) +
            ",\"burst\":" + burst_json(ours, bare) + ",\"burstAmongMany\":" + burst_json(among_many, bare);
  }
  if (wanted("lateness")) {
    const std::vector<double> late = lateness(counts.seconds);
    const double least = least_lateness(brief ? 2 : 40);
    char text[256];
    std::snprintf(text, sizeof text,
                  ",\"lateness\":{\"runs\":%zu,\"p50Milliseconds\":%.3f,\"p99Milliseconds\":%.3f,"
                  "\"bareP50Milliseconds\":%.3f,\"p50Ratio\":%.3f}",
                  late.size(), at_share(late, 0.5), at_share(late, 0.99), least, at_share(late, 0.5) / least);
    json += text;
  }
  if (wanted("loaded")) {
    const int idle = brief ? 1 : 10;
    json += ",\"loadedSets\":[" + loaded_json(counts.many, idle) + "," + loaded_json(counts.most, idle) + "]";
  }
  if (wanted("sustained")) {
    const Started bare = middle_of(rounds, [&] { return bare_loop(counts.crowd); });
    const double limit = counts.crowd / bare.last;
    const double rate = sustained(static_cast<int>(limit * 1.5) + 1, brief ? 2 : 10);
    char text[160];
    std::snprintf(text, sizeof text,
                  ",\"sustained\":{\"runsPerSecond\":%.1f,\"bareRunsPerSecond\":%.1f,\"share\":%.3f}", rate, limit,
                  rate / limit);
    json += text;
  }
  std::printf("%s}\n", json.c_str());
}
