#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/env/durable.h"
#include "kron/env/file_system.h"
#include "kron/env/log.h"
#include "kron/ledger/ledger.h"
#include "kron/ledger/recent_records.h"
#include "kron/ledger/state_listing.h"
#include "kron/state/first_seen.h"

namespace kron {

// The ledger as plain files, one per job (STATE.md and contract/state.md; state/names.h lists the names). The files are
// the truth: of a job's past only what was written lately is kept in memory (RecentRecords), so a million jobs cost the
// ledger nothing between two steps. Whoever changes the files of a daemon that runs is not heard: the lock is for that.
class FileLedger : public Ledger {
 public:
  // Makes the directory (0700) when absent, takes its lock for life, removes leftovers. Conflict, naming the holder's
  // PID, when another daemon has it; refused when others could change what is in it.
  static Result<std::unique_ptr<FileLedger>> open(FileSystem& file_system, std::string_view path, Log& log);

  Result<std::vector<KnownJob>> load(std::span<const std::string> identities, Instant now) override;
  Result<bool> has_run(std::string_view identity, std::string_view run_id) override;
  std::vector<Written> write(std::span<const LedgerStep> steps) override;  // done or refused
  const std::optional<Error>& broken() const override { return broken_; }

  // The whole record of one job, for those who show it; not_found when there is none.
  Result<StateRecord> read(std::string_view identity);

  // Begins the job's record anew, whatever state it is in: only what is due later than `now` runs, and an operator's
  // pause, the history and the boot that an @reboot job has seen stay. What cannot be read is set aside, and `boot_id`
  // counts as seen. Runs that it calls active are forgotten: the caller sees that none is alive. Durable when it
  // returns. A job that has no record gets one.
  Result<KnownJob> reset(std::string_view identity, Instant now, std::string_view boot_id) override;

  // Forgets these jobs: their records, what was set aside of them, and their first sight. Durable when it returns.
  Status forget(std::span<const Sha256> identity_hashes);

  [[nodiscard]] const std::string& path() const { return directory_->path(); }

 private:
  static constexpr std::size_t kMostFirstSeenBytes = std::size_t{1} << 30;

  FileLedger(FileSystem& file_system, std::unique_ptr<Directory> directory, std::unique_ptr<Lock> lock, Log& log);

  Result<FileContents> read_own(std::string_view name, std::size_t most);
  Result<StateRecord> read_record(const Sha256& hash);
  Result<RecentRecords::Recent> record_for(const LedgerStep& step, bool& is_first);
  bool is_too_large(const Sha256& hash);
  Result<FirstSeen> read_first_seen(Instant now);
  Result<std::vector<std::string>> read_recorded(const StateListing& listing, FirstSeen& seen, Instant now);
  Result<std::optional<StateRecord>> load_record(const std::string& identity, const StateListing& listing, Instant now);
  Result<std::optional<KnownJob>> load_job(const std::string& identity, const StateListing& listing, Instant now);
  Status set_aside(std::string_view name, const Error& why, Instant now);
  Result<StateRecord> begin_anew(const std::string& identity, Instant not_before);
  Result<StateRecord> record_to_reset(std::string_view identity, Instant now, std::string_view boot_id);
  Status write_durably(std::string_view name, std::string_view bytes);
  void say_recorded();
  Status forget_first_sight(const std::function<bool(const Sha256&)>& is_wanted);
  Error in_file(Error error, std::string_view name) const;

  FileSystem& file_system_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<Lock> lock_;
  Log& log_;
  std::optional<Error> broken_;
  std::vector<std::string> newly_recorded_;  // their first record is written, and no file says so yet
  std::uint64_t next_recorded_ = 0;
  SpareFiles spares_;
  RecentRecords recent_;
};

}  // namespace kron
