#include "kron/ledger/file_ledger.h"

#include <algorithm>
#include <utility>

#include "kron/base/text.h"
#include "kron/env/durable.h"
#include "kron/ledger/state_names.h"

namespace kron {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kOthersMayWrite = 022;
constexpr std::size_t kLargestRecord = std::size_t{4} << 20;
constexpr std::size_t kLargestFirstSeen = std::size_t{1} << 30;

// Others must not be able to make us forget that a period was handled.
Status check_directory(FileSystem& file_system, Directory& directory) {
  const Result<FileInfo> info = directory.info(".");
  if (!info) return fail(info.error());
  if (info->owner == file_system.user() && (info->mode & kOthersMayWrite) == 0) return {};
  return fail(Code::refused, "the state directory " + directory.path() +
                                 " can be changed by others: it must belong to the daemon's user and have mode 0700 "
                                 "(chown and chmod it, or choose another with --state-dir)");
}

Error in_file(Error error, const Directory& directory, std::string_view name) {
  error.message = entry_path(directory.path(), name) + ": " + error.message;
  return error;
}

KnownJob known_job(StateRecord record) {
  return {std::move(record.periods), std::move(record.active), std::move(record.last_boot_id)};
}

}  // namespace

// The jobs that have a record, and the records that were set aside; sorted.
struct FileLedger::Names {
  std::vector<Sha256> records;
  std::vector<std::pair<Sha256, std::string>> set_aside;

  [[nodiscard]] bool empty() const { return records.empty() && set_aside.empty(); }
  [[nodiscard]] bool has_record(const Sha256& hash) const { return std::ranges::binary_search(records, hash); }
  [[nodiscard]] auto set_aside_of(const Sha256& hash) const {
    return std::ranges::equal_range(set_aside, hash, {}, &std::pair<Sha256, std::string>::first);
  }
};

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
    log.info("leftovers_removed", {{"path", path}, {"count", static_cast<std::int64_t>(*leftovers)}});
  }
  // An earlier daemon may have died between its renames and their sync. What we are about to read and act on must not
  // be undone by a power cut.
  if (Status synced = (*directory)->sync(); !synced) return fail(synced.error());
  return std::unique_ptr<FileLedger>(new FileLedger(file_system, std::move(*directory), std::move(*lock), log));
}

Result<FileLedger::Names> FileLedger::list_names() {
  Names names;
  const Status listed = directory_->list([&](std::string_view name, FileType) {
    const std::optional<StateName> parsed = parse_state_name(name);
    if (!parsed) return;
    if (parsed->corrupt) {
      names.set_aside.emplace_back(parsed->identity_hash, name);
    } else {
      names.records.push_back(parsed->identity_hash);
    }
  });
  if (!listed) return fail(listed.error());
  std::ranges::sort(names.records);
  std::ranges::sort(names.set_aside);
  return names;
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
  const Result<FileContents> file = read_own(name, kLargestRecord);
  if (!file) return fail(file.error());
  Result<StateRecord> record = parse_state(file->bytes);
  if (!record) return fail(in_file(record.error(), *directory_, name));
  if (sha256({record->identity}) != hash) {
    return fail(Code::invalid, entry_path(directory_->path(), name) + ": its Identity " + quoted(record->identity) +
                                   " does not belong to that name");
  }
  return record;
}

Result<StateRecord> FileLedger::read(std::string_view identity) { return read_record(sha256({identity})); }

Result<bool> FileLedger::has_run(std::string_view identity, std::string_view run_id) {
  const Result<StateRecord> record = read(identity);
  if (!record && record.error().code == Code::not_found) return false;
  if (!record) return fail(record.error());
  return std::ranges::find(record->active, run_id, &ActiveExecution::run_id) != record->active.end() ||
         std::ranges::find(record->history, run_id, &HistoryEntry::run_id) != record->history.end();
}

Status FileLedger::set_aside(std::string_view name, const Error& why, Instant now) {
  const std::string aside = corrupt_file_name(name, now);
  if (Status moved = directory_->rename(name, *directory_, aside, IfTaken::replace); !moved) return moved;
  log_.error("state_quarantined", {{"path", entry_path(directory_->path(), aside)}, {"reason", why.message}});
  return {};
}

// What was set aside may have said that periods were handled, so first sight is a floor: only what is due later than
// `not_before` runs.
Result<StateRecord> FileLedger::begin_anew(const std::string& identity, Instant not_before) {
  StateRecord record;
  record.identity = identity;
  record.periods.first_seen = not_before + Seconds(1);
  record.periods.first_seen_is_floor = true;
  const Status written = write_durably(state_file_name(sha256({identity})), state_text(record));
  if (!written) return fail(written.error());
  return record;
}

