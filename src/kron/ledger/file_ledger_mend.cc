// What an operator asks for: to begin a job's record anew, and to forget jobs that are gone.
#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/ledger/file_ledger.h"
#include "kron/state/names.h"

namespace kron {
namespace {

HistoryEntry forgotten(const ActiveExecution& run, Instant now) {
  return {.period = run.period,
          .outcome = Outcome::executed,
          .chosen = run.chosen,
          .completed_at = now,
          .run_id = run.run_id,
          .trigger = run.trigger};
}

}  // namespace

// The job's record as far as it can be read; what cannot is set aside first.
Result<StateRecord> FileLedger::record_to_reset(std::string_view identity, Instant now, std::string_view boot_id) {
  const Sha256 hash = sha256({identity});
  const std::string name = state_file_name(hash);
  Result<StateRecord> record = read_record(hash);
  if (record) return record;
  const Error error = record.error();
  const Result<FileInfo> info = directory_->info(name);
  if (info && info->type == FileType::regular) {
    if (Status aside = set_aside(name, error, now); !aside) return fail(aside.error());
  } else if (error.code != Code::not_found) {
    return fail(error);
  }
  record = StateRecord{};
  record->identity = identity;
  record->last_boot_id = boot_id;
  return record;
}

Result<KnownJob> FileLedger::reset(std::string_view identity, Instant now, std::string_view boot_id) {
  if (broken_) return fail(*broken_);
  recent_.clear();
  Result<StateRecord> record = record_to_reset(identity, now, boot_id);
  if (!record) return fail(record.error());
  for (const ActiveExecution& run : record->active) record->history.push_back(forgotten(run, now));
  record->active.clear();
  JobState anew;
  anew.first_seen = now + Seconds(1);
  anew.first_seen_is_floor = true;
  anew.suspended = record->periods.suspended;
  record->periods = std::move(anew);
  record->last_outcome.reset();
  record->last_chosen.reset();
  record->unknown_of_spans.clear();
  const Result<std::string> text = state::fit(*record);
  if (!text) return fail(text.error());
  if (Status written = write_durably(state_file_name(sha256({identity})), *text); !written) {
    return fail(written.error());
  }
  newly_recorded_.emplace_back(identity);
  say_recorded();
  log_.warning("state_reset", {{"identity", identity}, {"first", rfc3339(*record->periods.first_seen)}});
  return KnownJob{std::move(record->periods), {}, std::move(record->last_boot_id)};
}

Status FileLedger::forget(std::span<const Sha256> identity_hashes) {
  if (broken_) return fail(*broken_);
  recent_.clear();
  std::vector<Sha256> wanted(identity_hashes.begin(), identity_hashes.end());
  std::ranges::sort(wanted);
  const auto is_wanted = [&](const Sha256& hash) { return std::ranges::binary_search(wanted, hash); };
  const Result<StateListing> listing = list_state(*directory_);
  if (!listing) return fail(listing.error());
  // First sight goes first: if we die in between, a record without it says all that is to be known.
  if (Status forgotten = forget_first_sight(is_wanted); !forgotten) return forgotten;
  for (const auto& [hash, name] : listing->set_aside) {
    if (!is_wanted(hash)) continue;
    if (Status removed = directory_->remove(name); !removed) return removed;
  }
  for (const Sha256& hash : listing->records) {
    if (!is_wanted(hash)) continue;
    if (Status removed = directory_->remove(state_file_name(hash)); !removed) return removed;
  }
  Status synced = directory_->sync();
  if (!synced) broken_ = synced.error();
  return synced;
}

Status FileLedger::forget_first_sight(const std::function<bool(const Sha256&)>& is_wanted) {
  const Result<FileContents> file = read_own(kFirstSeenName, kMostFirstSeenBytes);
  if (!file && file.error().code == Code::not_found) return {};
  if (!file) return fail(file.error());
  const Result<FirstSeen> seen = parse_first_seen(file->bytes);
  if (!seen) return fail(in_file(seen.error(), kFirstSeenName));
  FirstSeen rest;
  for (std::size_t i = 0; i < seen->size(); ++i) {
    if (!is_wanted(sha256({seen->identity(i)}))) rest.add(seen->identity(i), seen->at(i));
  }
  if (rest.size() == seen->size()) return {};
  return write_durably(kFirstSeenName, first_seen_text(rest));
}

}  // namespace kron
