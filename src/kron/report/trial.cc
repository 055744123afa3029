#include "kron/report/trial.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <set>
#include <tuple>

#include "kron/base/rfc3339.h"
#include "kron/core/schedule_expression.h"
#include "kron/core/schedule_words.h"
#include "kron/forecast/load_profile.h"
#include "kron/forecast/upcoming.h"
#include "kron/jobs/lint.h"
#include "kron/jobs/load.h"
#include "kron/json/decide_request.h"

namespace kron::report {
namespace {

constexpr int kNextPeriods = 20;
constexpr std::string_view kNowhere = "text";  // what the place of a problem is in

// A month, or as much of it as the limit allows.
constexpr std::array<std::chrono::days, 3> kLoadLengths{std::chrono::days(30), std::chrono::days(7),
                                                        std::chrono::days(1)};
constexpr Seconds kLoadStep{60};

struct TrialLoad {
  LoadProfile here;
  LoadProfile tried;
};

Result<TrialLoad> load_of(const jobs::LoadedJobs& tried, std::span<const jobs::JobDefinition> here,
                          const TrialRequest& request) {
  std::set<std::string_view> replaced;
  for (const auto& definition : tried.definitions) replaced.insert(definition.job.identity);
  std::vector<jobs::JobDefinition> rest;
  std::ranges::copy_if(here, std::back_inserter(rest), [&](const jobs::JobDefinition& definition) {
    return !replaced.contains(definition.job.identity);
  });
  Error too_much;
  for (const auto length : kLoadLengths) {
    const LoadQuestion question{.from = std::chrono::floor<std::chrono::minutes>(request.now),
                                .length = length,
                                .step = kLoadStep,
                                .hot_spots = 0,
                                .limit = request.limit};
    auto of_tried = load_profile(tried.definitions, question);
    auto of_here = of_tried ? load_profile(rest, question) : of_tried;
    if (of_here) return TrialLoad{*std::move(of_here), *std::move(of_tried)};
    too_much = of_here.error();
    if (too_much.code != Code::invalid) break;
  }
  return fail(std::move(too_much));
}

std::string starts_text(std::uint64_t starts) { return std::to_string(starts) + (starts == 1 ? " start" : " starts"); }

void write_trial_load(JsonWriter& json, const TrialLoad& load) {
  const auto& here = load.here.after.starts;
  const auto& tried = load.tried.after.starts;
  std::size_t busiest = 0;
  const auto together = [&](std::size_t step) { return here[step] + tried[step]; };
  for (std::size_t step = 1; step < here.size(); ++step) {
    if (together(step) > together(busiest)) busiest = step;
  }
  const std::uint64_t peak = together(busiest);
  const std::uint64_t adds = peak - load.here.after.peak;
  const auto integral = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  json.key("load").begin_map().member("from", rfc3339(load.here.from)).member("until", rfc3339(load.here.until));
  json.key("stepSeconds").integer(kLoadStep.count());
  json.key("starts")
      .integer(integral(load.tried.after.total))
      .key("startsHere")
      .integer(integral(load.here.after.total));
  json.key("peakHere").integer(integral(load.here.after.peak)).key("peak").integer(integral(peak));
  json.key("adds").integer(integral(adds)).member("busiest", rfc3339(load.here.start_of(busiest))).end_map();
  const std::string when = " (" + rfc3339(load.here.start_of(busiest)) + ", " + starts_text(peak) + ")";
  json.member("text", load.tried.after.total == 0 ? "starts nothing in this time"
                      : adds == 0                 ? "adds nothing to the busiest minute" + when
                                                  : "adds " + std::to_string(adds) + " to the busiest minute" + when);
}

void write_problems(JsonWriter& json, std::vector<jobs::Problem> problems) {
  std::ranges::stable_sort(problems, [](const jobs::Problem& a, const jobs::Problem& b) {
    return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
  });
  json.key("problems").begin_list();
  for (const jobs::Problem& problem : problems) {
    json.begin_map().key("line").integer(static_cast<std::int64_t>(problem.at.line));
    json.key("column").integer(static_cast<std::int64_t>(problem.at.column));
    json.member("severity", name_of(problem.severity)).member("field", problem.field);
    json.member("message", problem.message).member("hint", problem.cure);
    json.member("source", problem.source_line).end_map();
  }
  json.end_list();
}

void write_tried_job(JsonWriter& json, const jobs::JobDefinition& definition, bool replaces, Instant now) {
  const Job& job = definition.job;
  json.begin_map().member("identity", job.identity).key("line").integer(definition.line);
  json.member("schedule", expression_of(job.schedule)).member("timezone", job.zone.name());
  json.member("words", words_of(job.schedule)).key("replaces").boolean(replaces);
  json.key("next").begin_list();
  Result<Upcoming> upcoming = Upcoming::of(job, now);
  for (int i = 0; upcoming && i < kNextPeriods; ++i) {
    const std::optional<Decision> period = upcoming->next();
    if (!period) break;
    json.begin_map();
    write_decision(json, job, *period);
    json.end_map();
  }
  json.end_list();
  // @reboot, or a window in which too many are open: it says itself why there is no time to tell.
  if (!upcoming) json.member("nextProblem", upcoming.error().message);
  json.end_map();
}

Result<jobs::LoadedJobs> loaded(const TrialRequest& request) {
  if (request.text.size() > TrialRequest::kMostBytes) {
    return fail(Code::invalid, "the text has more than 64 KiB; try a part of it, or `kron lint` on the file", "text");
  }
  ZoneDatabase zones;
  jobs::LoadedJobs tried = jobs::load_text(std::string(kNowhere), request.text, request.spelling, zones);
  jobs::refuse_repeated_names(tried);
  if (tried.definitions.size() > TrialRequest::kMostJobs) {
    return fail(Code::invalid, "the text has more than 200 jobs; try a part of it, or `kron simulate` on the file",
                "text");
  }
  std::ranges::move(jobs::lint(tried.definitions, {.now = request.now}), std::back_inserter(tried.problems));
  return tried;
}

}  // namespace

Result<std::string> trial_json(const TrialRequest& request, std::span<const jobs::JobDefinition> here) {
  Result<jobs::LoadedJobs> tried = loaded(request);
  if (!tried) return fail(tried.error());
  const Result<TrialLoad> load = load_of(*tried, here, request);
  if (!load) return fail(load.error());
  std::set<std::string_view> known;
  for (const auto& definition : here) known.insert(definition.job.identity);
  JsonWriter json;
  json.begin_map();
  write_problems(json, std::move(tried->problems));
  json.key("jobs").begin_list();
  for (const auto& definition : tried->definitions) {
    write_tried_job(json, definition, known.contains(definition.job.identity), request.now);
  }
  json.end_list();
  write_trial_load(json, *load);
  return json.end_map().take();
}

}  // namespace kron::report
