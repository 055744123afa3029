#include "kron/history/recent.h"

#include <algorithm>
#include <limits>

#include "kron/runner/protocol.h"

namespace kron::history {
namespace {

constexpr std::size_t kFewestRuns = 5;  // before a length is usual
constexpr std::string_view kRunLetters = "+xt?";

}  // namespace

char letter_of(const Entry& entry) {
  switch (kind_of(entry)) {
    case Kind::skipped:
      return 's';
    case Kind::missed:
      return 'm';
    case Kind::unschedulable:
      return 'n';
    case Kind::passed_over:
      return 'o';
    case Kind::executed:
      break;
  }
  switch (result_of(entry).value_or(RunResult::unknown)) {
    case RunResult::running:
      return 'r';
    case RunResult::succeeded:
      return '+';
    case RunResult::failed:
      return entry.detail.starts_with(runner::kTimedOut) ? 't' : 'x';
    case RunResult::unknown:
      break;
  }
  return entry.detail.starts_with(runner::kTimedOut) ? 't' : '?';
}

std::optional<Length> length_of(const Entry& entry) {
  if (!result_of(entry) || !entry.ended_at) return std::nullopt;
  if (entry.duration) return std::chrono::round<Length>(*entry.duration);
  if (!entry.started_at) return std::nullopt;
  return std::max(Length(*entry.ended_at - *entry.started_at), Length(0));
}

std::optional<Length> length_of_success(const Entry& entry) {
  return result_of(entry) == RunResult::succeeded ? length_of(entry) : std::nullopt;
}

std::optional<Length> usual_length(std::vector<Length> lengths) {
  if (lengths.size() < kFewestRuns) return std::nullopt;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

bool may_be_bad(std::string_view letters) {
  const auto run = letters.find_last_of(kRunLetters);
  if (run != std::string_view::npos && letters[run] != '+') return true;
  const auto last = letters.find_last_not_of("or");
  return last != std::string_view::npos && letters[last] != '+';
}

Brief brief_of(const Entry& entry) { return {entry.job, entry.number, letter_of(entry), length_of_success(entry)}; }

void RecentOutcomes::OfJob::add_letter(char letter) {
  if (letters.size() < kRecent) {
    letters.push_back(letter);
  } else {
    letters[letters_added % kRecent] = letter;
  }
  ++letters_added;
}

void RecentOutcomes::OfJob::add_length(const std::optional<Length>& length) {
  if (!length) return;
  constexpr Length::rep kLongest = std::numeric_limits<std::uint32_t>::max();  // 49 days
  const auto kept = static_cast<std::uint32_t>(std::min(length->count(), kLongest));
  if (lengths.size() < kRecent) {
    lengths.push_back(kept);
  } else {
    lengths[lengths_added % kRecent] = kept;
  }
  ++lengths_added;
}

bool RecentOutcomes::OfJob::end_running(const Brief& entry) {
  const auto known = std::ranges::find(running, entry.number, &Running::number);
  if (known == running.end()) return false;
  if (entry.letter == 'r') return true;
  // One that runs for long may have left the row.
  if (letters_added - known->position <= kRecent) letters[known->position % kRecent] = entry.letter;
  add_length(entry.success);
  running.erase(known);
  return true;
}

bool RecentOutcomes::add(const Brief& entry) {
  OfJob& job = jobs_[std::string(entry.job)];
  if (entry.number <= job.last_number) return job.end_running(entry);
  job.last_number = entry.number;
  if (entry.letter == 'r') {
    // Those whose end is never told leave it so.
    if (job.running.size() == kRecent) job.running.erase(job.running.begin());
    job.running.push_back({entry.number, job.letters_added});
  }
  job.add_letter(entry.letter);
  job.add_length(entry.success);
  return true;
}

void RecentOutcomes::forget(std::string_view job) { jobs_.erase(std::string(job)); }

std::string RecentOutcomes::OfJob::in_order() const {
  std::string row = letters;
  if (letters_added > kRecent) {
    std::ranges::rotate(row, row.begin() + static_cast<std::ptrdiff_t>(letters_added % kRecent));
  }
  return row;
}

std::vector<std::string> RecentOutcomes::bad_jobs() const {
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) {
    if (may_be_bad(job.in_order())) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Recent RecentOutcomes::of(const std::string& job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return {};
  const OfJob& known = found->second;
  Recent recent{.letters = known.in_order()};
  std::vector<Length> lengths;
  for (const std::uint32_t length : known.lengths) lengths.emplace_back(length);
  recent.usual = usual_length(std::move(lengths));
  return recent;
}

}  // namespace kron::history
