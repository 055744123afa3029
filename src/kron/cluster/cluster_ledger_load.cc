// The records of `:kron:state`, as the ClusterLedger reads them, makes them and puts them back.
#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/cluster/cluster_ledger.h"

namespace kron::cluster {
namespace {

// Commands of one question: so many records that an answer takes milliseconds.
constexpr std::size_t kPagesAtOnce = 8;

// What is asserted again after lost writes.
constexpr Nanoseconds kAssertedSpan = std::chrono::minutes(1);
constexpr std::size_t kAssertedAtOnce = 200;

constexpr int kMostAttempts = 5;

Error no_record(const RedisReply& reply) {
  if (reply.is_reply()) return {Code::io, "Redis has answered something else"};
  return {reply.how == RedisReply::How::error ? Code::io : Code::unreachable,
          "the records of the jobs cannot be read: " + reply.why};
}

}  // namespace

Result<std::vector<KnownJob>> ClusterLedger::load(std::span<const std::string> identities, Instant t) {
  std::vector<std::string> unread;
  for (const std::string& identity : identities) {
    const std::string field = field_of(identity, terms_of(identity));
    const std::lock_guard lock(mutex_);
    const auto known = memory_.find(identity);
    const bool is_read =
        known != memory_.end() && std::exchange(known->second.is_prefetched, false) && known->second.field == field;
    if (!is_read) unread.push_back(identity);
  }
  if (const Status read = fetch(unread, {.now = t}); !read) return fail(read.error());
  std::vector<KnownJob> known;
  known.reserve(identities.size());
  for (const std::string& identity : identities) known.push_back(known_job(identity));
  return known;
}

Status ClusterLedger::prefetch(std::span<const std::string> identities, const JobTermsTable::Map& terms, Instant t) {
  if (const Status read = fetch(identities, {.now = t, .is_beside = true, .terms = &terms}); !read) return read;
  const std::lock_guard lock(mutex_);
  for (const std::string& identity : identities) memory_[identity].is_prefetched = true;
  return {};
}

KnownJob ClusterLedger::known_job(const std::string& identity) {
  KnownJob known;
  {
    const std::lock_guard lock(mutex_);
    Memory& memory = memory_[identity];
    memory.given = memory.record.revision;
    known.periods = memory.record.state.periods;
    known.unusable = memory.unusable;
    if (memory.record.state.alarm) known.owed = memory.record.state.alarm->owed;
  }
  if (world_.active_of) known.active = world_.active_of(identity);
  return known;
}

JobTerms ClusterLedger::terms_of(const std::string& identity) const {
  if (std::optional<JobTerms> known = world_.terms.find(identity)) return *std::move(known);
  JobTerms terms;
  terms.lock_name = identity;
  return terms;
}

std::string ClusterLedger::field_by(const std::string& identity, const Reading& reading) const {
  if (reading.terms == nullptr) return field_of(identity, terms_of(identity));
  const auto known = reading.terms->find(identity);
  return field_of(identity, known != reading.terms->end() ? known->second : JobTerms());
}

std::string ClusterLedger::field_of(std::string_view identity, const JobTerms& terms) const {
  std::string field(identity);
  // Each host runs it for itself.
  if (!terms.locked) (field += '\n') += world_.instance ? world_.instance() : options_.host;
  return field;
}

// Counts from a second that has not begun, and never from an earlier one, whatever the clock does: what was due before
// may have run.
ClusterRecord ClusterLedger::new_record(std::string_view identity, Instant first_seen) const {
  ClusterRecord record;
  record.state.identity = identity;
  record.state.periods.first_seen = first_seen;
  record.state.periods.first_seen_is_floor = true;
  return record;
}

// `found`: what stands there now; empty: nothing.
RestoreCall ClusterLedger::restore(const std::string& field, const ClusterRecord& record,
                                   const std::string& found) const {
  RestoreCall call{.field = field, .record = text_after_revision(record), .above = record.revision};
  if (found.empty()) return call;
  call.expect = RestoreCall::Expect::text;
  call.expected = found;
  const bool is_record = parse_cluster_record(found).has_value();
  if (!is_record) call.move_to = "corrupt\n" + field;
  return call;
}

void ClusterLedger::learn(const std::string& identity, const std::string& field, ClusterRecord record) {
  const std::lock_guard lock(mutex_);
  Memory& memory = memory_[identity];
  memory.touched = world_.clock.boot_time();
  // Answers may be taken in another order than they were given.
  if (memory.field == field && memory.record.revision > record.revision && memory.record.reset_at >= record.reset_at) {
    return;
  }
  memory.field = field;
  memory.record = std::move(record);
  memory.unusable.clear();
}

void ClusterLedger::give(const std::string& identity, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  memory_[identity].given = revision;
}

void ClusterLedger::report_lost_write(const std::string& identity, const ClusterRecord& seen,
                                      const ClusterRecord& found) {
  const auto text_of = [](const std::optional<Instant>& time) { return time ? rfc3339(*time) : std::string("none"); };
  world_.log.error("lost_write",
                   {{"identity", identity},
                    {"seen", text_of(seen.state.periods.last_handled)},
                    {"found", text_of(found.state.periods.last_handled)},
                    {"reason",
                     "Redis has forgotten what was written to the record of the job; what this host knows "
                     "of it is written again, and what it does not know may run twice"}});
  if (world_.on_lost_write) world_.on_lost_write();
}

// Beside the scheduler in smaller parts: its steps go by the same link.
Status ClusterLedger::fetch(std::span<const std::string> identities, const Reading& reading) {
  const std::size_t most = std::max<std::size_t>(options_.page, 1) * (reading.is_beside ? 1 : kPagesAtOnce);
  for (std::size_t first = 0; first < identities.size(); first += most) {
    const auto page = identities.subspan(first, std::min(most, identities.size() - first));
    if (const Status read = fetch_page(page, reading); !read) return read;
  }
  return {};
}

Status ClusterLedger::fetch_page(std::span<const std::string> identities, const Reading& reading) {
  std::vector<std::string> fields;
  std::vector<RedisCommand> commands;
  std::vector<ClusterRecord> known;  // before Redis is asked: what is written since is no lost write
  for (std::size_t i = 0; i < identities.size(); ++i) {
    if (i % std::max<std::size_t>(options_.page, 1) == 0) commands.push_back({"HMGET", world_.keys.state()});
    fields.push_back(field_by(identities[i], reading));
    commands.back().push_back(fields.back());
    const std::lock_guard lock(mutex_);
    const Memory& memory = memory_[identities[i]];
    known.push_back(memory.field == fields[i] ? memory.record : ClusterRecord());
  }
  std::vector<RedisValue> found;
  for (const TimedReply& reply : world_.link.ask(std::move(commands), options_.timeout)) {
    if (!reply.reply.is_reply() || reply.reply.value.kind != RedisValue::Kind::array) {
      return fail(no_record(reply.reply));
    }
    found.insert(found.end(), reply.reply.value.items.begin(), reply.reply.value.items.end());
  }
  if (found.size() != identities.size()) return fail(Code::io, "Redis has answered something else");
  std::vector<Absent> absent;
  std::vector<Restored> restored;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    const ClusterRecord& seen = known[i];
    const bool is_there = found[i].kind == RedisValue::Kind::text;
    if (!is_there && seen.revision == 0) {
      absent.push_back({identities[i], fields[i]});
      continue;
    }
    if (!is_there) {
      restored.push_back({identities[i], restore(fields[i], seen, {}), seen});
      continue;
    }
    Result<ClusterRecord> record = parse_cluster_record(found[i].text);
    if (!record && record.error().code == Code::refused) {
      const std::lock_guard lock(mutex_);
      Memory& memory = memory_[identities[i]];
      memory.field = fields[i];
      memory.unusable = record.error().message;
      continue;
    }
    if (!record) {
      world_.log.error("record_corrupt",
                       {{"identity", identities[i]},
                        {"reason", "what Redis has is no record: it is set aside, and the job begun anew: " +
                                       record.error().message}});
      const ClusterRecord anew =
          seen.revision != 0 ? seen : new_record(identities[i], std::max(reading.now, now(world_.clock)) + Seconds(2));
      restored.push_back({identities[i], restore(fields[i], anew, found[i].text), anew});
      continue;
    }
    const bool is_lost = seen.revision != 0 && record->reset_at <= seen.reset_at &&
                         (record->revision < seen.revision || has_forgotten(record->state.periods, seen.state.periods));
    if (!is_lost) {
      learn(identities[i], fields[i], *std::move(record));
      continue;
    }
    report_lost_write(identities[i], seen, *record);
    ClusterRecord both = *record;
    both.state.periods = merged(record->state.periods, seen.state.periods);
    both.revision = std::max(record->revision, seen.revision);
    restored.push_back({identities[i], restore(fields[i], both, found[i].text), both});
  }
  if (const Status done = put_back(std::move(restored)); !done) return done;
  return make_records(std::move(absent), reading);
}

