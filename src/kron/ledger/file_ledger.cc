#include "kron/ledger/file_ledger.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kron/base/text.h"
#include "kron/env/durable.h"
#include "kron/state/first_seen.h"
#include "kron/state/names.h"

namespace kron {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kOthersMayWrite = 022;

// Others must not be able to make us forget that a period was handled.
Status check_directory(FileSystem& file_system, Directory& directory) {
  const Result<FileInfo> info = directory.info(".");
  if (!info) return fail(info.error());
  if (info->owner == file_system.user() && (info->mode & kOthersMayWrite) == 0) return {};
  return fail(Code::refused, "the state directory " + directory.path() +
                                 " can be changed by others: it must belong to the daemon's user and have mode 0700 "
                                 "(chown and chmod it, or choose another with --state-dir)");
}

}  // namespace

FileLedger::FileLedger(FileSystem& file_system, std::unique_ptr<Directory> directory, std::unique_ptr<Lock> lock,
                       Log& log)
    : file_system_(file_system), directory_(std::move(directory)), lock_(std::move(lock)), log_(log) {}

Result<std::unique_ptr<FileLedger>> FileLedger::open(FileSystem& file_system, std::string_view path, Log& log) {
  Result<std::unique_ptr<Directory>> directory = open_or_make_directory(file_system, path, kDirectoryMode);
  if (!directory) return fail(directory.error());
  if (const Status safe = check_directory(file_system, **directory); !safe) return fail(safe.error());
  Result<std::unique_ptr<Lock>> lock = (*directory)->lock(kLockName);
  if (!lock) return fail(lock.error());
  const Result<std::size_t> leftovers = remove_leftovers(**directory);
  if (!leftovers) return fail(leftovers.error());
  if (*leftovers != 0) {
    // Every end leaves spare files (env/durable.h), so this is nothing to tell an operator of.
    const std::array<LogField, 2> fields{{{"path", path}, {"count", static_cast<std::int64_t>(*leftovers)}}};
    log.write(LogLevel::debug, "leftovers_removed", fields);
  }
  // An earlier daemon may have died between its renames and their sync. What we are about to read and act on must not
  // be undone by a power cut.
  if (Status synced = (*directory)->sync(); !synced) return fail(synced.error());
  return std::unique_ptr<FileLedger>(new FileLedger(file_system, std::move(*directory), std::move(*lock), log));
}

Error FileLedger::in_file(Error error, std::string_view name) const {
  error.message = entry_path(directory_->path(), name) + ": " + error.message;
  return error;
}

// A file that others own or may change was planted: what it says must not decide what runs.
Result<FileContents> FileLedger::read_own(std::string_view name, std::size_t most) {
  Result<FileContents> file = directory_->read(name, most);
  if (!file || (file->info.owner == file_system_.user() && (file->info.mode & kOthersMayWrite) == 0)) return file;
  return fail(Code::refused, entry_path(directory_->path(), name) +
                                 " can be changed by others: it must belong to the daemon's user and have mode 0600 "
                                 "(chown and chmod it, or remove it)");
}

Result<StateRecord> FileLedger::read_record(const Sha256& hash) {
  const std::string name = state_file_name(hash);
  const Result<FileContents> file = read_own(name, kMostRecordBytes);
  if (!file && file.error().code == Code::invalid) {
    return fail(Code::refused, entry_path(directory_->path(), name) + " is larger than the " +
                                   std::to_string(kMostRecordBytes) +
                                   " bytes of a record; `kron state reset` of its job sets it aside and begins anew");
  }
  if (!file) return fail(file.error());
  Result<StateRecord> record = state::parse(file->bytes);
  if (!record) return fail(in_file(record.error(), name));
  if (sha256({record->identity}) != hash) {
    return fail(Code::invalid, entry_path(directory_->path(), name) + ": its Identity " + quoted(record->identity) +
                                   " does not belong to that name");
  }
  return record;
}

bool FileLedger::is_too_large(const Sha256& hash) {
  const Result<FileInfo> info = directory_->info(state_file_name(hash));
  return info && info->size > kMostRecordBytes;
}

Result<StateRecord> FileLedger::read(std::string_view identity) { return read_record(sha256({identity})); }

Result<bool> FileLedger::has_run(std::string_view identity, std::string_view run_id) {
  const Result<StateRecord> record = read(identity);
  if (!record && record.error().code == Code::not_found) return false;
  if (!record) return fail(record.error());
  return std::ranges::find(record->active, run_id, &ActiveExecution::run_id) != record->active.end() ||
         std::ranges::find(record->history, run_id, &HistoryEntry::run_id) != record->history.end();
}

Status FileLedger::write_durably(std::string_view name, std::string_view bytes) {
  const ReplaceResult result = durable_replace(file_system_, *directory_, {.name = name, .bytes = bytes});
  if (result.fatal) broken_ = result.status.error();
  return result.status;
}

// The record that the step is to be applied to. It is written anew, or what is on the disk has to be read again.
Result<RecentRecords::Recent> FileLedger::record_for(const LedgerStep& step, bool& is_first) {
  if (std::optional<RecentRecords::Recent> recent = recent_.take(step.identity)) return *std::move(recent);
  const Sha256 hash = sha256({step.identity});
  Result<StateRecord> record = read_record(hash);
  is_first = !record && record.error().code == Code::not_found;
  if (is_first) record = StateRecord{};
  if (!record) return fail(record.error());
  return RecentRecords::Recent{*std::move(record), state_file_name(hash)};
}

std::vector<Written> FileLedger::write(std::span<const LedgerStep> steps) {
  if (broken_) return std::vector<Written>(steps.size(), Written::refused(*broken_));
  struct Next {
    std::size_t step;
    bool is_first;
    RecentRecords::Recent recent;
    std::string text;
  };
  std::vector<Written> results(steps.size());
  std::vector<Next> all;
  all.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    bool is_first = false;
    Result<RecentRecords::Recent> recent = record_for(steps[i], is_first);
    const Status applied = recent ? apply(recent->record, steps[i]) : fail(recent.error());
    if (applied) results[i].owed = apply_alarm(recent->record, steps[i]);
    Result<std::string> text = applied ? state::fit(recent->record) : fail(applied.error());
    if (text) {
      all.push_back({i, is_first, *std::move(recent), *std::move(text)});
    } else {
      results[i] = Written::refused(text.error());
    }
  }
  std::vector<Replacement> replacements;
  replacements.reserve(all.size());
  for (const Next& next : all) replacements.push_back({.name = next.recent.file, .bytes = next.text});
  BatchResult batch = durable_batch(file_system_, *directory_, replacements, &spares_);
  if (batch.fatal) broken_ = std::move(batch.fatal);
  for (std::size_t k = 0; k < all.size(); ++k) {
    Next& next = all[k];
    if (!batch.entries[k]) {
      results[next.step] = Written::refused(batch.entries[k].error());
      continue;
    }
    if (next.is_first) newly_recorded_.push_back(steps[next.step].identity);
    recent_.keep(std::move(next.recent), next.text.size());
  }
  say_recorded();
  return results;
}

// Once a job has a record, its first sight is no longer to be believed should the record go: the period it tells of
// would be started again. If we die before this is durable, the next load finds the record and drops the first sight
// itself; if it cannot be written now, the next batch tries again.
void FileLedger::say_recorded() {
  if (newly_recorded_.empty() || broken_) return;
  if (!write_durably(recorded_name(next_recorded_), recorded_text(newly_recorded_))) return;
  newly_recorded_.clear();
  ++next_recorded_;
}

}  // namespace kron
