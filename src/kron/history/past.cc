#include "kron/history/past.h"

#include <algorithm>
#include <iterator>

namespace kron::history {
namespace {

// A run that began before the time that is asked about may go on in it.
constexpr Seconds kLongRun = std::chrono::hours(24);
constexpr std::string_view kBadLetters = "snm?tx";  // what is worse comes later

char last_of_letters(std::string_view letters) {
  const std::size_t at = letters.find_last_not_of("ro");
  return at == std::string_view::npos ? '+' : letters[at];
}

bool is_over_before(const Entry& entry, Instant from) {
  const Instant last = entry.ended_at.value_or(time_of(entry));
  return last < from && result_of(entry) != RunResult::running;
}

Result<std::vector<Entry>> runs_of(Archive& archive, const std::string& job, const StartsQuery& time,
                                   std::size_t most) {
  const Query query{.job = job,
                    .from = time.from - kLongRun,
                    .to = time.from + time.length,
                    .limit = most,
                    .order = Query::Order::time};
  Result<std::vector<Entry>> found = archive.ask([&](Index& index) { return index.find(query); });
  if (!found) return found;
  std::erase_if(*found, [&](const Entry& entry) { return is_over_before(entry, time.from); });
  std::ranges::reverse(*found);
  return found;
}

}  // namespace

unsigned need_of(std::string_view letters) {
  const std::size_t at = kBadLetters.find(last_of_letters(letters));
  return at == std::string_view::npos ? 0 : static_cast<unsigned>(at) + 1;
}

Result<Past> past_of(Archive& archive, const PastQuestion& question) {
  Past past;
  auto starts = archive.ask([&](Index& index) { return index.count_starts(question.starts); });
  if (!starts) return fail(starts.error());
  past.starts = *std::move(starts);
  std::size_t left = question.most;
  for (const PastQuestion::Lane& lane : question.lanes) {
    Past::Lane& told = past.lanes.emplace_back();
    unsigned worst = 0;
    for (const std::string& job : lane.jobs) {
      const Recent recent = archive.recent().of(job);
      if (lane.jobs.size() == 1) told.usual = recent.usual;
      worst = std::max(worst, need_of(recent.letters));
    }
    if (worst > 0) told.worst = kBadLetters[worst - 1];
    if (!lane.wants_runs || lane.jobs.empty() || left == 0) continue;
    auto runs = runs_of(archive, lane.jobs.front(), question.starts, std::min(left, question.most_of_a_lane));
    if (!runs) return fail(runs.error());
    told.runs = *std::move(runs);
    left -= told.runs.size();
  }
  return past;
}

Result<std::vector<std::uint64_t>> Index::count_starts(const StartsQuery& query) {
  std::vector<std::uint64_t> counts(query.parts);
  const Instant until = std::min(query.until, query.from + query.length);
  std::string sql = "SELECT (time - ?) * ? / ?, count(*) FROM entries WHERE kind = ? AND time >= ? AND time < ?";
  if (!query.prefix.empty()) sql += " AND substr(job, 1, length(?)) = ?";
  if (!query.match.empty()) sql += " AND instr(job, ?) > 0";
  Statement statement = database_.prepare(sql + " GROUP BY 1");
  statement.bind(epoch_seconds(query.from)).bind(static_cast<std::int64_t>(query.parts)).bind(query.length.count());
  statement.bind(static_cast<std::int64_t>(Kind::executed)).bind(epoch_seconds(query.from)).bind(epoch_seconds(until));
  if (!query.prefix.empty()) statement.bind(query.prefix).bind(query.prefix);
  if (!query.match.empty()) statement.bind(query.match);
  Result<bool> row = statement.step();
  for (; row && *row; row = statement.step()) {
    const auto part = static_cast<std::size_t>(statement.integer(0));
    if (part < counts.size()) counts[part] = static_cast<std::uint64_t>(statement.integer(1));
  }
  if (!row) return fail(row.error());
  return counts;
}

}  // namespace kron::history