// What somebody else has written meanwhile is taken as it is.
Status ClusterLedger::put_back(std::vector<Restored> restored) {
  if (restored.empty()) return {};
  std::vector<RedisCommand> commands;
  for (const Restored& one : restored) commands.push_back(one.call.command(world_.keys));
  const std::vector<TimedReply> replies = world_.link.ask(std::move(commands), options_.timeout);
  for (std::size_t i = 0; i < restored.size(); ++i) {
    const RedisReply& reply = replies[i].reply;
    if (!reply.is_reply()) return fail(no_record(reply));
    const Result<RestoreAnswer> answer = RestoreAnswer::parse(reply.value);
    if (!answer) return fail(answer.error());
    Restored& one = restored[i];
    if (answer->word == RestoreAnswer::Word::done) {
      one.record.revision = answer->revision;
      learn(one.identity, one.call.field, std::move(one.record));
      continue;
    }
    Result<ClusterRecord> record = parse_cluster_record(answer->record);
    if (!record) return fail(Code::conflict, "the record of " + quoted(one.identity, 200) + " keeps changing");
    learn(one.identity, one.call.field, *std::move(record));
  }
  return {};
}

Status ClusterLedger::make_records(std::vector<Absent> absent, const Reading& reading) {
  // Many pages may have been read since.
  Instant first_seen = (reading.is_beside ? now(world_.clock) : reading.now) + Seconds(1);
  for (int attempt = 0; !absent.empty(); ++attempt) {
    if (attempt == kMostAttempts) return fail(Code::conflict, "Redis's clock runs away from this host's");
    std::vector<RedisCommand> commands;
    std::vector<ClusterRecord> records;
    for (const Absent& one : absent) {
      records.push_back(new_record(one.identity, first_seen));
      commands.push_back(MakeCall{one.field, text_after_revision(records.back()), first_seen}.command(world_.keys));
    }
    const std::vector<TimedReply> replies = world_.link.ask(std::move(commands), options_.timeout);
    std::vector<Absent> again;
    for (std::size_t i = 0; i < absent.size(); ++i) {
      const RedisReply& reply = replies[i].reply;
      if (!reply.is_reply()) return fail(no_record(reply));
      const Result<MakeAnswer> answer = MakeAnswer::parse(reply.value);
      if (!answer) return fail(answer.error());
      switch (answer->word) {
        case MakeAnswer::Word::made:
          records[i].revision = answer->revision;
          learn(absent[i].identity, absent[i].field, std::move(records[i]));
          break;
        case MakeAnswer::Word::there: {
          Result<ClusterRecord> record = parse_cluster_record(answer->record);
          if (!record) return fail(record.error());
          learn(absent[i].identity, absent[i].field, *std::move(record));
          break;
        }
        case MakeAnswer::Word::early:
          first_seen = std::max(first_seen, answer->heading.second() + Seconds(2));
          again.push_back(absent[i]);
          break;
      }
    }
    absent = std::move(again);
  }
  return {};
}

