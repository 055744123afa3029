#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/real_file_system.h"
#include "kron/history/days_file.h"
#include "kron/history/index.h"
#include "kron/history/journal.h"
#include "kron/history/recent.h"
#include "kron/runner/retention.h"

namespace kron::history {

// The last of a disk belongs to the records of jobs, without which nothing runs.
inline constexpr std::uint64_t kLeftOfTheDisk = std::uint64_t{1} << 20;
Status check_room(Directory& directory);

// The history on disk: the journal, which is the truth, and the index, which is made from it. Used by one thread.
class Archive {
 public:
  // `path` is the directory of both. Quick; `clock` and `log` outlive it.
  static Result<std::unique_ptr<Archive>> open(const std::string& path, const runner::Retention& retention,
                                               const Clock& clock, Log& log);

  // Makes the index ready: opens it, or makes it anew, and reads what the journal has beyond it. Nothing to do when it
  // is ready. Told to stop it fails, and the next time goes on from there.
  Status prepare(const std::stop_token& stop = {});

  // Durable when it succeeds, and how many were news: the others were known. A failure means that none is, or that all
  // can be told again; nothing is doubled. The index must be ready.
  Result<std::size_t> record(std::span<const Entry> entries);

  // What is asked of the index, which must be ready. A damaged one is discarded, and prepare() makes it anew.
  template <class Ask>
  auto ask(const Ask& ask) {
    auto answer = ask(*index_);
    if (!answer) give_up(answer.error());
    return answer;
  }

  // The last outcomes of each job; the index must be ready. Those that have been forgotten are among them until
  // midnight.
  const RecentOutcomes& recent() const { return recent_; }

  bool is_ready() const { return is_ready_; }
  // Whoever is not known and ended before it has been forgotten, or is too old to be learnt of.
  Result<Instant> horizon();

  const runner::Retention& retention() const { return retention_; }
  Journal& journal() { return *journal_; }

 private:
  Archive(const std::string& path, const runner::Retention& retention, const Clock& clock, Log& log);

  Status open_index();
  Status read_journal(const std::stop_token& stop);
  Status read_on(const SegmentInfo& segment, const std::stop_token& stop);
  Status apply(std::string_view line, const Segment& segment);
  Result<std::string> lines_of(std::span<const Entry> entries, const Segment& segment, std::vector<Entry>& news);
  Status note_recent(std::span<const Entry> news);
  Status read_recent();
  void write_days(std::span<const Entry> news);
  Status expire(const Segment& in_use);
  void give_up(const Error& error);

  std::string path_;
  std::string index_path_;
  runner::Retention retention_;
  const Clock& clock_;
  Log& log_;
  RealFileSystem file_system_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<DaysFile> days_;
  std::optional<std::chrono::sys_days> days_written_on_;
  std::unique_ptr<Index> index_;
  bool is_ready_ = false;
  bool is_made_anew_ = false;
  std::size_t lines_read_ = 0;     // by read_journal
  std::size_t lines_skipped_ = 0;  // of them: no entries
  std::optional<std::chrono::sys_days> expired_on_;
  RecentOutcomes recent_;
  std::size_t dropped_ = 0;  // entries, since recent_ was read from the index
};

}  // namespace kron::history
