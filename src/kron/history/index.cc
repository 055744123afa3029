#include "kron/history/index.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"

namespace kron::history {
namespace {

constexpr int kVersion = 3;

// `body` is the entry as JSON; the other columns are what it is found by, and `letter` and `length` (of a succeeded
// run, in milliseconds; -1 otherwise) what the last outcomes of all jobs are read from in one go.
constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, job TEXT NOT NULL, kind INTEGER NOT NULL, result INTEGER,
    time INTEGER NOT NULL, segment INTEGER NOT NULL, letter INTEGER NOT NULL, length INTEGER NOT NULL,
    body TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS entries_by_job ON entries (job, number, letter, length);
  CREATE INDEX IF NOT EXISTS entries_by_time ON entries (time, number);
  CREATE INDEX IF NOT EXISTS entries_by_job_and_time ON entries (job, time, number);
  CREATE INDEX IF NOT EXISTS entries_by_kind_and_time ON entries (kind, time, number);
  CREATE INDEX IF NOT EXISTS entries_by_result_and_time ON entries (result, time, number);
  CREATE INDEX IF NOT EXISTS entries_by_segment ON entries (segment);
  CREATE TABLE IF NOT EXISTS days (
    job TEXT NOT NULL, day INTEGER NOT NULL, succeeded INTEGER NOT NULL, failed INTEGER NOT NULL,
    timed_out INTEGER NOT NULL, unknown INTEGER NOT NULL, skipped INTEGER NOT NULL, missed INTEGER NOT NULL,
    no_time INTEGER NOT NULL, passed_over INTEGER NOT NULL, running INTEGER NOT NULL, sum INTEGER NOT NULL,
    longest INTEGER NOT NULL, written INTEGER NOT NULL, from_file INTEGER NOT NULL, PRIMARY KEY (job, day)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS days_unwritten ON days (day) WHERE written = 0;
  CREATE TABLE IF NOT EXISTS days_known (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, lines INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS segments (segment INTEGER PRIMARY KEY, size INTEGER NOT NULL);
  PRAGMA user_version = 3;
)";

constexpr Length kNoLength{-1};

constexpr std::int64_t kMostParts = std::int64_t{1} << 32;

// In the order of the segments.
std::int64_t number_of(const Segment& segment) {
  return std::int64_t{segment.day.time_since_epoch().count()} * kMostParts + segment.part;
}
Segment segment_of(std::int64_t number) {
  const std::int64_t part = ((number % kMostParts) + kMostParts) % kMostParts;
  return {std::chrono::sys_days(std::chrono::days((number - part) / kMostParts)), static_cast<std::uint32_t>(part)};
}

Result<Entry> entry_in(const Statement& row, int column) {
  Result<Entry> entry = parse_entry(row.text(column));
  if (!entry) return fail(Code::invalid, "the index holds what is no entry: " + entry.error().message);
  return entry;
}

// Runs a statement that gives no rows.
Status finish(Statement& statement) {
  const Result<bool> done = statement.step();
  if (!done) return fail(done.error());
  return {};
}

// The one number that a statement gives; 0 when it gives none.
Result<std::int64_t> number_from(Statement statement) {
  const Result<bool> row = statement.step();
  if (!row) return fail(row.error());
  return *row ? statement.integer(0) : 0;
}

// The least text that is greater than all that begin with `prefix`; empty when there is none.
std::string after_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

// `after_time`: of the entry that the cursor names, when it is there and the order is that of time. Without it the
// numbers have to do: what is gone was among the oldest.
std::string sql_of(const Query& query, const std::optional<std::int64_t>& after_time) {
  std::string sql = "SELECT body FROM entries WHERE 1";
  if (!query.job.empty()) sql += " AND job = ?";
  if (!query.job_prefix.empty()) sql += " AND job >= ? AND job < ?";
  if (!query.run_prefix.empty()) sql += " AND key >= ? AND key < ?";
  if (query.kind) sql += " AND kind = ?";
  if (query.result) sql += " AND result = ?";
  if (query.from) sql += " AND time >= ?";
  if (query.to) sql += " AND time < ?";
  if (query.period) sql += " AND instr(body, ?) > 0";
  if (query.before != 0) sql += after_time ? " AND (time, number) < (?, ?)" : " AND number < ?";
  // The few runs of a prefix are found by their key and then sorted: the plus keeps SQLite from walking all of time.
  const std::string plus = query.run_prefix.empty() ? "" : "+";
  return sql +
         (query.order == Query::Order::time ? " ORDER BY " + plus + "time DESC, " + plus + "number DESC"
                                            : " ORDER BY " + plus + "number DESC") +
         " LIMIT ?";
}

}  // namespace

Index::Index(Database database)
    : database_(std::move(database)),
      put_(database_.prepare("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      with_key_(database_.prepare("SELECT body FROM entries WHERE key = ?")),
      day_at_(statement_of_day_at(database_)),
      put_day_(statement_of_put_day(database_)) {}

Result<std::unique_ptr<Index>> Index::open(const std::string& path) {
  // SQLite would make it readable for others; what it puts beside it has the same mode.
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail(system_error("open", path, errno));
  Result<Database> database = Database::open(path);
  if (!database) return fail(database.error());
  const Result<std::int64_t> version = number_from(database->prepare("PRAGMA user_version"));
  if (!version) return fail(version.error());
  const bool is_new = ::lseek(file.get(), 0, SEEK_END) == 0;
  if (!is_new && *version != kVersion) {
    return fail(Code::invalid, path + " is of version " + std::to_string(*version));
  }
  // In this mode a power cut may take the last commits, and never the order in which they were made. The kernel keeps
  // the pages that are in use, so a small cache does; one that is too small for what a second brings would write pages
  // several times.
  Status ready = database->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -1024");
  if (ready) ready = database->run(kSchema);
  if (!ready) return fail(ready.error());
  std::unique_ptr<Index> index(new Index(*std::move(database)));
  ready = index->check(is_new);
  if (!ready) return fail(ready.error());
  return index;
}

Status Index::check(bool is_new) {
  if (!is_new) {
    Statement statement = database_.prepare("PRAGMA quick_check(1)");
    const Result<bool> row = statement.step();
    if (!row) return fail(row.error());
    if (statement.text(0) != "ok") return fail(Code::invalid, "it is damaged: " + std::string(statement.text(0)));
  }
  return recount();
}

void Index::discard(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) ::unlink((path + suffix).c_str());
}

Status Index::recount() {
  Statement statement = database_.prepare("SELECT ifnull(max(number), 0), count(*) FROM entries");
  const Result<bool> row = statement.step();
  if (!row) return fail(row.error());
  last_number_ = statement.integer(0);
  count_ = static_cast<std::size_t>(statement.integer(1));
  return {};
}

Status Index::begin() { return database_.run("BEGIN IMMEDIATE"); }
Status Index::commit() { return database_.run("COMMIT"); }

Status Index::rollback() {
  if (Status done = database_.run("ROLLBACK"); !done) return done;
  return recount();
}

Result<std::optional<Entry>> Index::with_key(std::string_view key) {
  const Result<bool> row = with_key_.bind(key).step();
  if (!row) return fail(row.error());
  if (!*row) return std::optional<Entry>();
  Result<Entry> entry = entry_in(with_key_, 0);
  const Result<bool> over = with_key_.step();
  if (!over) return fail(over.error());
  if (!entry) return fail(entry.error());
  return std::optional<Entry>(*std::move(entry));
}

Status Index::put(const Entry& entry, const Segment& segment) {
  const std::string key = key_of(entry);
  const std::string body = entry_json(entry);
  const std::optional<RunResult> result = result_of(entry);
  put_.bind(entry.number).bind(key).bind(entry.job).bind(static_cast<std::int64_t>(kind_of(entry)));
  if (result) {
    put_.bind(static_cast<std::int64_t>(*result));
  } else {
    put_.bind_null();
  }
  put_.bind(epoch_seconds(time_of(entry))).bind(number_of(segment));
  put_.bind(static_cast<std::int64_t>(letter_of(entry))).bind(length_of_success(entry).value_or(kNoLength).count());
  put_.bind(body);
  if (entry.number > last_number_) ++count_;
  last_number_ = std::max(last_number_, entry.number);
  return finish(put_);
}

Result<std::uint64_t> Index::size_of(const Segment& segment) {
  Statement statement = database_.prepare("SELECT size FROM segments WHERE segment = ?");
  statement.bind(number_of(segment));
  const Result<std::int64_t> size = number_from(std::move(statement));
  if (!size) return fail(size.error());
  return static_cast<std::uint64_t>(*size);
}

Status Index::set_size(const Segment& segment, std::uint64_t size) {
  Statement statement = database_.prepare("INSERT OR REPLACE INTO segments VALUES (?, ?)");
  return finish(statement.bind(number_of(segment)).bind(static_cast<std::int64_t>(size)));
}

Result<std::size_t> Index::keep_newest(std::size_t most) {
  if (count_ <= most) return std::size_t{0};
  const std::size_t beyond = count_ - most;
  Statement statement =
      database_.prepare("DELETE FROM entries WHERE number IN (SELECT number FROM entries ORDER BY number LIMIT ?)");
  if (Status done = finish(statement.bind(static_cast<std::int64_t>(beyond))); !done) return fail(done.error());
  count_ = most;
  return beyond;
}

Status Index::forget_before(std::chrono::sys_days day) {
  Statement statement = database_.prepare("DELETE FROM entries WHERE segment < ?");
  if (Status done = finish(statement.bind(number_of({day, 0}))); !done) return done;
  const std::int64_t last_number = last_number_;
  Status counted = recount();
  last_number_ = std::max(last_number_, last_number);
  return counted;
}

Result<std::vector<Segment>> Index::take_unused(const Segment& in_use) {
  std::vector<Segment> unused;
  Statement statement = database_.prepare(
      "DELETE FROM segments WHERE segment <> ? AND NOT EXISTS "
      "(SELECT 1 FROM entries WHERE entries.segment = segments.segment) RETURNING segment");
  statement.bind(number_of(in_use));
  Result<bool> row = statement.step();
  for (; row && *row; row = statement.step()) unused.push_back(segment_of(statement.integer(0)));
  if (!row) return fail(row.error());
  return unused;
}

Result<std::optional<std::int64_t>> Index::time_at(std::int64_t number) {
  Statement statement = database_.prepare("SELECT time FROM entries WHERE number = ?");
  const Result<bool> row = statement.bind(number).step();
  if (!row) return fail(row.error());
  return *row ? std::optional(statement.integer(0)) : std::nullopt;
}

Result<std::vector<Entry>> Index::find(const Query& query) {
  std::optional<std::int64_t> after_time;
  if (query.before != 0 && query.order == Query::Order::time) {
    const auto time = time_at(query.before);
    if (!time) return fail(time.error());
    after_time = *time;
  }
  Statement statement = database_.prepare(sql_of(query, after_time));
  const std::string after = after_prefix(query.job_prefix);
  const std::string of_runs = run_key(query.run_prefix);
  const std::string after_runs = after_prefix(of_runs);
  const std::string of_period = query.period ? R"("periodId":")" + rfc3339(*query.period) + '"' : "";
  if (!query.job.empty()) statement.bind(query.job);
  if (!query.job_prefix.empty()) statement.bind(query.job_prefix).bind(after);
  if (!query.run_prefix.empty()) statement.bind(of_runs).bind(after_runs);
  if (query.kind) statement.bind(static_cast<std::int64_t>(*query.kind));
  if (query.result) statement.bind(static_cast<std::int64_t>(*query.result));
  if (query.from) statement.bind(epoch_seconds(*query.from));
  if (query.to) statement.bind(epoch_seconds(*query.to));
  if (query.period) statement.bind(of_period);
  if (query.before != 0 && after_time) statement.bind(*after_time);
  if (query.before != 0) statement.bind(query.before);
  statement.bind(static_cast<std::int64_t>(std::min(query.limit, std::size_t{INT32_MAX})));
  std::vector<Entry> found;
  Result<bool> row = statement.step();
  for (; row && *row; row = statement.step()) {
    Result<Entry> entry = entry_in(statement, 0);
    if (!entry) return fail(entry.error());
    found.push_back(*std::move(entry));
  }
  if (!row) return fail(row.error());
  return found;
}

Result<std::map<std::string, Entry>> Index::last_of(const std::vector<std::string>& jobs) {
  // In one transaction: each question alone would lock and unlock the file, which takes longer than its answer.
  if (Status begun = database_.run("BEGIN"); !begun) return fail(begun.error());
  Result<std::map<std::string, Entry>> last = last_of_each(jobs);
  const Status ended = database_.run("COMMIT");
  if (last && !ended) return fail(ended.error());
  return last;
}

Result<std::map<std::string, Entry>> Index::last_of_each(const std::vector<std::string>& jobs) {
  std::map<std::string, Entry> last;
  Statement statement =
      database_.prepare("SELECT body FROM entries WHERE job = ? AND kind <> ? ORDER BY number DESC LIMIT 1");
  for (const std::string& job : jobs) {
    const Result<bool> row = statement.bind(job).bind(static_cast<std::int64_t>(Kind::passed_over)).step();
    if (!row) return fail(row.error());
    if (!*row) continue;
    Result<Entry> entry = entry_in(statement, 0);
    const Result<bool> over = statement.step();
    if (!entry || !over) return fail(entry ? over.error() : entry.error());
    last.emplace(job, *std::move(entry));
  }
  return last;
}

Result<std::map<std::string, std::vector<Entry>>> Index::newest_of(const std::vector<std::string>& jobs,
                                                                   std::size_t each) {
  if (Status begun = database_.run("BEGIN"); !begun) return fail(begun.error());
  Result<std::map<std::string, std::vector<Entry>>> newest = newest_of_each(jobs, each);
  const Status ended = database_.run("COMMIT");
  if (newest && !ended) return fail(ended.error());
  return newest;
}

Result<std::map<std::string, std::vector<Entry>>> Index::newest_of_each(const std::vector<std::string>& jobs,
                                                                        std::size_t each) {
  std::map<std::string, std::vector<Entry>> newest;
  Statement statement = database_.prepare("SELECT body FROM entries WHERE job = ? ORDER BY number DESC LIMIT ?");
  for (const std::string& job : jobs) {
    statement.bind(job).bind(static_cast<std::int64_t>(each));
    Result<bool> row = statement.step();
    for (; row && *row; row = statement.step()) {
      Result<Entry> entry = entry_in(statement, 0);
      if (!entry) return fail(entry.error());
      newest[job].push_back(*std::move(entry));
    }
    if (!row) return fail(row.error());
  }
  return newest;
}

Status Index::each_brief(std::string_view job, const std::function<void(const Brief&)>& visit) {
  Statement statement = database_.prepare("SELECT job, number, letter, length FROM entries" +
                                          std::string(job.empty() ? "" : " WHERE job = ?") + " ORDER BY job, number");
  if (!job.empty()) statement.bind(job);
  Result<bool> row = statement.step();
  for (; row && *row; row = statement.step()) {
    const Length length(statement.integer(3));
    visit({statement.text(0), statement.integer(1), static_cast<char>(statement.integer(2)),
           length == kNoLength ? std::nullopt : std::optional(length)});
  }
  if (!row) return fail(row.error());
  return {};
}

Result<std::map<std::string, Ends>> Index::ends_of(const std::vector<std::string>& jobs) {
  if (Status begun = database_.run("BEGIN"); !begun) return fail(begun.error());
  Result<std::map<std::string, Ends>> ends = ends_of_each(jobs);
  const Status ended = database_.run("COMMIT");
  if (ends && !ended) return fail(ended.error());
  return ends;
}

Result<std::map<std::string, Ends>> Index::ends_of_each(const std::vector<std::string>& jobs) {
  // The pluses have SQLite walk the entries of the job, the newest first, and not those of a kind or result.
  Statement last = database_.prepare(
      "SELECT body FROM entries WHERE job = ? AND +kind <> ? AND (+result IS NULL OR +result <> ?) "
      "ORDER BY number DESC LIMIT 1");
  Statement success =
      database_.prepare("SELECT body FROM entries WHERE job = ? AND +result = ? ORDER BY number DESC LIMIT 1");
  const auto first_of = [](Statement& statement) -> Result<std::optional<Entry>> {
    const Result<bool> row = statement.step();
    if (!row) return fail(row.error());
    if (!*row) return std::optional<Entry>();
    Result<Entry> entry = entry_in(statement, 0);
    const Result<bool> over = statement.step();
    if (!entry || !over) return fail(entry ? over.error() : entry.error());
    return std::optional<Entry>(*std::move(entry));
  };
  std::map<std::string, Ends> ends;
  for (const std::string& job : jobs) {
    last.bind(job).bind(static_cast<std::int64_t>(Kind::passed_over));
    auto newest = first_of(last.bind(static_cast<std::int64_t>(RunResult::running)));
    if (!newest) return fail(newest.error());
    auto succeeded = first_of(success.bind(job).bind(static_cast<std::int64_t>(RunResult::succeeded)));
    if (!succeeded) return fail(succeeded.error());
    if (*newest || *succeeded) ends.emplace(job, Ends{*std::move(newest), *std::move(succeeded)});
  }
  return ends;
}

Result<std::optional<Instant>> Index::time_of_oldest() {
  Statement statement = database_.prepare("SELECT time FROM entries ORDER BY number LIMIT 1");
  const Result<bool> row = statement.step();
  if (!row) return fail(row.error());
  return *row ? std::optional(instant_of(statement.integer(0))) : std::nullopt;
}

}  // namespace kron::history