Result<KnownJob> ClusterLedger::reset(std::string_view identity, Instant t, std::string_view /*boot_id*/) {
  const std::string name(identity);
  const std::string field = field_of(name, terms_of(name));
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::vector<TimedReply> read = world_.link.ask({{"HGET", world_.keys.state(), field}}, options_.timeout);
    if (!read[0].reply.is_reply()) return fail(no_record(read[0].reply));
    ClusterRecord anew = new_record(name, t + Seconds(1));
    const auto micros = std::chrono::floor<std::chrono::microseconds>(world_.clock.wall().time_since_epoch());
    anew.reset_at = static_cast<std::uint64_t>(std::max<std::int64_t>(micros.count(), 1));
    {
      const std::lock_guard lock(mutex_);
      anew.revision = memory_[name].record.revision;
    }
    const RestoreCall call = restore(field, anew, read[0].reply.value.text);
    const std::vector<TimedReply> replies = world_.link.ask({call.command(world_.keys)}, options_.timeout);
    if (!replies[0].reply.is_reply()) return fail(no_record(replies[0].reply));
    const Result<RestoreAnswer> answer = RestoreAnswer::parse(replies[0].reply.value);
    if (!answer) return fail(answer.error());
    if (answer->word != RestoreAnswer::Word::done) continue;
    anew.revision = answer->revision;
    learn(name, field, std::move(anew));
    return known_job(name);
  }
  return fail(Code::conflict, "the record of " + quoted(identity, 200) + " keeps changing; try again");
}

