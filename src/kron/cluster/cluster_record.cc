#include "kron/cluster/cluster_record.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "kron/cluster/calls.h"

namespace kron::cluster {
namespace {

constexpr std::string_view kResetAt = ",\"ResetAt\":";

// All that is not handled: spans, single periods, and whatever comes after L.
bool is_open_in(const JobState& state, Instant period) {
  if (!state.last_handled || period > *state.last_handled) return true;
  if (std::ranges::binary_search(state.open_periods, period)) return true;
  return std::ranges::any_of(state.passed_over,
                             [&](const Span& span) { return span.first <= period && period <= span.last; });
}

// Where no period was ever handled, with the time after L as the last.
std::vector<Span> unhandled_spans(const JobState& state) {
  std::vector<Span> spans = state.passed_over;
  if (state.last_handled) spans.push_back({*state.last_handled + Seconds(1), kLastInstant});
  if (!state.last_handled) spans = {{kFirstInstant, kLastInstant}};
  return spans;
}

std::vector<Span> common_spans(const JobState& a, const JobState& b, const std::optional<Instant>& until) {
  std::vector<Span> common;
  if (!until) return common;
  for (const Span& x : unhandled_spans(a)) {
    for (const Span& y : unhandled_spans(b)) {
      const Span both{std::max(x.first, y.first), std::min({x.last, y.last, *until})};
      if (both.first <= both.last) common.push_back(both);
    }
  }
  std::ranges::sort(common, {}, &Span::first);
  if (common.size() > kMostSpans) common.erase(common.begin(), common.end() - kMostSpans);
  return common;
}

}  // namespace

std::string text_after_revision(const ClusterRecord& record) {
  StateRecord state = record.state;
  state.active.clear();
  state.history.clear();
  if (record.reset_at != 0) state.unknown_members += std::string(kResetAt) + std::to_string(record.reset_at);
  std::string text = state::print(state);
  text[0] = ',';
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<ClusterRecord> parse_cluster_record(std::string_view text) {
  const std::optional<std::uint64_t> revision = revision_of(text);
  if (!revision) return fail(Code::invalid, "a record without a revision");
  std::string plain(text.substr(text.find(',')));
  plain[0] = '{';
  Result<StateRecord> state = state::parse(plain);
  if (!state) return fail(state.error());
  ClusterRecord record{*revision, *std::move(state)};
  record.state.active.clear();
  record.state.history.clear();
  std::string& unknown = record.state.unknown_members;
  if (const std::size_t at = unknown.find(kResetAt); at != std::string::npos) {
    const char* digits = unknown.data() + at + kResetAt.size();
    const auto [end, error] = std::from_chars(digits, unknown.data() + unknown.size(), record.reset_at);
    if (error == std::errc()) unknown.erase(at, static_cast<std::size_t>(end - unknown.data()) - at);
  }
  return record;
}

bool has_forgotten(const JobState& found, const JobState& seen) {
  if (seen.last_handled && (!found.last_handled || *found.last_handled < *seen.last_handled)) return true;
  return std::ranges::any_of(found.open_periods, [&](Instant period) { return !is_open_in(seen, period); });
}

JobState merged(const JobState& found, const JobState& seen) {
  JobState both = found;
  if (seen.last_handled) {
    both.last_handled = std::max(found.last_handled.value_or(*seen.last_handled), *seen.last_handled);
  }
  both.passed_over = common_spans(found, seen, both.last_handled);
  both.open_periods.clear();
  for (const std::vector<Instant>* open : {&found.open_periods, &seen.open_periods}) {
    std::ranges::copy_if(*open, std::back_inserter(both.open_periods),
                         [&](Instant period) { return is_open_in(found, period) && is_open_in(seen, period); });
  }
  std::ranges::sort(both.open_periods);
  both.open_periods.erase(std::ranges::unique(both.open_periods).begin(), both.open_periods.end());
  if (seen.first_seen && (!both.first_seen || *both.first_seen < *seen.first_seen)) both.first_seen = seen.first_seen;
  both.first_seen_is_floor = found.first_seen_is_floor || seen.first_seen_is_floor;
  both.first_seen_reach = std::max(found.first_seen_reach, seen.first_seen_reach);
  return both;
}

bool is_same(const JobState& before, const JobState& after) {
  if (before == after) return true;
  if (before.schedule || !after.schedule || after.schedule->since) return false;
  JobState with = before;
  with.schedule = after.schedule;
  return with == after;
}

}  // namespace kron::cluster
