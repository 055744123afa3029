#include "kron/api/state_records.h"

#include <algorithm>
#include <utility>

#include "kron/api/json_values.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "kron/ledger/record_facts.h"
#include "kron/ledger/state_listing.h"
#include "kron/runner/process_identity.h"
#include "kron/state/first_seen.h"
#include "kron/state/names.h"

namespace kron::api {
namespace {

constexpr std::size_t kMostPrunedShown = 1000;
constexpr std::size_t kMostFirstSeenBytes = std::size_t{1} << 30;

void write_text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  if (text.empty()) {
    json.null();
  } else {
    json.text(text);
  }
}

// The members of a StateRecord, in a map that the caller has begun.
void write_facts(JsonWriter& json, const RecordFacts& facts) {
  write_text_or_null(json, "identity", facts.identity);
  json.member("file", facts.file).key("bytes").integer(static_cast<std::int64_t>(facts.bytes));
  const StateRecord none;
  const StateRecord& record = facts.record ? *facts.record : none;
  write_time_or_null(json, "lastPeriodId", record.periods.last_handled);
  write_text_or_null(json, "lastOutcome", record.last_outcome ? name_of(*record.last_outcome) : "");
  write_time_or_null(json, "lastChosenTime", record.last_chosen);
  write_time_or_null(json, "firstSeen", record.periods.first_seen);
  json.key("active").integer(number(record.active.size())).key("history").integer(number(record.history.size()));
  write_text_or_null(json, "fault", facts.fault == RecordFault::none ? "" : name_of(facts.fault));
  write_text_or_null(json, "reason", facts.reason);
}

bool is_alive(const ActiveExecution& run, std::string_view boot_id) {
  return !run.is_task() && run.boot_id == boot_id &&
         runner::start_time_of(static_cast<pid_t>(run.pid)) == run.process_start;
}

bool has_run_alive(const RecordFacts& facts, std::string_view boot_id) {
  return facts.record &&
         std::ranges::any_of(facts.record->active, [&](const ActiveExecution& run) { return is_alive(run, boot_id); });
}

std::vector<Sha256> hashes_of(const std::vector<std::string>& identities) {
  std::vector<Sha256> hashes;
  hashes.reserve(identities.size());
  for (const std::string& identity : identities) hashes.push_back(sha256({identity}));
  std::ranges::sort(hashes);
  return hashes;
}

// Those that were seen and never had a record.
Status add_first_seen(Directory& directory, const std::vector<Sha256>& configured, const StateListing& listing,
                      std::vector<PrunedJob>& jobs) {
  const Result<FileContents> file = directory.read(kFirstSeenName, kMostFirstSeenBytes);
  if (!file) return file.error().code == Code::not_found ? Status{} : Status(fail(file.error()));
  const Result<FirstSeen> seen = parse_first_seen(file->bytes);
  if (!seen) return fail(seen.error());
  for (std::size_t i = 0; i < seen->size(); ++i) {
    const Sha256 hash = sha256({seen->identity(i)});
    if (std::ranges::binary_search(configured, hash) || listing.has_record(hash)) continue;
    jobs.push_back({hash, std::string(seen->identity(i)), std::string(kFirstSeenName)});
  }
  return {};
}

}  // namespace

Result<std::string> records_json(Directory& directory, std::string_view after, std::size_t limit) {
  const Result<StateListing> listing = list_state(directory);
  if (!listing) return fail(listing.error());
  JsonWriter json;
  json.begin_map().key("records").begin_list();
  std::size_t shown = 0;
  std::string last;
  bool has_more = false;
  for (const Sha256& hash : listing->records) {
    std::string name = state_file_name(hash);
    if (name <= after) continue;
    has_more = shown == limit;
    if (has_more) break;
    const Result<RecordFacts> facts = look_at_record(directory, hash);
    if (!facts) continue;  // removed meanwhile
    json.begin_map();
    write_facts(json, *facts);
    json.end_map();
    last = std::move(name);
    ++shown;
  }
  json.end_list();
  if (has_more) json.member("next", last);
  return json.end_map().take();
}

Result<std::string> record_json(Directory& directory, std::string_view identity) {
  const Result<RecordFacts> facts = look_at_record(directory, sha256({identity}));
  if (!facts && facts.error().code == Code::not_found) {
    return fail(Code::not_found,
                "there is no record of " + quoted(identity, 200) + "; `kron state list` shows those there are");
  }
  if (!facts) return fail(facts.error());
  JsonWriter json;
  json.begin_map();
  write_facts(json, *facts);
  json.key("record");
  if (facts->record) {
    json.document(trimmed(state::print(*facts->record)));
  } else {
    json.null();
  }
  return json.end_map().take();
}

Result<bool> has_run_alive(Directory& directory, std::string_view identity, std::string_view boot_id) {
  const Result<RecordFacts> facts = look_at_record(directory, sha256({identity}));
  if (!facts && facts.error().code == Code::not_found) {
    return fail(Code::not_found, "there is no record of " + quoted(identity, 200) + ", so there is nothing to reset");
  }
  if (!facts) return fail(facts.error());
  return has_run_alive(*facts, boot_id);
}

std::string reset_json(std::string_view identity, const KnownJob& anew) {
  JsonWriter json;
  json.begin_map().member("identity", identity);
  write_time_or_null(json, "firstSeen", anew.periods.first_seen);
  return json.end_map().take();
}

Result<std::vector<PrunedJob>> jobs_to_prune(Directory& directory, const std::vector<std::string>& configured,
                                             std::string_view boot_id) {
  const Result<StateListing> listing = list_state(directory);
  if (!listing) return fail(listing.error());
  const std::vector<Sha256> kept = hashes_of(configured);
  std::vector<PrunedJob> jobs;
  for (const Sha256& hash : listing->records) {
    if (std::ranges::binary_search(kept, hash)) continue;
    const Result<RecordFacts> facts = look_at_record(directory, hash);
    if (!facts || has_run_alive(*facts, boot_id)) continue;
    jobs.push_back({hash, facts->identity, facts->file});
  }
  for (const auto& [hash, name] : listing->set_aside) {
    if (std::ranges::binary_search(kept, hash) || listing->has_record(hash)) continue;
    jobs.push_back({hash, "", name});
  }
  if (Status added = add_first_seen(directory, kept, *listing, jobs); !added) return fail(added.error());
  return jobs;
}

std::string pruned_json(const std::vector<PrunedJob>& jobs, bool is_dry_run) {
  JsonWriter json;
  json.begin_map().key("count").integer(number(jobs.size())).key("dryRun").boolean(is_dry_run);
  json.key("records").begin_list();
  for (std::size_t i = 0; i < std::min(jobs.size(), kMostPrunedShown); ++i) {
    json.begin_map();
    write_text_or_null(json, "identity", jobs[i].identity);
    json.member("file", jobs[i].file).end_map();
  }
  return json.end_list().end_map().take();
}

}  // namespace kron::api
