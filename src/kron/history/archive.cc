#include "kron/history/archive.h"

#include <algorithm>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kron::history {
namespace {

constexpr std::size_t kLinesPerCommit = 4096;
constexpr std::size_t kLinesPerReport = 50'000;

}  // namespace

Status check_room(Directory& directory) {
  const auto space = directory.space();
  if (!space || space->free >= kLeftOfTheDisk) return {};
  return fail(Code::io, "less than 1 MiB of the disk of " + directory.path() +
                            " is free, which is left to the records of jobs; make room there");
}

Archive::Archive(const std::string& path, const runner::Retention& retention, const Clock& clock, Log& log)
    : path_(path), index_path_(path + "/index.sqlite"), retention_(retention), clock_(clock), log_(log) {}

Result<std::unique_ptr<Archive>> Archive::open(const std::string& path, const runner::Retention& retention,
                                               const Clock& clock, Log& log) {
  std::unique_ptr<Archive> archive(new Archive(path, retention, clock, log));
  Result<std::unique_ptr<Journal>> journal = Journal::open(archive->file_system_, path);
  if (!journal) return fail(journal.error());
  archive->journal_ = *std::move(journal);
  archive->days_ = std::make_unique<DaysFile>(archive->file_system_, archive->journal_->directory());
  return archive;
}

Status Archive::prepare(const std::stop_token& stop) {
  if (is_ready_) return {};
  if (Status room = check_room(journal_->directory()); !room) return room;
  Status done = open_index();
  if (done) done = days_->read_into(*index_);
  if (done) done = read_journal(stop);
  if (done) done = index_->end_of_reading();
  if (done) done = index_->recount();
  if (done) done = expire({});
  if (!done) {
    give_up(done.error());
    return done;
  }
  is_ready_ = true;
  if (std::exchange(is_made_anew_, false)) {
    log_.info("history_rebuilt", {{"count", static_cast<std::int64_t>(index_->count())},
                                  {"skipped", static_cast<std::int64_t>(lines_skipped_)}});
  }
  return {};
}

Status Archive::open_index() {
  if (index_) return {};
  Result<std::unique_ptr<Index>> index = Index::open(index_path_);
  if (!index && index.error().code == Code::invalid) {
    is_made_anew_ = true;
    log_.warning("history_rebuilding", {{"path", index_path_}, {"reason", index.error().message}});
    Index::discard(index_path_);
    index = Index::open(index_path_);
  }
  if (!index) return fail(index.error());
  index_ = *std::move(index);
  return {};
}

Status Archive::read_journal(const std::stop_token& stop) {
  const Result<std::vector<SegmentInfo>> segments = journal_->segments();
  if (!segments) return fail(segments.error());
  if (index_->count() == 0 && !segments->empty() && !is_made_anew_) {
    is_made_anew_ = true;
    log_.info("history_rebuilding", {{"path", index_path_}, {"reason", "the index is missing or empty"}});
  }
  lines_read_ = lines_skipped_ = 0;
  for (const SegmentInfo& segment : *segments) {
    if (Status read = read_on(segment, stop); !read) return read;
  }
  return {};
}

// Commits every so often, with how far it came: if we die or are stopped, the next start goes on from there.
Status Archive::read_on(const SegmentInfo& info, const std::stop_token& stop) {
  Result<std::uint64_t> known = index_->size_of(info.segment);
  if (!known) return fail(known.error());
  if (*known == info.size) return {};
  if (*known > info.size) known = 0;  // somebody cut the file
  std::uint64_t reached = *known;
  Status status = index_->begin();
  const auto finish_part = [&]() -> Status {
    if (status) status = index_->set_size(info.segment, reached);
    if (status) status = index_->commit();
    return status;
  };
  const Status read = journal_->read(info.segment, *known, [&](std::string_view line, std::uint64_t end) {
    if (status) status = apply(line, info.segment);
    reached = end;
    ++lines_read_;
    if (is_made_anew_ && lines_read_ % kLinesPerReport == 0) {
      log_.info("history_rebuilding", {{"path", index_path_}, {"count", static_cast<std::int64_t>(lines_read_)}});
    }
    if (lines_read_ % kLinesPerCommit != 0 || !finish_part()) return status.has_value();
    status = stop.stop_requested() ? Status(fail(Code::unreachable, "the history is being closed")) : index_->begin();
    return status.has_value();
  });
  if (!read) return read;
  return finish_part();
}

Status Archive::apply(std::string_view line, const Segment& segment) {
  const Result<Entry> entry = parse_entry(line);
  if (!entry || entry->number <= 0) {
    ++lines_skipped_;
    return {};
  }
  const Result<std::optional<Entry>> known = index_->with_key(key_of(*entry));
  if (!known) return fail(known.error());
  // A clock that went back over midnight can put a run's start into a later file than its end.
  if (*known && result_of(*entry) == RunResult::running && result_of(**known) != RunResult::running) return {};
  if (Status counted = index_->count_day(*known, *entry); !counted) return counted;
  return index_->put(*entry, segment);
}

