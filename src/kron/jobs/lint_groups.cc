#include "kron/jobs/lint_groups.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

constexpr Seconds kLookAhead = std::chrono::duration_cast<Seconds>(std::chrono::years(5));
// A day on which the clock changes has 23 hours, or a little less.
constexpr Seconds kDaily = std::chrono::hours(20);
constexpr Seconds kRare = std::chrono::hours(30);

std::string date_text(const CivilTime& time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d", time.year, time.month, time.day);
  return text.data();
}

std::string clock_text(const CivilTime& time) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), " %02d:%02d", time.hour, time.minute);
  return date_text(time) + text.data();
}

std::string text_of(std::span<const DstEffect> effects, bool of_one_job) {
  constexpr std::array<std::string_view, 3> kVerbs{"moved to after the gap", "dropped", "run twice"};
  std::string list;
  for (const DstEffect& effect : effects) {
    list += (list.empty() ? "" : ", ") + (of_one_job ? clock_text(effect.local) : date_text(effect.local));
    if (of_one_job && effect.count > 1) list += " and " + std::to_string(effect.count - 1) + " more";
    list += " " + std::string(kVerbs[static_cast<std::size_t>(effect.kind)]);
  }
  return list;
}

// The shortest time between the next periods. A job of Monday to Friday is daily on every day of the week, so more than
// a week's worth of them is looked at. Nothing when fewer than two are left: then one is all there is.
std::optional<Seconds> shortest_distance(const Job& job, Instant now) {
  constexpr int kLookedAt = 8;
  std::optional<Seconds> shortest;
  std::optional<Instant> last = job.schedule.next_after(now, job.zone);
  for (int i = 0; i < kLookedAt && last; ++i) {
    const std::optional<Instant> next = job.schedule.next_after(*last, job.zone);
    if (!next) break;
    shortest = std::min(shortest.value_or(*next - *last), *next - *last);
    if (*shortest < kDaily) break;
    last = next;
  }
  return shortest;
}

}  // namespace

void JobGroup::add(const JobDefinition& definition) {
  constexpr std::size_t kNamesShown = 3;
  if (first_ == nullptr) first_ = &definition;
  if (count_ < kNamesShown) names_ += (names_.empty() ? "" : ", ") + definition.job.identity;
  if (++count_ == kNamesShown + 1) names_ += " …";
}

std::string JobGroup::subject() const {
  if (count_ == 1) return quoted(first_->job.identity, 80);
  return std::to_string(count_) + " jobs (" + names_ + ")";
}

Problem JobGroup::problem(Severity severity, std::string_view field, const std::string& message,
                          std::string cure) const {
  return {
      severity, *first_->file, {first_->line, 1}, std::string(field), subject() + ": " + message, std::move(cure), {},
      0};
}

void ClockChanges::add(const JobDefinition& definition, Instant now) {
  std::vector<DstEffect> effects = dst_effects(definition.job, now, std::min(now + kLookAhead, kLastInstant));
  if (effects.empty()) return;
  Changes changes;
  for (const DstEffect& effect : effects) changes.emplace_back(effect.kind, effect.change);
  Touched& touched = groups_[{*definition.file, definition.job.zone.name(), std::move(changes)}];
  if (touched.jobs.size() == 0) touched.effects = std::move(effects);
  touched.jobs.add(definition);
}

void ClockChanges::say(std::vector<Problem>& problems) const {
  for (const auto& [key, touched] : groups_) {
    const bool of_one_job = touched.jobs.size() == 1;
    problems.push_back(touched.jobs.problem(
        Severity::warning, "dst",
        "changes of the clock in " + std::get<1>(key) + " affect " + (of_one_job ? "it" : "them") + ": " +
            text_of(touched.effects, of_one_job),
        "choose a time outside the change, or say what you want with dst (gap=run|skip, overlap=first|second|both)"));
  }
}

void CostlyDeadlines::add(const JobDefinition& definition, Instant now) {
  const Job& job = definition.job;
  if (job.policy.deadline.count() != 0 || job.policy.suspend) return;
  const std::optional<Seconds> distance = shortest_distance(job, now);
  if (distance && *distance < kDaily) return;
  OfFile& file = files_[*definition.file];
  (!distance || *distance >= kRare ? file.rare : file.daily).add(definition);
}

void CostlyDeadlines::say(std::vector<Problem>& problems, bool with_notes) const {
  constexpr std::string_view kCure = "allow a late start with a deadline, such as @policy(deadline=1h)";
  const auto message = [](std::string_view how_often) {
    return "due " + std::string(how_often) +
           ", and no late start is allowed (deadline 0s): when the host or krond is down at that second, the period is "
           "lost";
  };
  for (const auto& [name, file] : files_) {
    if (file.rare.size() != 0) {
      problems.push_back(file.rare.problem(Severity::warning, "policy.deadline", message("less often than daily"),
                                           std::string(kCure)));
    }
    if (with_notes && file.daily.size() != 0) {
      problems.push_back(
          file.daily.problem(Severity::note, "policy.deadline", message("once a day"), std::string(kCure)));
    }
  }
}

}  // namespace kron::jobs
