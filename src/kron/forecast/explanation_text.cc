#include <array>
#include <cstdio>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/catch_up.h"
#include "kron/forecast/explanation.h"
#include "kron/forecast/local_time.h"

namespace kron {
namespace {

constexpr std::size_t kLabelWidth = 14;
constexpr std::uint32_t kWaitsShown = 4;

// Lines with a label in front; further lines of the same matter are indented under it.
class Story {
 public:
  void say(std::string_view label, std::string_view sentence) {
    text_ += label;
    text_.append(kLabelWidth - std::min(label.size(), kLabelWidth - 1), ' ');
    text_ += sentence;
    text_ += '\n';
  }
  void go_on(std::string_view sentence) { say("", sentence); }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string number(double value, const char* format) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string both_clocks(const TimeZone& zone, Instant t) {
  if (zone == TimeZone()) return rfc3339(t);
  return rfc3339(t) + " (" + local_text(zone, t) + ")";
}

void tell_clock_change(Story& story, const Explanation& explanation) {
  if (explanation.gap) {
    story.go_on("The wall clock jumps over " + wall_clock_text(explanation.gap->local) +
                ": the period runs at the first instant after the gap (gap=run).");
  }
  if (!explanation.repeated) return;
  const bool is_first = explanation.repeated->first == explanation.decision.nominal;
  const bool both = explanation.job.schedule.dst.overlap == DstRule::Overlap::both;
  story.go_on(std::string("The wall clock shows this time twice; this is the ") + (is_first ? "first" : "second") +
              " pass, " + (both ? "and each is a period (overlap=both)." : "the only one that counts (overlap=") +
              (both       ? ""
               : is_first ? "first)."
                          : "second)."));
}

void tell_nominal(Story& story, const Explanation& explanation) {
  const Job& job = explanation.job;
  story.say("nominal", both_clocks(job.zone, explanation.decision.nominal));
  if (!explanation.has_schedule) return story.go_on("as the request says");
  story.go_on("schedule " + to_string(job.schedule) + " in " + job.zone.name());
  if (job.schedule.kind == Schedule::Kind::every) {
    return story.go_on("a multiple of " + duration_text(job.schedule.every) + " since 1970-01-01T00:00:00Z");
  }
  std::string matches;
  for (const Explanation::Field& field : explanation.fields) {
    matches +=
        (matches.empty() ? "" : ", ") + field.name + " " + std::to_string(field.value) + " is in " + field.accepts;
  }
  if (job.schedule.combine == Schedule::Combine::any) matches += " (one of the two days is enough)";
  if (!matches.empty()) story.go_on(matches);
  tell_clock_change(story, explanation);
}

void tell_seed(Story& story, const Explanation& explanation) {
  const Job& job = explanation.job;
  const Decision& decision = explanation.decision;
  const std::string key(decision.period_key.view());
  story.say("window", rfc3339(decision.window.start) + " to " + rfc3339(decision.window.end) + ", " +
                          duration_text(job.window.duration) + " " + std::string(name_of(job.window.mode)) +
                          " the nominal time");
  story.say("seed", std::string(name_of(job.seed_strategy)) + ", so the period's key is " + key);
  story.go_on("sha256 of " + quoted(job.identity, 200) + ", " + quoted(key) + " and salt " + quoted(job.salt, 200) +
              ", joined by newlines:");
  story.go_on(hex(decision.seed_hash));
  std::string parameters;
  for (const auto& [name, value] : parameters_of(job.distribution, job.window)) {
    parameters += " " + name + "=" + value;
  }
  story.say("distribution", std::string(name_of(job.distribution.kind)) + parameters);
}

void tell_draws(Story& story, const Explanation& explanation) {
  const Job& job = explanation.job;
  story.say("constraints", summary_of(job.constraints));
  if (!job.constraints.empty()) {
    story.go_on(number(explanation.allowed.share * 100, "%.6g") + " % of the window is allowed; the chance that all " +
                std::to_string(kSamplingBudget) + " draws fail is " +
                number(explanation.allowed.chance_unschedulable * 100, "%.3g") + " %");
  }
  if (explanation.attempts.empty()) {
    return story.say("draws", "none: a window of one second leaves no choice");
  }
  int count = 0;
  for (const auto& [draw, refused_by] : explanation.attempts) {
    story.say(count == 0 ? "draws" : "", std::to_string(count + 1) + ". u=" + number(draw.u, "%.9f") + " -> " +
                                             both_clocks(job.zone, draw.candidate) +
                                             (draw.allowed ? ", allowed" : ", refused: " + refused_by));
    ++count;
  }
}

std::string action_text(const Evaluation& evaluation, bool is_busy) {
  if (const auto* wait = std::get_if<Wait>(&evaluation.action)) {
    if (wait->is_queued) return "wait for its end, until " + rfc3339(*wait->until - Seconds(1)) + " at the latest";
    return wait->until ? "wait until " + rfc3339(*wait->until) : std::string("do nothing");
  }
  if (const auto* record = std::get_if<Record>(&evaluation.action)) {
    return "record it as " + std::string(name_of(record->outcome)) + " (" + std::string(name_of(record->reason)) + ")";
  }
  const bool replaces = std::get<Start>(evaluation.action).replace;
  return is_busy && replaces ? "end that run, then start" : "start";
}

void tell_spread(Story& story, const Explanation& explanation) {
  const auto& own = explanation.job.policy.catch_up_spread;
  const Seconds spread = spread_in_force(explanation);
  if (spread <= Seconds(0)) return;
  story.go_on("found more than " + duration_text(kFoundLate) + " late, it starts within " + duration_text(spread) +
              " and its deadline" + (own ? "" : " (krond --catch-up-spread)"));
}

void tell_slots(Story& story, const Explanation& explanation) {
  const Seconds deadline = explanation.job.policy.deadline;
  const std::string until =
      explanation.decision.chosen && deadline > Seconds(0)
          ? "it waits until " + rfc3339(*explanation.decision.chosen + deadline) + ", then it is missed (no slot)"
          : std::string("it is missed at once (no slot)");
  if (explanation.pool) {
    story.go_on("needs one of " + std::to_string(explanation.pool->slots) + " slots of the pool " +
                explanation.pool->name + ": without one " + until);
  }
  if (explanation.krond && explanation.krond->max_running != 0) {
    story.go_on("needs one of " + std::to_string(explanation.krond->max_running) +
                " slots of the host (krond --max-running): without one " + until);
  }
}

// What goes on beside its run, and within it.
void tell_aside(Story& story, const Explanation::Aside& aside) {
  if (aside.retries != 0) {
    std::string waits;
    for (std::uint32_t attempt = 1; attempt <= std::min(aside.retries, kWaitsShown); ++attempt) {
      waits += (attempt == 1 ? "" : ", ") + duration_text(Seconds(backoff_after(attempt, aside.backoff)));
    }
    story.go_on("a command that fails is tried again " +
                (aside.retries == 1 ? std::string("once") : std::to_string(aside.retries) + " times at most") +
                " within its run, after " + waits + (aside.retries > kWaitsShown ? " …" : ""));
  }
  if (aside.notify) {
    std::string kinds;
    for (const AlarmKind kind : aside.notify->on) {
      if (kind != AlarmKind::recovered) kinds += (kinds.empty() ? "" : ", ") + std::string(name_of(kind));
    }
    std::string to;
    for (const std::string& name : aside.notify->to) to += (to.empty() ? "" : ", ") + name;
    story.go_on("tells " + to + " when it goes bad (" + kinds +
                (aside.notify->after > 1 ? ", " + std::to_string(aside.notify->after) + " in a row" : "") + ")" +
                (aside.notify->tells(AlarmKind::recovered) ? ", and when it is well again" : ""));
  }
  if (aside.pings) story.go_on("a check hears when its run starts and how it ends (ping)");
}

void tell_prospect(Story& story, const Explanation& explanation) {
  const Prospect& prospect = *explanation.prospect;
  const Policy& policy = explanation.job.policy;
  story.say("policy", "concurrency " + std::string(name_of(policy.concurrency)) + ", deadline " +
                          duration_text(policy.deadline) + (policy.suspend ? ", suspended" : ""));
  if (policy.pause_after != 0) {
    story.go_on(policy.pause_after == 1
                    ? std::string("paused after a failure of a scheduled run")
                    : "paused after " + std::to_string(policy.pause_after) + " failures of scheduled runs in a row");
  }
  tell_spread(story, explanation);
  tell_slots(story, explanation);
  tell_aside(story, explanation.aside);
  story.go_on("at " + rfc3339(prospect.now) + ", if it is not handled yet:");
  if (prospect.superseded_by) {
    story.go_on("pass it over, because the later period " + rfc3339(*prospect.superseded_by) + " is due as well");
    return;
  }
  story.go_on("with no run active: " + action_text(prospect.idle, false));
  story.go_on("with a run active: " + action_text(prospect.busy, true));
}

}  // namespace

namespace {

std::string no_time(const Explanation& explanation) {
  const NoTime why = why_no_time(explanation.job, explanation.decision.nominal);
  if (why.reason == Reason::excluded) return "none, the whole window is excluded: " + why.clause;
  return "none, the period is unschedulable: " + std::string(name_of(why.reason));
}

}  // namespace

std::string text_of(const Explanation& explanation) {
  const Decision& decision = explanation.decision;
  Story story;
  story.say("job", explanation.job.identity);
  story.say("period", period_id(decision.nominal));
  tell_nominal(story, explanation);
  tell_seed(story, explanation);
  tell_draws(story, explanation);
  story.say("chosen", decision.chosen ? both_clocks(explanation.job.zone, *decision.chosen) : no_time(explanation));
  if (explanation.prospect) tell_prospect(story, explanation);
  return std::move(story).take();
}

}  // namespace kron
