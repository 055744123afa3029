#include "kron/report/timeline_json.h"

#include <algorithm>
#include <array>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"

namespace kron::report {
namespace {

std::int64_t whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

void write_optional(JsonWriter& json, const std::optional<std::int64_t>& value) {
  if (value) {
    json.integer(*value);
  } else {
    json.null();
  }
}

void write_counts(JsonWriter& json, std::string_view name, const std::vector<std::uint64_t>& counts) {
  json.key(name).begin_list();
  for (const std::uint64_t count : counts) json.integer(whole(count));
  json.end_list();
}

class TimelineWriter {
 public:
  TimelineWriter(const NamedTimeline& ahead, const Result<history::Past>& past) : ahead_(ahead), past_(past) {}

  std::string write(Instant now) {
    const Timeline& timeline = ahead_.timeline;
    json_.begin_map().member("from", rfc3339(timeline.from)).member("until", rfc3339(timeline.until));
    json_.member("now", rfc3339(now)).key("lanes").begin_list();
    for (std::size_t i = 0; i < timeline.lanes.size(); ++i) write_lane(i);
    json_.end_list().key("more").integer(whole(timeline.more));
    write_counts(json_, "before", timeline.before);
    write_counts(json_, "after", timeline.after);
    write_counts(json_, "actual", past_ ? past_->starts : std::vector<std::uint64_t>());
    if (!past_) json_.member("historyFailed", past_.error().message);
    return json_.end_map().take();
  }

 private:
  void write_lane(std::size_t i) {
    const TimelineLane& lane = ahead_.timeline.lanes[i];
    json_.begin_map().member("name", lane.name).key("jobs").integer(whole(lane.jobs.size()));
    const history::Past::Lane past = past_ ? past_->lanes[i] : history::Past::Lane();
    json_.key("usual");
    write_optional(json_, past.usual ? std::optional(std::chrono::round<Seconds>(*past.usual).count()) : std::nullopt);
    json_.key("mark");
    if (past.worst != 0) {
      json_.text(mark_of(past.worst));
    } else {
      json_.null();
    }
    if (lane.is_dense) {
      write_density(lane);
    } else {
      write_periods(lane);
      write_runs(past.runs);
    }
    json_.end_map();
  }

  void write_periods(const TimelineLane& lane) {
    json_.key("periods").begin_list();
    for (const TimelineLane::Period& period : lane.periods) {
      json_.begin_list().integer(period.nominal).integer(period.window_start).integer(period.window_end);
      write_optional(json_, period.chosen);
      json_.end_list();
    }
    json_.end_list();
  }

  void write_density(const TimelineLane& lane) {
    json_.key("density").begin_list();
    for (const auto& [column, starts] : lane.density) {
      json_.begin_list().integer(whole(column)).integer(whole(starts)).end_list();
    }
    json_.end_list().key("windows").begin_list();
    for (const auto& [from, to] : lane.windows) json_.begin_list().integer(from).integer(to).end_list();
    json_.end_list();
  }

  void write_runs(const std::vector<history::Entry>& runs) {
    json_.key("runs").begin_list();
    for (const history::Entry& run : runs) {
      json_.begin_list();
      write_optional(json_, seconds_of(run.chosen));
      json_.integer(*seconds_of(history::time_of(run)));
      write_optional(json_, run.run_id.empty() ? std::nullopt : seconds_of(run.ended_at));
      json_.text(mark_of(history::letter_of(run))).text(run.run_id).end_list();
    }
    json_.end_list();
  }

  [[nodiscard]] std::optional<std::int64_t> seconds_of(const std::optional<Instant>& time) const {
    if (!time) return std::nullopt;
    return (*time - ahead_.timeline.from).count();
  }

  const NamedTimeline& ahead_;
  const Result<history::Past>& past_;
  JsonWriter json_;
};

}  // namespace

std::string_view mark_of(char letter) {
  static constexpr std::array<std::string_view, 9> kMarks{"ok",   "fail", "fail", "unknown", "skip",
                                                          "miss", "none", "over", "run"};
  static_assert(kMarks.size() == history::kLetters.size());
  const std::size_t at = history::kLetters.find(letter);
  return at == std::string_view::npos ? std::string_view() : kMarks[at];
}

history::PastQuestion past_question(const NamedTimeline& ahead, Instant now) {
  const Timeline& timeline = ahead.timeline;
  history::PastQuestion question{.starts = {.from = timeline.from,
                                            .length = timeline.until - timeline.from,
                                            .parts = timeline.before.size(),
                                            .until = now + Seconds(1)}};
  std::size_t items = 0;
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const TimelineLane& lane = timeline.lanes[i];
    items += lane.periods.size() + lane.density.size() + lane.windows.size();
    question.lanes.push_back({.jobs = ahead.jobs[i], .wants_runs = !lane.is_dense});
  }
  question.most = TimelineQuestion::kMostItems - std::min(items, TimelineQuestion::kMostItems);
  return question;
}

std::string timeline_json(const NamedTimeline& ahead, const Result<history::Past>& past, Instant now) {
  return TimelineWriter(ahead, past).write(now);
}

}  // namespace kron::report
