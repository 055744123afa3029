// What a daemon learns when it starts, and when its jobs change.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/ledger/file_ledger.h"
#include "kron/state/names.h"

namespace kron {
namespace {

KnownJob known_job(StateRecord record) {
  KnownJob known{std::move(record.periods), std::move(record.active), std::move(record.last_boot_id)};
  if (record.alarm) known.owed = std::move(record.alarm->owed);
  return known;
}

// So many files that say which jobs are recorded, and they are merged into first-seen.json.
constexpr std::size_t kMostRecordedFiles = 1000;

// Adds to `rest` what is known of jobs that are not configured now and have no record: they may come back. False when
// one was left out that has a record, and nothing on the disk says that its first sight counts no more.
bool keep_unrecorded(const FirstSeen& seen, const StateListing& listing, const std::vector<std::string>& recorded,
                     FirstSeen& rest) {
  bool all_said = true;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::string_view identity = seen.identity(i);
    if (rest.find(identity) || std::ranges::binary_search(recorded, identity)) continue;
    const Sha256 hash = sha256({identity});
    if (listing.has_record(hash) || !listing.set_aside_of(hash).empty()) {
      all_said = false;
    } else {
      rest.add(identity, seen.at(i));
    }
  }
  return all_said;
}

}  // namespace

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
  const Status written = write_durably(state_file_name(sha256({identity})), state::print(record));
  if (!written) return fail(written.error());
  return record;
}

// Nothing for a job that has no record and never had one.
Result<std::optional<StateRecord>> FileLedger::load_record(const std::string& identity, const StateListing& listing,
                                                           Instant now) {
  if (!listing.has_records()) return std::nullopt;
  const Sha256 hash = sha256({identity});
  Result<StateRecord> record;
  Instant last_change = now;
  if (listing.has_record(hash)) {
    record = read_record(hash);
    if (record) return std::optional(*std::move(record));
    if (record.error().code != Code::invalid) return fail(record.error());
    const std::string name = state_file_name(hash);
    if (const auto info = directory_->info(name)) last_change = info->modified;
    if (Status aside = set_aside(name, record.error(), now); !aside) return fail(aside.error());
  } else {
    const auto earlier = listing.set_aside_of(hash);
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
  const Result<FileContents> file = read_own(kFirstSeenName, kMostFirstSeenBytes);
  if (!file && file.error().code == Code::not_found) return FirstSeen{};
  Result<FirstSeen> seen = file ? parse_first_seen(file->bytes) : fail(file.error());
  if (seen) return seen;
  const Error error = file ? in_file(seen.error(), kFirstSeenName) : file.error();
  if (error.code != Code::invalid) return fail(error);
  if (Status aside = set_aside(kFirstSeenName, error, now); !aside) return fail(aside.error());
  return FirstSeen{};
}

// The jobs of first-seen.json that have had a record since it was written. A file of these that cannot be read is set
// aside, and all jobs without a record are seen from now on: which of them it named is not known.
Result<std::vector<std::string>> FileLedger::read_recorded(const StateListing& listing, FirstSeen& seen, Instant now) {
  std::vector<std::string> identities;
  for (const std::uint64_t number : listing.recorded) {
    const std::string name = recorded_name(number);
    const Result<FileContents> file = read_own(name, kMostFirstSeenBytes);
    Result<std::vector<std::string>> some = file ? parse_recorded(file->bytes) : fail(file.error());
    if (some) {
      std::ranges::move(*some, std::back_inserter(identities));
      continue;
    }
    const Error error = file ? in_file(some.error(), name) : file.error();
    if (error.code != Code::invalid) return fail(error);
    if (Status aside = set_aside(name, error, now); !aside) return fail(aside.error());
    seen = FirstSeen{};
  }
  std::ranges::sort(identities);
  return identities;
}

// Nothing when the job has no record.
Result<std::optional<KnownJob>> FileLedger::load_job(const std::string& identity, const StateListing& listing,
                                                     Instant now) {
  Result<std::optional<StateRecord>> record = load_record(identity, listing, now);
  if (record && !*record) return std::nullopt;
  if (record) return known_job(**std::move(record));
  // One job's record that grew too large is no reason to run none of the others. What it says is not known, so nothing
  // of that job may run.
  if (!is_too_large(sha256({identity}))) return fail(record.error());
  KnownJob job;
  job.unusable = record.error().message;
  return job;
}

Result<std::vector<KnownJob>> FileLedger::load(std::span<const std::string> identities, Instant now) {
  if (broken_) return fail(*broken_);
  recent_.clear();
  std::vector<KnownJob> jobs;
  if (identities.empty()) return jobs;
  const Result<StateListing> listing = list_state(*directory_);
  if (!listing) return fail(listing.error());
  Result<FirstSeen> seen = read_first_seen(now);
  if (!seen) return fail(seen.error());
  const Result<std::vector<std::string>> recorded = read_recorded(*listing, *seen, now);
  if (!recorded) return fail(recorded.error());
  jobs.reserve(identities.size());
  bool is_new = false;
  // A second copy is made only when there is something to leave out of it.
  const bool may_drop = listing->has_records() || !listing->recorded.empty();
  FirstSeen rest;
  FirstSeen& kept = may_drop ? rest : *seen;
  kept.reserve(identities.size());
  for (const std::string& identity : identities) {
    Result<std::optional<KnownJob>> job = load_job(identity, *listing, now);
    if (!job) return fail(job.error());
    if (*job) {
      jobs.push_back(**std::move(job));
      continue;
    }
    const bool had_record = std::ranges::binary_search(*recorded, identity);
    const std::optional<Instant> first = had_record ? std::nullopt : seen->find(identity);
    jobs.emplace_back().periods.first_seen = kept.add(identity, first.value_or(now));
    is_new = is_new || !first;
  }
  const bool all_said = !may_drop || keep_unrecorded(*seen, *listing, *recorded, rest);
  next_recorded_ = listing->recorded.empty() ? next_recorded_ : listing->recorded.back() + 1;
  if (!is_new && all_said && listing->recorded.size() <= kMostRecordedFiles) return jobs;
  if (Status written = write_durably(kFirstSeenName, first_seen_text(kept)); !written) return fail(written.error());
  // If we die here, the next load drops some of these jobs again and sees them a little later than we did.
  for (const std::uint64_t number : listing->recorded) static_cast<void>(directory_->remove(recorded_name(number)));
  return jobs;
}

}  // namespace kron
