#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "../krond/bare_loop.h"
#include "../krond/host.h"
#include "bcron.h"

// krond, which records each start durably before it happens, beside bcron, which records nothing: shell jobs that are
// due in one minute, among many that are not. By turns on the same machine: other users of it disturb both alike.
// A cron knows no seconds, so each round of bcron's waits for a minute to begin.
namespace kron::bench {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kToLoad = 5;  // seconds, for 10,000 jobs

struct Scale {
  int due, all;
  int rounds;
};
constexpr Scale kFull{1000, 10'000, 3};
constexpr Scale kBrief{10, 100, 1};

std::int64_t now() { return wall_nanoseconds() / kSecond; }

std::int64_t next_minute() { return (now() + kToLoad + kMinute) / kMinute * kMinute; }

// `M H d m *`: bcron goes by the machine's zone.
std::string minute_text(std::int64_t second) {
  const time_t time = static_cast<time_t>(second);
  tm civil{};
  ::localtime_r(&time, &civil);
  char text[64];
  std::snprintf(text, sizeof text, "%d %d %d %d *", civil.tm_min, civil.tm_hour, civil.tm_mday, civil.tm_mon + 1);
  return text;
}

std::string never_text(int i) { return std::to_string(i % 60) + " " + std::to_string(i % 24) + " 29 2 *"; }

Started round_of_krond(const Scale& scale, std::int64_t due) {
  Host host;
  std::string text;
  for (int i = 0; i < scale.all; ++i) {
    text += (i < scale.due ? cron_at(due) : never_text(i)) + " @policy(deadline=1m) name=job-" + std::to_string(i) +
            " shell=true command=\"" + host.stamp_command() + "\"\n";
  }
  host.write_jobs(text);
  host.start();
  return started(host.wait_for_stamps(static_cast<std::size_t>(scale.due), 90), due * kSecond);
}

Started round_of_bcron(const Scale& scale, const BcronPlace& place, std::int64_t due) {
  const Host host;
  std::string text;
  for (int i = 0; i < scale.all; ++i) {
    text += (i < scale.due ? minute_text(due) : never_text(i)) + " " + host.stamp_command() + "\n";
  }
  const Bcron bcron(place, host.directory(), text);
  const double longest = static_cast<double>(due - now()) + 60;
  return started(host.wait_for_stamps(static_cast<std::size_t>(scale.due), longest), due * kSecond);
}

Started middle_of(std::vector<Started> rounds) {
  std::ranges::sort(rounds, {}, &Started::last);
  return rounds[rounds.size() / 2];
}

std::string json_of(const Started& middle) {
  char json[256];
  std::snprintf(json, sizeof json, "{\"started\":%zu,\"firstSeconds\":%.4f,\"p50Seconds\":%.4f,\"lastSeconds\":%.4f}",
                middle.count, middle.first, middle.median, middle.last);
  return json;
}

}  // namespace
}  // namespace kron::bench

int main() {
  using namespace kron::bench;
  const bool brief = std::getenv("BRIEF") != nullptr;
  const Scale scale = brief ? kBrief : kFull;
  const auto place = find_bcron(KRON_UNPACKED);
  std::vector<Started> ours;
  std::vector<Started> theirs;
  for (int i = 0; i < scale.rounds; ++i) {
    ours.push_back(round_of_krond(scale, now() + kToLoad));
    // Nobody waits for a minute only to see that this works.
    if (place && !brief) theirs.push_back(round_of_bcron(scale, *place, next_minute()));
  }
  std::string json = "{\"bench\":\"bcron\",\"due\":" + std::to_string(scale.due) +
                     ",\"jobs\":" + std::to_string(scale.all) + ",\"krond\":" + json_of(middle_of(ours));
  if (!theirs.empty()) {
    char ratio[64];
    std::snprintf(ratio, sizeof ratio, ",\"lastRatio\":%.3f", middle_of(ours).last / middle_of(theirs).last);
    json += ",\"bcron\":" + json_of(middle_of(theirs)) + ratio;
  } else {
    json += place ? ",\"bcron\":null" : ",\"bcron\":\"is not here: run scripts/deps bench\"";
  }
  std::printf("%s}\n", json.c_str());
}
