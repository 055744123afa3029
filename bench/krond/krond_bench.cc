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

// The least that one durable start can take on this machine: a record as STATE asks for it (a temporary file, its sync,
// a rename, the directory's sync), then the helper and its command.
class LeastStart {
 public:
  LeastStart() : directory_(::open(host_.directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  LeastStart(const LeastStart&) = delete;
  LeastStart& operator=(const LeastStart&) = delete;
  ~LeastStart() { ::close(directory_); }

  double milliseconds() {
    const std::int64_t begin = wall_nanoseconds();
    const int file = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (::write(file, bytes_.data(), bytes_.size()) < 0 || ::fsync(file) != 0) std::exit(1);
    ::close(file);
    if (::rename(temporary_.c_str(), record_.c_str()) != 0 || ::fsync(directory_) != 0) std::exit(1);
    return seconds_since(begin) * 1e3 + bare_loop(1).first * 1e3;
  }

 private:
  const Host host_;
  const std::string temporary_ = host_.directory() + "/.tmp-record";
  const std::string record_ = host_.directory() + "/record";
  const std::string bytes_ = std::string(1200, 'x');
  const int directory_;
};

struct Lateness {
  std::vector<double> ours, bare;  // milliseconds, the least first
};

// One job every second on an otherwise quiet host: how long after its second its command runs. The bare start is
// measured half a second later, so that both see the same machine.
Lateness lateness(int seconds) {
  Host host;
  host.write_jobs("* * * * * * name=each/second command=\"" + host.stamp_command() + "\"\n");
  host.start();
  Lateness late;
  LeastStart least;
  for (int i = 0; i < seconds; ++i) {
    const std::int64_t into = wall_nanoseconds() % kSecond;
    ::usleep(static_cast<useconds_t>((kSecond - into + kSecond / 2) % kSecond / 1000));
    late.bare.push_back(least.milliseconds());
    ::usleep(kSecond / 2 / 1000);
  }
  const std::vector<std::int64_t> stamps = host.wait_for_stamps(static_cast<std::size_t>(seconds) + 1, seconds * 3.0);
  // The first is of the second in which krond started, and as late as that was.
  for (std::size_t i = 1; i < stamps.size(); ++i) late.ours.push_back(static_cast<double>(stamps[i] % kSecond) / 1e6);
  std::ranges::sort(late.ours);
  std::ranges::sort(late.bare);
  if (late.ours.empty()) late.ours.push_back(0);
  return late;
}

std::string lateness_json(int seconds) {
  const auto [ours, bare] = lateness(seconds);
  const double p50 = at_share(ours, 0.5), p99 = at_share(ours, 0.99);
  const double bare_p50 = at_share(bare, 0.5), bare_p99 = at_share(bare, 0.99);
  char text[320];
  std::snprintf(text, sizeof text,
                ",\"lateness\":{\"runs\":%zu,\"p50Milliseconds\":%.3f,\"p99Milliseconds\":%.3f,"
                "\"bareP50Milliseconds\":%.3f,\"bareP99Milliseconds\":%.3f,\"p50Ratio\":%.3f,\"p99Ratio\":%.3f}",
                ours.size(), p50, p99, bare_p50, bare_p99, p50 / bare_p50, p99 / bare_p99);
  return text;
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

// One thing measured beside its limit. A machine's speed changes within minutes, so both are measured by turns, and
// each round has a ratio of its own.
struct Round {
  Started ours, bare;
  [[nodiscard]] double ratio() const { return ours.last / bare.last; }
};

// The middle one by its ratio, so that one disturbance does not decide.
std::string burst_json(std::vector<Round> rounds) {
  std::ranges::sort(rounds, {}, &Round::ratio);
  const auto& [ours, bare] = rounds[rounds.size() / 2];
  char json[512];
  std::snprintf(json, sizeof json,
                "{\"rounds\":%zu,\"started\":%zu,\"firstSeconds\":%.4f,\"medianSeconds\":%.4f,\"lastSeconds\":%.4f,"
                "\"bareFirstSeconds\":%.4f,\"bareMedianSeconds\":%.4f,\"bareLastSeconds\":%.4f,\"lastRatio\":%.3f,"
                "\"leastRatio\":%.3f,\"mostRatio\":%.3f}",
                rounds.size(), ours.count, ours.first, ours.median, ours.last, bare.first, bare.median, bare.last,
                ours.last / bare.last, rounds.front().ratio(), rounds.back().ratio());
  return json;
}

std::string bursts_json(const Counts& counts, int rounds) {
  std::vector<Round> among_loaded, among_many;
  for (int i = 0; i < rounds; ++i) {
    among_loaded.push_back({burst(counts.crowd, counts.loaded), bare_loop(counts.crowd)});
    among_many.push_back({burst(counts.crowd, counts.many), bare_loop(counts.crowd)});
  }
  return ",\"crowd\":" + std::to_string(counts.crowd) + ",\"loaded\":" + std::to_string(counts.loaded) +
         ",\"burst\":" + burst_json(std::move(among_loaded)) +
         ",\"burstAmongMany\":" + burst_json(std::move(among_many));
}

std::string sustained_json(const Counts& counts, int rounds, int seconds) {
  struct Rates {
    double ours, bare;
    [[nodiscard]] double share() const { return ours / bare; }
  };
  std::vector<Rates> all;
  double before = counts.crowd / bare_loop(counts.crowd).last;
  for (int i = 0; i < rounds; ++i) {
    const double ours = sustained(static_cast<int>(before * 1.5) + 1, seconds);
    const double after = counts.crowd / bare_loop(counts.crowd).last;
    all.push_back({ours, (before + after) / 2});
    before = after;
  }
  std::ranges::sort(all, {}, &Rates::share);
  const Rates& middle = all[all.size() / 2];
  char text[256];
  std::snprintf(text, sizeof text,
                ",\"sustained\":{\"rounds\":%zu,\"runsPerSecond\":%.1f,\"bareRunsPerSecond\":%.1f,\"share\":%.3f,"
                "\"leastShare\":%.3f,\"mostShare\":%.3f}",
                all.size(), middle.ours, middle.bare, middle.share(), all.front().share(), all.back().share());
  return text;
}

}  // namespace
}  // namespace kron::bench

int main(int argc, char** argv) {
  using namespace kron::bench;
  const bool brief = std::getenv("BRIEF") != nullptr;
  const Counts counts = brief ? kBrief : kFull;
  const int rounds = brief ? 1 : 5;
  // One of: burst, lateness, loaded, sustained; all of them when none is named.
  const std::string only = argc > 1 ? argv[1] : "";
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  std::string json = "{\"bench\":\"krond\"";
  if (wanted("burst")) json += bursts_json(counts, rounds);
  if (wanted("lateness")) json += lateness_json(counts.seconds);
  if (wanted("loaded")) {
    const int idle = brief ? 1 : 10;
    json += ",\"loadedSets\":[" + loaded_json(counts.many, idle) + "," + loaded_json(counts.most, idle) + "]";
  }
  if (wanted("sustained")) json += sustained_json(counts, rounds, brief ? 2 : 10);
  std::printf("%s}\n", json.c_str());
}
