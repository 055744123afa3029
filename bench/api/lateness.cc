#include "lateness.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "asking.h"
#include "kron/base/rfc3339.h"
#include "kron/env/descriptor.h"
#include "kron/http/unix_socket.h"
#include "kron/testing/temporary_directory.h"

namespace kron::bench {
namespace {

// What a reader of events takes at a time, and how long it then looks elsewhere: so little that krond must let go of
// it.
constexpr std::size_t kSip = 512;
constexpr timespec kBetweenSips{0, 250'000'000};
constexpr unsigned kRest = 2;                   // seconds between the parts
constexpr std::size_t kBodyElsewhere = 31'000;  // about a list of 100 jobs

std::string busy_jobs(const Crowd& crowd) {
  std::string text = idle_jobs(crowd.loaded);
  for (int i = 0; i < crowd.runs; ++i) {
    text += "* * * * * * name=busy/job-" + std::to_string(i) + " command=\"true\"\n";
  }
  return text;
}

struct Start {
  Instant chosen;
  double late;  // milliseconds from there to the line that says it has started
};

// These jobs have no window: a period's chosen time is its nominal time.
std::optional<Start> start_in(const std::string& line) {
  constexpr std::string_view kKey = " periodId=";
  constexpr std::size_t kMilliseconds = 20;
  const auto key = line.find(kKey);
  if (key == std::string::npos || line.find(" run_started ") == std::string::npos) return std::nullopt;
  const auto begin = key + kKey.size();
  const auto chosen = parse_rfc3339(line.substr(begin, line.find(' ', begin) - begin));
  const auto started = parse_rfc3339(line.substr(0, line.find(' ')));
  if (!chosen || !started) return std::nullopt;
  const double late =
      static_cast<double>((*started - *chosen).count()) * 1e3 + std::stod(line.substr(kMilliseconds, 3));
  return Start{*chosen, late};
}

// What krond says and takes while something lasts, over all its rounds.
class Meter {
 public:
  explicit Meter(const Host& host) : host_(host) {}

  void measure(const std::function<void()>& something) {
    std::ifstream log(host_.log_file(), std::ios::ate);
    const double cpu = cpu_seconds_of(host_.pid());
    const std::int64_t begin = wall_nanoseconds();
    something();
    seconds_ += seconds_since(begin);
    cpu_seconds_ += cpu_seconds_of(host_.pid()) - cpu;
    resident_.push_back(static_cast<std::int64_t>(resident_bytes(host_.pid())));
    for (std::string line; std::getline(log, line);) {
      const auto start = start_in(line);
      if (!start) continue;
      late_.push_back(start->late);
      last_of_crowd_[start->chosen] = std::max(last_of_crowd_[start->chosen], start->late);
    }
    std::ranges::sort(late_);
    if (late_.empty()) give_up("krond's log tells of no run that started");
  }

  double seconds() const { return seconds_; }
  double late(double share) const { return late_.empty() ? 0 : at_share(late_, share); }

  // How late the last of a crowd is, in half of the seconds: a disk that stalls now and then does not show in it.
  double median_last() const {
    std::vector<double> last;
    for (const auto& [chosen, late] : last_of_crowd_) last.push_back(late);
    std::ranges::sort(last);
    return last.empty() ? 0 : at_share(last, 0.5);
  }

  void write(JsonWriter& out) const {
    out.key("seconds").real(seconds_).key("runs").integer(static_cast<std::int64_t>(late_.size()));
    out.key("p50Milliseconds").real(late(0.5)).key("p99Milliseconds").real(late(0.99));
    out.key("mostMilliseconds").real(late(1)).key("medianLastMilliseconds").real(median_last());
    out.key("krondCpuShare").real(cpu_seconds_ / seconds_);
    out.key("residentBytesAfterEach").begin_list();
    for (const std::int64_t bytes : resident_) out.integer(bytes);
    out.end_list();
  }