// First the journal, then the index. If we die in between, the next prepare() reads what the index does not know.
Result<std::size_t> Archive::record(std::span<const Entry> entries) {
  if (const Status room = check_room(journal_->directory()); !room) return fail(room.error());
  const Result<Segment> segment = journal_->choose(now(clock_));
  if (!segment) return fail(segment.error());
  std::vector<Entry> news;
  const Result<std::string> lines = lines_of(entries, *segment, news);
  if (!lines) {
    give_up(lines.error());
    return fail(lines.error());
  }
  const Result<std::uint64_t> size = journal_->append(*lines);
  Status done = size ? index_->set_size(*segment, *size) : index_->rollback();
  if (done && size) done = index_->commit();
  if (done && size) done = note_recent(news);
  if (done && size) done = expire(*segment);
  if (!done) give_up(done.error());
  if (!size || !done) return fail(size ? done.error() : size.error());
  write_days(news);
  return news.size();
}

// Begins a transaction of the index that has the same.
Result<std::string> Archive::lines_of(std::span<const Entry> entries, const Segment& segment,
                                      std::vector<Entry>& news) {
  std::string lines;
  if (Status begun = index_->begin(); !begun) return fail(begun.error());
  for (const Entry& entry : entries) {
    const Result<std::optional<Entry>> known = index_->with_key(key_of(entry));
    if (!known) return fail(known.error());
    Entry told = *known ? merged(**known, entry) : entry;
    if (*known && told == **known) continue;
    if (!*known) told.number = index_->last_number() + 1;
    Status put = index_->count_day(*known, told);
    if (put) put = index_->put(told, segment);
    if (!put) return fail(put.error());
    lines += entry_json(told) + '\n';
    news.push_back(std::move(told));
  }
  return lines;
}

// After midnight, and when something becomes known of a day that is over. A disk that fails takes nothing: it is tried
// again the next time.
void Archive::write_days(std::span<const Entry> news) {
  const auto today = std::chrono::floor<std::chrono::days>(now(clock_));
  const bool is_new_day = days_written_on_ != today;
  const bool is_late = std::ranges::any_of(news, [&](const Entry& entry) { return day_of(entry) < today; });
  if (!is_new_day && !is_late) return;
  days_written_on_ = today;
  Status written = days_->write_from(*index_, today);
  if (written && is_new_day) written = days_->expire(*index_, today);
  if (!written && written.error().code == Code::invalid) give_up(written.error());
}

Status Archive::note_recent(std::span<const Entry> news) {
  for (const Entry& entry : news) {
    if (recent_.add(brief_of(entry))) continue;
    recent_.forget(entry.job);
    if (Status read = index_->each_brief(entry.job, [this](const Brief& brief) { recent_.add(brief); }); !read) {
      return read;
    }
  }
  return {};
}

// One ordered scan of a covering index: a question for each job would take much longer.
Status Archive::read_recent() {
  recent_.clear();
  dropped_ = 0;
  return index_->each_brief({}, [this](const Brief& brief) { recent_.add(brief); });
}

// If we die before the files are removed, or cannot remove them, the next start reads them, and forgets the same
// entries again.
Status Archive::expire(const Segment& in_use) {
  const Result<std::size_t> dropped = index_->keep_newest(retention_.most);
  if (!dropped) return fail(dropped.error());
  const auto today = std::chrono::floor<std::chrono::days>(now(clock_));
  // Of jobs that are gone for good nothing is to stay in memory for ever.
  dropped_ += *dropped;
  const bool is_recent_old = expired_on_ != today || dropped_ > retention_.most;
  if (*dropped == 0 && expired_on_ == today) return {};
  if (expired_on_ != today) {
    const auto oldest = std::chrono::floor<std::chrono::days>(now(clock_) - retention_.age);
    if (Status forgotten = index_->forget_before(oldest); !forgotten) return forgotten;
    expired_on_ = today;
  }
  if (is_recent_old) {
    if (Status read = read_recent(); !read) return read;
  }
  const Result<std::vector<Segment>> unused = index_->take_unused(in_use);
  if (!unused) return fail(unused.error());
  for (const Segment& segment : *unused) std::ignore = journal_->remove(segment);
  return {};
}

Result<Instant> Archive::horizon() {
  const Instant too_old = now(clock_) - retention_.age;
  if (index_->count() < retention_.most) return too_old;
  const Result<std::optional<Instant>> oldest = index_->time_of_oldest();
  if (!oldest) return fail(oldest.error());
  return std::max(too_old, oldest->value_or(too_old));
}

// Closing the index undoes what was not committed.
void Archive::give_up(const Error& error) {
  index_.reset();
  is_ready_ = false;
  expired_on_.reset();
  recent_.clear();
  if (error.code != Code::invalid) return;
  log_.warning("history_rebuilding", {{"path", index_path_}, {"reason", error.message}});
  Index::discard(index_path_);
  is_made_anew_ = true;
}

}  // namespace kron::history
