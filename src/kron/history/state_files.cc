#include "kron/history/state_files.h"

#include <algorithm>
#include <utility>

#include "kron/state/names.h"

namespace kron::history {
namespace {

Entry entry_of(const std::string& job, const HistoryEntry& past) {
  return {.job = job,
          .outcome = past.outcome,
          .reason = past.reason,
          .clause = past.clause,
          .trigger = past.trigger,
          .period = past.period,
          .chosen = past.chosen,
          .run_id = past.run_id,
          .ended_at = past.completed_at,
          .exit_code = past.exit_code,
          .attempts = past.attempts,
          .failed = past.failed,
          .passed_over = past.passed_over};
}

}  // namespace

std::vector<Entry> entries_of(const StateRecord& record) {
  std::vector<Entry> entries;
  entries.reserve(record.history.size() + record.active.size());
  for (const HistoryEntry& past : record.history) entries.push_back(entry_of(record.identity, past));
  for (const ActiveExecution& run : record.active) entries.push_back(entry_of(record.identity, run));
  return entries;
}

std::optional<Entry> last_in_record(Directory& state, std::string_view job) {
  const Result<FileContents> contents = state.read(state_file_name(sha256({job})), kMostRecordBytes);
  if (!contents) return std::nullopt;
  const Result<StateRecord> record = state::parse(contents->bytes);
  if (!record) return std::nullopt;
  std::vector<Entry> entries = entries_of(*record);
  const auto last = std::find_if(entries.rbegin(), entries.rend(),
                                 [](const Entry& entry) { return kind_of(entry) != Kind::passed_over; });
  if (last != entries.rend()) return *last;
  // A job may keep no past entries at all; which period was handled last is always there.
  if (!record->periods.last_handled || !record->last_outcome) return std::nullopt;
  return Entry{.job = record->identity,
               .outcome = record->last_outcome,
               .period = record->periods.last_handled,
               .chosen = record->last_chosen};
}

Result<StateFiles> StateFiles::changed_since(Directory& directory, Instant since) {
  StateFiles files;
  const Status listed = directory.list([&](std::string_view name, FileType) {
    const std::optional<StateName> parsed = parse_state_name(name);
    if (!parsed || parsed->corrupt) return;
    const Result<FileInfo> info = directory.info(name);
    if (info && info->modified >= since) files.names_.push_back(parsed->identity_hash);
  });
  if (!listed) return fail(listed.error());
  return files;
}

std::vector<Entry> StateFiles::read(Directory& directory, std::size_t most) {
  std::vector<Entry> entries;
  for (const std::size_t end = std::min(names_.size(), next_ + most); next_ < end; ++next_) {
    const Result<FileContents> contents = directory.read(state_file_name(names_[next_]), kMostRecordBytes);
    if (!contents) continue;
    const Result<StateRecord> record = state::parse(contents->bytes);
    if (record) std::ranges::move(entries_of(*record), std::back_inserter(entries));
  }
  return entries;
}

}  // namespace kron::history