 private:
  const Host& host_;
  std::vector<double> late_;                 // in order
  std::map<Instant, double> last_of_crowd_;  // of those due at that time
  double seconds_ = 0;
  double cpu_seconds_ = 0;
  std::vector<std::int64_t> resident_;
};

void write_more(JsonWriter& out, const Meter& meter, const Meter& alone) {
  out.key("p99MoreMilliseconds").real(meter.late(0.99) - alone.late(0.99));
  out.key("medianLastMoreMilliseconds").real(meter.median_last() - alone.median_last());
}

Descriptor watch_events(const std::string& socket) {
  auto connected = http::connect_unix(socket, Seconds(10));
  if (!connected) std::abort();
  constexpr std::string_view kRequest = "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
  if (::send(connected->get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) < 0) std::abort();
  return *std::move(connected);
}

struct Watched {
  std::uint64_t bytes = 0;
  std::uint64_t cut = 0;  // streams that krond closed; each is opened anew

  void operator+=(const Watched& more) {
    bytes += more.bytes;
    cut += more.cut;
  }
};

// A stream that was cut shows that at once, before the reader has come to its end.
bool is_cut(const Descriptor& stream) {
  pollfd look{.fd = stream.get(), .events = 0, .revents = 0};
  return ::poll(&look, 1, 0) > 0;
}

Watched watch_slowly(const Question& question) {
  std::vector<Descriptor> streams;
  for (int i = 0; i < question.connections; ++i) streams.push_back(watch_events(question.socket));
  Watched watched;
  const std::int64_t begin = wall_nanoseconds();
  while (seconds_since(begin) < question.seconds) {
    for (Descriptor& stream : streams) {
      std::array<char, kSip> bytes;
      const ssize_t size = ::recv(stream.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size > 0) watched.bytes += static_cast<std::uint64_t>(size);
      if (!is_cut(stream)) continue;
      ++watched.cut;
      stream = watch_events(question.socket);
    }
    ::nanosleep(&kBetweenSips, nullptr);
  }
  return watched;
}

Aside<Watched> begin_watching(const Question& question) {
  return Aside<Watched>(kClientNiceness, [&](const auto& tell) { tell(watch_slowly(question)); });
}

// The same clients at a server that is not krond's: what is left of two busy cores is not krond's to give.
void ask_elsewhere(Question question) {
  const testing::TemporaryDirectory directory;
  question.socket = directory.file("socket");
  const EchoServer server(question.socket, kBodyElsewhere);
  begin_asking(question).next();
}

}  // namespace

void write_lateness(JsonWriter& out, const Crowd& crowd) {
  Host host;
  host.write_jobs(busy_jobs(crowd));
  host.start();
  const Question question{host.socket(), "/api/v1/jobs?limit=100", crowd.connections,
                          static_cast<double>(crowd.seconds)};
  // So that all the memory it takes to be asked is there before it is measured.
  begin_asking(question).next();
  Meter alone(host);
  Meter elsewhere(host);
  Meter asked(host);
  Meter watched(host);
  Answers answers;
  Watched events;
  // By turns: other users of the machine disturb all alike.
  for (int round = 0; round < crowd.rounds; ++round) {
    ::sleep(kRest);
    alone.measure([&] { ::sleep(static_cast<unsigned>(crowd.seconds)); });
    elsewhere.measure([&] { ask_elsewhere(question); });
    ::sleep(kRest);
    asked.measure([&] { answers += begin_asking(question).next().value_or(Answers{}); });
    ::sleep(kRest);
    watched.measure([&] { events += begin_watching(question).next().value_or(Watched{}); });
  }
  out.begin_map();
  out.key("jobs").integer(crowd.loaded + crowd.runs).key("runsPerSecond").integer(crowd.runs);
  out.key("connections").integer(crowd.connections).key("cores").integer(::sysconf(_SC_NPROCESSORS_ONLN));
  out.key("clientNiceness").integer(kClientNiceness);
  out.key("alone").begin_map();
  alone.write(out);
  out.end_map().key("askedElsewhere").begin_map();
  elsewhere.write(out);
  write_more(out, elsewhere, alone);
  out.end_map().key("asked").begin_map();
  asked.write(out);
  out.key("requestsPerSecond").real(static_cast<double>(answers.good) / asked.seconds());
  out.key("errors").integer(static_cast<std::int64_t>(answers.failed));
  write_more(out, asked, alone);
  out.end_map().key("watched").begin_map();
  watched.write(out);
  out.key("bytesPerSecond").real(static_cast<double>(events.bytes) / watched.seconds());
  out.key("streamsCut").integer(static_cast<std::int64_t>(events.cut));
  write_more(out, watched, alone);
  out.end_map().end_map();
}

}  // namespace kron::bench
