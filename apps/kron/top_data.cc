#include "top_data.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "answer_text.h"
#include "kron/base/rfc3339.h"
#include "kron/env/clock.h"
#include "kron/history/recent.h"
#include "kron/json/writer.h"
#include "terminal.h"

namespace kron::cli {
namespace {

constexpr Nanoseconds kSlowEvery = Seconds(10);
constexpr int kSlowShare = 20;  // of the time at most so much is spent on lists: one part in twenty
constexpr const char* kTopPage = "1000";
constexpr int kMostTopPages = 20;              // of jobs; beyond them the soonest may be missed
constexpr std::size_t kMostStartsKept = 1000;  // more than are shown, for those whom a filter leaves out

Instant instant_in(const Node& map, std::string_view key) {
  return parse_rfc3339(text_in(map, key)).value_or(Instant());
}

char letter_in(const Node& run) {
  const auto entry = history::parse_entry(JsonWriter().node(run).take());
  return entry ? history::letter_of(*entry) : '?';
}

std::vector<std::int64_t> starts_in(const Node& load, std::string_view side) {
  std::vector<std::int64_t> starts;
  const Node* part = load.find(side);
  if (part == nullptr) return starts;
  for (const Node& step : list_in(*part, "starts")) {
    const auto* count = step.as<std::int64_t>();
    starts.push_back(count == nullptr ? 0 : *count);
  }
  return starts;
}

}  // namespace

Result<Node> TopSource::asked(const Target& target) {
  const auto body = client_.get(target);
  if (!body) return fail(body.error());
  return parsed_answer(*body);
}

Status TopSource::ask_present() {
  const auto status = asked(Target("status"));
  if (!status) return fail(status.error());
  const auto running = asked(Target("runs").parameter("result", "running").parameter("limit", "100"));
  if (!running) return fail(running.error());
  data_.now = instant_in(*status, "now");
  const auto next = parse_rfc3339(text_in(*status, "nextDue"));
  data_.sentence =
      "krond " + text_in(*status, "version") + (flag_in(*status, "ready") ? ", ready: " : ", NOT READY: ") +
      counted(static_cast<std::size_t>(number_in(*status, "jobs")), "job") + ", " + text_in(*status, "running") +
      " running, next " + (next ? distance_text(*next - data_.now) : "never");
  data_.running.clear();
  for (const Node& run : list_in(*running, "runs")) {
    data_.running.push_back({text_in(run, "job"), text_in(run, "runId"), instant_in(run, "startedAt")});
  }
  if (data_.running.empty()) return {};
  const auto usual = asked(Target("jobs").parameter("state", "running").parameter("fields", "usualSeconds"));
  std::map<std::string, std::int64_t> seconds;
  if (usual) {
    for (const Node& job : list_in(*usual, "jobs")) seconds[text_in(job, "identity")] = number_in(job, "usualSeconds");
  }
  for (TopData::Run& run : data_.running) {
    if (seconds[run.job] > 0) run.usual = Seconds(seconds[run.job]);
  }
  return {};
}

Status TopSource::ask_starts() {
  std::vector<TopData::Start> starts;
  std::string after;
  for (int pages = 0; pages < kMostTopPages; ++pages) {
    const auto page =
        asked(Target("jobs").parameter("fields", "next").parameter("after", after).parameter("limit", kTopPage));
    if (!page) return fail(page.error());
    for (const Node& job : list_in(*page, "jobs")) {
      const Node* next = job.find("next");
      if (next == nullptr || next->is_null()) continue;
      starts.push_back({text_in(job, "identity"), instant_in(*next, "startsAt")});
    }
    after = text_in(*page, "next");
    if (after.empty()) break;
  }
  const auto kept = starts.begin() + static_cast<std::ptrdiff_t>(std::min(starts.size(), kMostStartsKept));
  std::ranges::partial_sort(starts, kept, {},
                            [](const TopData::Start& start) { return std::tie(start.at, start.job); });
  starts.erase(kept, starts.end());
  data_.next = std::move(starts);
  return {};
}

void TopSource::ask_windows() {
  for (std::size_t i = 0; i < std::min(kMostStarts, data_.next.size()); ++i) {
    TopData::Start& start = data_.next[i];
    const auto list = asked(Target("jobs").segment(start.job).segment("decisions").parameter("count", "1"));
    if (!list || list_in(*list, "decisions").empty()) continue;
    const Node& decision = list_in(*list, "decisions").front();
    start.window_start = instant_in(decision, "windowStart");
    start.window_end = instant_in(decision, "windowEnd");
  }
}

// What is left out when krond does not tell it, as an older one does.
void TopSource::ask_rest() {
  const auto attention = asked(Target("attention"));
  data_.needs.clear();
  data_.knows_needs = attention.has_value();
  if (attention) {
    for (const Node& item : list_in(*attention, "items")) {
      data_.needs.push_back({text_in(item, "name"), text_in(item, "what")});
    }
  }
  if (const auto load = asked(Target("load").parameter("for", "1h").parameter("step", "1m"))) {
    data_.written = starts_in(*load, "before");
    data_.spread = starts_in(*load, "after");
  }
  if (const auto runs = asked(Target("runs").parameter("limit", "200"))) {
    data_.outcomes.clear();
    for (const Node& run : list_in(*runs, "runs")) data_.outcomes.insert(data_.outcomes.begin(), letter_in(run));
  }
}

const TopData& TopSource::look() {
  const RealClock clock;
  Status known = ask_present();
  if (known && clock.monotonic() >= slow_again_) {
    const Nanoseconds began = clock.monotonic();
    known = ask_starts();
    if (known) {
      ask_windows();
      ask_rest();
    }
    const Nanoseconds ended = clock.monotonic();
    slow_again_ = ended + std::max(kSlowEvery, (ended - began) * kSlowShare);
  }
  data_.problem = known ? "" : known.error().message;
  return data_;
}

std::string TopSource::act(std::string_view verb, const std::string& job) {
  const auto answer = client_.post(Target("jobs").segment(job).segment(verb));
  slow_again_ = {};  // what is next may be another one now
  if (!answer) return job + ": " + answer.error().message;
  return verb == "pause" ? "paused " + job + "; `kron resume " + job + "` resumes it" : "started " + job;
}

}  // namespace kron::cli
