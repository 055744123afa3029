#include <utility>

#include "kron/history/index.h"

// The totals of each job and day: what the index keeps of entries that it has forgotten.
namespace kron::history {
namespace {

constexpr std::string_view kDayColumns =
    "job, day, succeeded, failed, timed_out, unknown, skipped, missed, no_time, passed_over, running, sum, longest";
constexpr int kFirstCount = 2;
constexpr int kSumColumn = kFirstCount + static_cast<int>(kLetters.size());

std::int64_t number_of_day(std::chrono::sys_days day) { return day.time_since_epoch().count(); }

DayTotals totals_in(const Statement& row) {
  DayTotals totals;
  totals.job = row.text(0);
  totals.day = std::chrono::sys_days(std::chrono::days(row.integer(1)));
  for (std::size_t i = 0; i < totals.counts.size(); ++i) {
    totals.counts[i] = row.integer(kFirstCount + static_cast<int>(i));
  }
  totals.sum = Length(row.integer(kSumColumn));
  totals.longest = Length(row.integer(kSumColumn + 1));
  return totals;
}

void bind_totals(Statement& statement, const DayTotals& totals) {
  statement.bind(totals.job).bind(number_of_day(totals.day));
  for (const std::int64_t count : totals.counts) statement.bind(count);
  statement.bind(totals.sum.count()).bind(totals.longest.count());
}

Status finish_day(Statement& statement) {
  const Result<bool> done = statement.step();
  if (!done) return fail(done.error());
  return {};
}

Result<std::vector<DayTotals>> all_of(Statement& statement) {
  std::vector<DayTotals> all;
  Result<bool> row = statement.step();
  for (; row && *row; row = statement.step()) all.push_back(totals_in(statement));
  if (!row) return fail(row.error());
  return all;
}

std::string select_days(std::string_view rest) {
  return "SELECT " + std::string(kDayColumns) + " FROM days " + std::string(rest);
}

}  // namespace

Statement Index::statement_of_day_at(Database& database) {
  return database.prepare("SELECT " + std::string(kDayColumns) + ", from_file FROM days WHERE job = ? AND day = ?");
}

Statement Index::statement_of_put_day(Database& database) {
  return database.prepare("INSERT OR REPLACE INTO days (" + std::string(kDayColumns) +
                          ", written, from_file) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)");
}

Status Index::change_day(const std::string& job, std::chrono::sys_days day, const Entry* before, const Entry* after) {
  const Result<bool> row = day_at_.bind(job).bind(number_of_day(day)).step();
  if (!row) return fail(row.error());
  DayTotals totals{.job = job, .day = day};
  bool is_from_file = false;
  if (*row) {
    totals = totals_in(day_at_);
    is_from_file = day_at_.integer(kSumColumn + 2) != 0;
    if (const Result<bool> over = day_at_.step(); !over) return fail(over.error());
  }
  if (is_from_file) return {};
  if (before != nullptr) totals.take_back(*before);
  if (after != nullptr) totals.add(*after);
  bind_totals(put_day_, totals);
  return finish_day(put_day_);
}

Status Index::count_day(const std::optional<Entry>& before, const Entry& after) {
  if (!before) return change_day(after.job, day_of(after), nullptr, &after);
  const bool is_same_day = day_of(*before) == day_of(after);
  if (is_same_day && letter_of(*before) == letter_of(after) && length_of(*before) == length_of(after)) return {};
  if (is_same_day) return change_day(after.job, day_of(after), &*before, &after);
  if (Status changed = change_day(before->job, day_of(*before), &*before, nullptr); !changed) return changed;
  return change_day(after.job, day_of(after), nullptr, &after);
}

Result<std::vector<DayTotals>> Index::days_of(const std::string& job, std::chrono::sys_days from,
                                              std::chrono::sys_days to) {
  Statement statement = database_.prepare(select_days("WHERE job = ? AND day >= ? AND day < ? ORDER BY day"));
  statement.bind(job).bind(number_of_day(from)).bind(number_of_day(to));
  return all_of(statement);
}

Result<std::vector<DayTotals>> Index::unwritten_days(std::chrono::sys_days before, std::size_t most) {
  Statement statement = database_.prepare(select_days("WHERE written = 0 AND day < ? ORDER BY day LIMIT ?"));
  statement.bind(number_of_day(before)).bind(static_cast<std::int64_t>(most));
  return all_of(statement);
}

Status Index::mark_written(const std::vector<DayTotals>& totals) {
  Statement statement = database_.prepare("UPDATE days SET written = 1 WHERE job = ? AND day = ?");
  for (const DayTotals& one : totals) {
    statement.bind(one.job).bind(number_of_day(one.day));
    if (Status marked = finish_day(statement); !marked) return marked;
  }
  return {};
}

Status Index::put_day(const DayTotals& totals) {
  Statement statement = database_.prepare(
      "INSERT INTO days (" + std::string(kDayColumns) +
      ", written, from_file) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1) ON CONFLICT (job, day) DO UPDATE SET "
      "succeeded = excluded.succeeded, failed = excluded.failed, timed_out = excluded.timed_out, "
      "unknown = excluded.unknown, skipped = excluded.skipped, missed = excluded.missed, no_time = excluded.no_time, "
      "passed_over = excluded.passed_over, running = excluded.running, sum = excluded.sum, longest = excluded.longest "
      "WHERE days.from_file = 1");
  bind_totals(statement, totals);
  return finish_day(statement);
}

Status Index::end_of_reading() { return database_.run("UPDATE days SET from_file = 0 WHERE from_file = 1"); }

Result<std::size_t> Index::keep_days(std::chrono::sys_days from, std::size_t most) {
  Statement old = database_.prepare("DELETE FROM days WHERE day < ?");
  old.bind(number_of_day(from));
  if (Status done = finish_day(old); !done) return fail(done.error());
  Statement count = database_.prepare("SELECT count(*) FROM days");
  const Result<bool> row = count.step();
  if (!row) return fail(row.error());
  const auto rows = static_cast<std::size_t>(count.integer(0));
  if (rows <= most) return rows;
  Statement beyond =
      database_.prepare("DELETE FROM days WHERE (job, day) IN (SELECT job, day FROM days ORDER BY day LIMIT ?)");
  beyond.bind(static_cast<std::int64_t>(rows - most));
  if (Status done = finish_day(beyond); !done) return fail(done.error());
  return most;
}

Status Index::each_written_day(const std::function<void(const DayTotals&)>& visit) {
  Statement statement = database_.prepare(select_days("WHERE written = 1 ORDER BY day, job"));
  Result<bool> row = statement.step();
  for (; row && *row; row = statement.step()) visit(totals_in(statement));
  if (!row) return fail(row.error());
  return {};
}

Result<DaysKnown> Index::days_known() {
  Statement statement = database_.prepare("SELECT size, lines FROM days_known");
  const Result<bool> row = statement.step();
  if (!row) return fail(row.error());
  if (!*row) return DaysKnown{};
  return DaysKnown{static_cast<std::uint64_t>(statement.integer(0)), static_cast<std::size_t>(statement.integer(1))};
}

Status Index::set_days_known(const DaysKnown& known) {
  Statement statement = database_.prepare("INSERT OR REPLACE INTO days_known VALUES (1, ?, ?)");
  statement.bind(static_cast<std::int64_t>(known.size)).bind(static_cast<std::int64_t>(known.lines));
  return finish_day(statement);
}

}  // namespace kron::history