// Nothing for a job that has no record and never had one.
Result<std::optional<StateRecord>> FileLedger::load_record(const std::string& identity, const Names& names,
                                                           Instant now) {
  if (names.empty()) return std::nullopt;
  const Sha256 hash = sha256({identity});
  Result<StateRecord> record;
  Instant last_change = now;
  if (names.has_record(hash)) {
    record = read_record(hash);
    if (record) return std::optional(*std::move(record));
    if (record.error().code != Code::invalid) return fail(record.error());
    const std::string name = state_file_name(hash);
    if (const auto info = directory_->info(name)) last_change = info->modified;
    if (Status aside = set_aside(name, record.error(), now); !aside) return fail(aside.error());
  } else {
    const auto earlier = names.set_aside_of(hash);
    if (earlier.empty()) return std::nullopt;
    // We, or an earlier daemon, died right here: set aside, and not begun anew. The file is as old as it was.
    for (const auto& [owner, name] : earlier) {
      if (const auto info = directory_->info(name)) last_change = std::max(last_change, info->modified);
    }
  }
  record = begin_anew(identity, std::max(now, last_change));
  if (!record) return fail(record.error());
  return std::optional(*std::move(record));
}

// A file that cannot be read is set aside, and its jobs are seen from now on: they have no record, so nothing of theirs
// was ever handled, and a later first sight can only make fewer periods run.
Result<FirstSeen> FileLedger::read_first_seen(Instant now) {
  const Result<FileContents> file = read_own(kFirstSeenName, kLargestFirstSeen);
  if (!file && file.error().code == Code::not_found) return FirstSeen{};
  Result<FirstSeen> seen = file ? parse_first_seen(file->bytes) : fail(file.error());
  if (seen) return seen;
  const Error error = file ? in_file(seen.error(), *directory_, kFirstSeenName) : file.error();
  if (error.code != Code::invalid) return fail(error);
  if (Status aside = set_aside(kFirstSeenName, error, now); !aside) return fail(aside.error());
  return FirstSeen{};
}

Result<std::vector<KnownJob>> FileLedger::load(std::span<const std::string> identities, Instant now) {
  if (broken_) return fail(*broken_);
  std::vector<KnownJob> jobs;
  if (identities.empty()) return jobs;
  const Result<Names> names = list_names();
  if (!names) return fail(names.error());
  Result<FirstSeen> seen = read_first_seen(now);
  if (!seen) return fail(seen.error());
  jobs.reserve(identities.size());
  const std::size_t seen_before = seen->size();
  seen->reserve(identities.size());
  for (const std::string& identity : identities) {
    Result<std::optional<StateRecord>> record = load_record(identity, *names, now);
    if (!record) return fail(record.error());
    if (*record) {
      jobs.push_back(known_job(**std::move(record)));
      continue;
    }
    jobs.emplace_back().periods.first_seen = seen->add(identity, now);
  }
  if (seen->size() != seen_before) {
    const std::string text = first_seen_text(names->records.empty() ? *seen : without_records(*seen, *names));
    if (Status written = write_durably(kFirstSeenName, text); !written) return fail(written.error());
  }
  return jobs;
}

// A job's record says when it was first seen; it need not be said twice.
FirstSeen FileLedger::without_records(const FirstSeen& seen, const Names& names) {
  FirstSeen rest;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!names.has_record(sha256({seen.identity(i)}))) rest.add(seen.identity(i), seen.at(i));
  }
  return rest;
}

Status FileLedger::write_durably(std::string_view name, std::string_view bytes) {
  const ReplaceResult result = durable_replace(file_system_, *directory_, {.name = name, .bytes = bytes});
  if (result.fatal) broken_ = result.status.error();
  return result.status;
}

std::vector<Status> FileLedger::write(std::span<const LedgerStep> steps) {
  if (broken_) return std::vector<Status>(steps.size(), fail(*broken_));
  std::vector<Status> results(steps.size());
  std::vector<std::string> names;
  std::vector<std::string> texts;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Sha256 hash = sha256({steps[i].identity});
    Result<StateRecord> record = read_record(hash);
    if (!record && record.error().code == Code::not_found) record = StateRecord{};
    if (!record) {
      results[i] = fail(record.error());
      continue;
    }
    if (Status applied = apply(*record, steps[i]); !applied) {
      results[i] = std::move(applied);
      continue;
    }
    places.push_back(i);
    names.push_back(state_file_name(hash));
    texts.push_back(state_text(*record));
  }
  std::vector<Replacement> replacements;
  for (std::size_t k = 0; k < places.size(); ++k) replacements.push_back({.name = names[k], .bytes = texts[k]});
  BatchResult batch = durable_batch(file_system_, *directory_, replacements);
  for (std::size_t k = 0; k < places.size(); ++k) results[places[k]] = std::move(batch.entries[k]);
  if (batch.fatal) broken_ = std::move(batch.fatal);
  return results;
}

}  // namespace kron
