#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/env/file_system.h"
#include "kron/env/log.h"
#include "kron/ledger/first_seen.h"
#include "kron/ledger/ledger.h"

namespace kron {

// The ledger as plain files, one per job (STATE.md and contract/state.md; state_names.h lists the names). The files are
// the truth: nothing of a job's past is kept in memory, so a million jobs cost the ledger nothing between two steps.
class FileLedger : public Ledger {
 public:
  // Makes the directory (0700) when absent, takes its lock for life, removes leftovers. Conflict, naming the holder's
  // PID, when another daemon has it; refused when others could change what is in it.
  static Result<std::unique_ptr<FileLedger>> open(FileSystem& file_system, std::string_view path, Log& log);

  Result<std::vector<KnownJob>> load(std::span<const std::string> identities, Instant now) override;
  Result<bool> has_run(std::string_view identity, std::string_view run_id) override;
  std::vector<Status> write(std::span<const LedgerStep> steps) override;
  const std::optional<Error>& broken() const override { return broken_; }

  // The whole record of one job, for those who show it; not_found when there is none.
  Result<StateRecord> read(std::string_view identity);

  [[nodiscard]] const std::string& path() const { return directory_->path(); }

 private:
  FileLedger(FileSystem& file_system, std::unique_ptr<Directory> directory, std::unique_ptr<Lock> lock, Log& log);

  struct Names;
  Result<Names> list_names();
  Result<FileContents> read_own(std::string_view name, std::size_t most);
  Result<StateRecord> read_record(const Sha256& hash);
  Result<FirstSeen> read_first_seen(Instant now);
  static FirstSeen without_records(const FirstSeen& seen, const Names& names);
  Result<std::optional<StateRecord>> load_record(const std::string& identity, const Names& names, Instant now);
  Status set_aside(std::string_view name, const Error& why, Instant now);
  Result<StateRecord> begin_anew(const std::string& identity, Instant not_before);
  Status write_durably(std::string_view name, std::string_view bytes);

  FileSystem& file_system_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<Lock> lock_;
  Log& log_;
  std::optional<Error> broken_;
};

}  // namespace kron