Result<bool> ClusterLedger::has_run(std::string_view /*identity*/, std::string_view run_id) {
  const std::vector<TimedReply> replies =
      world_.link.ask({{"HEXISTS", world_.keys.rundata(), std::string(run_id)}}, options_.timeout);
  const RedisReply& reply = replies[0].reply;
  if (!reply.is_reply()) {
    return fail(reply.how == RedisReply::How::error ? Code::io : Code::unreachable,
                "whether there was such a run cannot be asked of Redis: " + reply.why);
  }
  return reply.value.integer == 1;
}

void ClusterLedger::assert_what_is_known(const FenceWatch::Lost& lost) {
  world_.log.error("lost_writes",
                   {{"seen", static_cast<std::int64_t>(lost.seen)},
                    {"found", static_cast<std::int64_t>(lost.found)},
                    {"reason",
                     "Redis has lost writes, or another host has noticed that it has: what this host knows of the last "
                     "minute is written again; fencing tokens from before may have been granted twice"}});
  if (world_.on_lost_write) world_.on_lost_write();
  std::vector<Absent> recent;
  {
    const std::lock_guard lock(mutex_);
    const Nanoseconds t = world_.clock.boot_time();
    settled_at_ = t + options_.settling;
    for (const auto& [identity, memory] : memory_) {
      if (memory.record.revision != 0 && t - memory.touched <= kAssertedSpan)
        recent.push_back({identity, memory.field});
    }
  }
  for (std::size_t first = 0; first < recent.size(); first += kAssertedAtOnce) {
    const auto begin = recent.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = recent.begin() + static_cast<std::ptrdiff_t>(std::min(first + kAssertedAtOnce, recent.size()));
    std::vector<Absent> page(begin, end);
    RedisCommand command = {"HMGET", world_.keys.state()};
    for (const Absent& one : page) command.push_back(one.field);
    world_.link.post(std::move(command), Link::Urgency::urgent, [this, page](const TimedReply& reply) {
      if (!reply.reply.is_reply() || reply.reply.value.items.size() != page.size()) return;
      for (std::size_t i = 0; i < page.size(); ++i) take_asserted(page[i], reply.reply.value.items[i]);
    });
  }
}

// On the link's thread.
void ClusterLedger::take_asserted(const Absent& one, const RedisValue& found) {
  ClusterRecord seen;
  {
    const std::lock_guard lock(mutex_);
    const Memory& memory = memory_[one.identity];
    if (memory.field != one.field) return;
    seen = memory.record;
  }
  ClusterRecord wanted = seen;
  std::string text;
  if (found.kind == RedisValue::Kind::text) {
    const Result<ClusterRecord> record = parse_cluster_record(found.text);
    if (!record || record->reset_at > seen.reset_at || !has_forgotten(record->state.periods, seen.state.periods))
      return;
    report_lost_write(one.identity, seen, *record);
    text = found.text;
    wanted = *record;
    wanted.state.periods = merged(record->state.periods, seen.state.periods);
    wanted.revision = std::max(record->revision, seen.revision);
  }
  const RestoreCall call = restore(one.field, wanted, text);
  world_.link.post(call.command(world_.keys), Link::Urgency::urgent,
                   [this, one, wanted = std::move(wanted)](const TimedReply& reply) mutable {
                     if (!reply.reply.is_reply()) return;
                     const Result<RestoreAnswer> answer = RestoreAnswer::parse(reply.reply.value);
                     if (!answer || answer->word != RestoreAnswer::Word::done) return;
                     wanted.revision = answer->revision;
                     learn(one.identity, one.field, std::move(wanted));
                   });
}

}  // namespace kron::cluster
