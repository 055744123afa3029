#include "beside_forecast.h"

#include <algorithm>
#include <string>
#include <vector>

#include "../krond/host.h"
#include "aside.h"
#include "asking.h"
#include "kron/http/client.h"

namespace kron::bench {
namespace {

constexpr int kMostPeriods = 1'900'000;  // that one request may look at, nearly
constexpr const char* kDecisions = "/api/v1/jobs/job-0/decisions?count=20";

// Due once an hour, in a year in which nobody measures.
std::string far_jobs(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "0 " + std::to_string(i % 60) + " * * * ? 2090 @win(after,50m) name=job-" + std::to_string(i) +
            " command=/bin/true\n";
  }
  return text;
}

struct Waits {
  std::size_t answers = 0, errors = 0;
  double p50 = 0, p99 = 0, most = 0;  // milliseconds
};

Waits ask_decisions(const Host& host, double seconds) {
  Waits waits;
  std::vector<double> times;
  http::Client client(host.socket());
  const std::int64_t begin = wall_nanoseconds();
  do {
    const std::int64_t sent = wall_nanoseconds();
    const auto answer = client.request("GET", kDecisions);
    times.push_back(seconds_since(sent) * 1e3);
    if (!answer || answer->status != 200) ++waits.errors;
  } while (seconds_since(begin) < seconds);
  std::ranges::sort(times);
  waits.answers = times.size();
  waits.p50 = at_share(times, 0.5);
  waits.p99 = at_share(times, 0.99);
  waits.most = times.back();
  return waits;
}

struct Forecast {
  double seconds = 0;
  bool is_good = false;
};

// One forecast after the other, none of which is known yet; tells of each.
void keep_forecasting(const Host& host, int jobs, int number, const auto& tell) {
  const int days = std::clamp(kMostPeriods / (jobs * 24), 1, 300);
  http::Client client(host.socket());
  for (int step = 3600 + number * 10'000;; ++step) {
    const std::int64_t sent = wall_nanoseconds();
    const auto answer = client.request("GET", "/api/v1/load?from=2090-03-01T00:00:00Z&for=" + std::to_string(days) +
                                                  "d&step=" + std::to_string(step) + "s");
    tell(Forecast{seconds_since(sent), answer && answer->status == 200});
  }
}

void write_waits(JsonWriter& out, std::string_view name, const Waits& waits) {
  out.key(name).begin_map().key("answers").integer(static_cast<std::int64_t>(waits.answers));
  out.key("errors").integer(static_cast<std::int64_t>(waits.errors));
  out.key("p50Milliseconds").real(waits.p50).key("p99Milliseconds").real(waits.p99);
  out.key("mostMilliseconds").real(waits.most).end_map();
}

}  // namespace

void write_beside_forecast(JsonWriter& out, int jobs, double seconds) {
  Host host;
  host.write_jobs(far_jobs(jobs));
  host.start();
  const Waits alone = ask_decisions(host, seconds);
  Waits beside;
  Forecast forecast;
  {
    const auto forecaster = [&](int number) {
      return [&, number](const auto& tell) { keep_forecasting(host, jobs, number, tell); };
    };
    Aside<Forecast> first(kClientNiceness, forecaster(0));
    Aside<Forecast> second(kClientNiceness, forecaster(1));
    forecast = first.next().value_or(Forecast{});
    beside = ask_decisions(host, seconds);
  }
  out.begin_map().key("jobs").integer(jobs);
  out.key("forecastSeconds").real(forecast.seconds).key("forecastIsGood").boolean(forecast.is_good);
  write_waits(out, "alone", alone);
  write_waits(out, "beside", beside);
  out.key("p50TimesAlone").real(beside.p50 / alone.p50).key("p99TimesAlone").real(beside.p99 / alone.p99).end_map();
}

}  // namespace kron::bench
