#include "top_data.h"

#include <algorithm>
#include <map>

#include "answer_text.h"
#include "kron/base/rfc3339.h"
#include "kron/env/clock.h"
#include "terminal.h"

namespace kron::cli {
namespace {

constexpr Nanoseconds kSlowEvery = Seconds(10);
constexpr int kSlowShare = 20;  // of the time at most so much is spent on lists: one part in twenty
constexpr std::size_t kStartsShown = 8;
constexpr const char* kTopPage = "1000";
constexpr std::size_t kMostTopPages = 20;  // of jobs; beyond them the soonest may be missed
constexpr const char* kOutcomesShown = "200";

Instant instant_in(const Node& map, std::string_view key) {
  const auto time = parse_rfc3339(text_in(map, key));
  return time ? *time : Instant();
}

// The letters of the API for what a list of runs tells.
char letter_of(const Node& run) {
  if (run.find("passedOver") != nullptr) return 'o';
  const std::string outcome = text_in(run, "outcome");
  if (outcome == "skipped") return 's';
  if (outcome == "missed") return 'm';
  if (outcome == "unschedulable") return 'n';
  if (text_in(run, "state") == "running") return 'r';
  const std::string code = text_in(run, "exitCode");
  if (code.empty()) return '?';
  if (text_in(run, "detail").starts_with("timed out after")) return 't';
  return code == "0" ? '+' : 'x';
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

Status TopSource::ask_status() {
  const auto status = asked(Target("status"));
  if (!status) return fail(status.error());
  data_.now = instant_in(*status, "now");
  const std::string due = text_in(*status, "nextDue");
  const auto next = parse_rfc3339(due);
  data_.sentence =
      "krond " + text_in(*status, "version") + (flag_in(*status, "ready") ? ", ready: " : ", NOT READY: ") +
      counted(static_cast<std::size_t>(number_in(*status, "jobs")), "job") + ", " + text_in(*status, "running") +
      " running, next " + (next ? distance_text(*next - data_.now) : "never");
  return {};
}

Status TopSource::ask_running() {
  const auto page = asked(Target("runs").parameter("result", "running").parameter("limit", "100"));
  if (!page) return fail(page.error());
  std::map<std::string, std::optional<Seconds>> usual;
  for (const TopData::Run& run : data_.running) usual[run.job] = run.usual;
  data_.running.clear();
  for (const Node& run : list_in(*page, "runs")) {
    data_.running.push_back({text_in(run, "job"), text_in(run, "runId"), instant_in(run, "startedAt")});
    TopData::Run& shown = data_.running.back();
    if (const auto known = usual.find(shown.job); known != usual.end()) {
      shown.usual = known->second;
      continue;
    }
    const auto job = asked(Target("jobs").segment(shown.job));
    const std::int64_t seconds = job ? number_in(*job, "usualSeconds") : 0;
    if (seconds > 0) shown.usual = Seconds(seconds);
  }
  return {};
}

Status TopSource::ask_jobs() {
  std::vector<TopData::Start> starts;
  std::string after;
  for (std::size_t pages = 0; pages < kMostTopPages; ++pages) {
    const auto page =
        asked(Target("jobs").parameter("fields", "next").parameter("after", after).parameter("limit", kTopPage));
    if (!page) return fail(page.error());
    for (const Node& job : list_in(*page, "jobs")) {
      const Node* next = job.find("next");
      if (next != nullptr && !next->is_null())
        starts.push_back({text_in(job, "identity"), instant_in(*next, "startsAt")});
    }
    after = text_in(*page, "next");
    if (after.empty()) break;
  }
  const auto soonest = [](const TopData::Start& a, const TopData::Start& b) {
    return std::tie(a.at, a.job) < std::tie(b.at, b.job);
  };
  // More than are shown, for those whom a filter leaves out.
  const std::size_t kept = std::min<std::size_t>(starts.size(), 1000);
  std::ranges::partial_sort(starts, starts.begin() + static_cast<std::ptrdiff_t>(kept), soonest);
  starts.resize(kept);
  data_.next = std::move(starts);
  return {};
}

void TopSource::ask_windows() {
  for (std::size_t i = 0; i < std::min(kStartsShown, data_.next.size()); ++i) {
    TopData::Start& start = data_.next[i];
    const auto list = asked(Target("jobs").segment(start.job).segment("decisions").parameter("count", "1"));
    if (!list || list_in(*list, "decisions").empty()) continue;
    const Node& decision = list_in(*list, "decisions").front();
    start.window_start = instant_in(decision, "windowStart");
    start.window_end = instant_in(decision, "windowEnd");
  }
}

// An older krond does not tell what needs somebody.
void TopSource::ask_needs() {
  const auto answer = asked(Target("attention"));
  data_.needs.clear();
  data_.knows_needs = answer.has_value();
  if (!answer) return;
  for (const Node& item : list_in(*answer, "items"))
    data_.needs.push_back({text_in(item, "name"), text_in(item, "what")});
}

void TopSource::ask_outcomes() {
  const auto page = asked(Target("runs").parameter("limit", kOutcomesShown));
  if (!page) return;
  data_.outcomes.clear();
  for (const Node& run : list_in(*page, "runs")) data_.outcomes += letter_of(run);
  std::ranges::reverse(data_.outcomes);
}

void TopSource::ask_load() {
  const auto load = asked(Target("load").parameter("for", "1h").parameter("step", "1m"));
  if (!load) return;
  data_.written = starts_in(*load, "before");
  data_.spread = starts_in(*load, "after");
}

const TopData& TopSource::look() {
  const RealClock clock;
  Status known = ask_status();
  if (known) known = ask_running();
  if (known) ask_outcomes();
  if (known && clock.monotonic() >= slow_again_) {
    const Nanoseconds began = clock.monotonic();
    known = ask_jobs();
    if (known) {
      ask_windows();
      ask_needs();
      ask_load();
    }
    const Nanoseconds ended = clock.monotonic();
    slow_again_ = ended + std::max(kSlowEvery, (ended - began) * kSlowShare);
  }
  data_.problem = known ? "" : known.error().message;
  return data_;
}

}  // namespace kron::cli
