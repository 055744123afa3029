#include "kron/operator/cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

constexpr std::size_t kMostGone = 64;
// Even when its window was shorter: it may be made anew with a longer one.
constexpr Seconds kShortestMemory{24 * 3600};

template <class T>
void push_limited(std::vector<T>& list, T item) {
  if (list.size() >= kMostGone) list.erase(list.begin());
  list.push_back(std::move(item));
}

void add_gone(CacheEntry& entry, std::string_view uid) {
  if (std::ranges::find(entry.gone, uid) == entry.gone.end()) push_limited(entry.gone, std::string(uid));
}

auto find_job(CacheEntry& entry, std::string_view name) {
  return std::ranges::find(entry.jobs, name, [](const JobView& job) { return std::string_view(job.meta.name); });
}

bool is_no_news(const kube::ObjectMeta& heard, const kube::ObjectMeta& known) {
  if (heard.ns != known.ns || heard.name != known.name || heard.uid != known.uid) return false;
  return heard.resource_version == known.resource_version ||
         kube::is_older(heard.resource_version, known.resource_version);
}

// Its identity, if that can be true: a Job belongs to a KronJob of its own namespace.
std::string_view home_of(const JobView& job, std::string_view asked_by) {
  const std::string_view identity = job.identity;
  const bool is_true =
      identity.size() > job.meta.ns.size() && identity.starts_with(job.meta.ns) && identity[job.meta.ns.size()] == '/';
  return is_true ? identity : asked_by;
}

Instant windows_closed(const KronJobView& kron_job, const JobState& handled, Instant now) {
  Instant until = now + kShortestMemory;
  if (kron_job.job && handled.last_handled) {
    until = std::max(until, window_of(kron_job.job->window, *handled.last_handled).end + kShortestMemory);
  }
  return until;
}

}  // namespace

void Cache::put(KronJobView kron_job, Instant now) {
  CacheEntry& entry = changed(entries_[kron_job.identity]);
  const std::string& version = kron_job.meta.resource_version;
  if (!entry.removed_version.empty() && !kube::is_older(entry.removed_version, version)) return;
  if (entry.kron_job) {
    if (kube::is_older(version, entry.kron_job->meta.resource_version)) return;
    // Deleted and made anew, and nobody told us of the first half.
    if (entry.kron_job->meta.uid != kron_job.meta.uid) bury(entry, now);
  }
  entry.kron_job = std::move(kron_job);
}

void Cache::put(JobView job, std::string_view asked_by) {
  const std::string identity(home_of(job, asked_by));
  if (identity.empty()) return;
  const std::string key = identity_of(job.meta.ns, job.meta.name);
  if (const auto kept = owners_.find(key); kept != owners_.end() && kept->second != identity) {
    CacheEntry& before = changed(entries_[kept->second]);
    if (const auto old = find_job(before, job.meta.name); old != before.jobs.end()) {
      if (kube::is_older(job.meta.resource_version, old->meta.resource_version)) return;
      before.jobs.erase(old);
    }
  }
  CacheEntry& entry = changed(entries_[identity]);
  if (std::ranges::find(entry.gone, job.meta.uid) != entry.gone.end()) return;
  const auto removed =
      std::ranges::find(entry.removed_jobs, job.meta.name, &std::pair<std::string, std::string>::first);
  if (removed != entry.removed_jobs.end()) {
    // The same version is one that only lost its label.
    if (kube::is_older(job.meta.resource_version, removed->second)) return;
    entry.removed_jobs.erase(removed);
  }
  owners_[key] = identity;
  const auto known = find_job(entry, job.meta.name);
  if (known == entry.jobs.end()) {
    entry.jobs.push_back(std::move(job));
    return;
  }
  if (kube::is_older(job.meta.resource_version, known->meta.resource_version)) return;
  // A name is one object's at a time: the one before is gone for good.
  if (known->meta.uid != job.meta.uid) add_gone(entry, known->meta.uid);
  *known = std::move(job);
}

void Cache::bury(CacheEntry& entry, Instant now) {
  const KronJobView& last = *entry.kron_job;
  JobState handled = last.status.handled.value_or(JobState());
  // One that never wrote its status has not run; what is remembered of the one before it still counts.
  if (!last.status.handled && entry.tombstone) handled = entry.tombstone->handled;
  const Instant until = windows_closed(last, handled, now);
  entry.tombstone = {last.meta.uid, std::move(handled), until};
  entry.kron_job.reset();
  entry.trial.reset();
  entry.refusal.reset();
  entry.trouble.reset();
}

void Cache::remove_kron_job(std::string_view identity, std::string_view version, Instant now, const KronJobView* last) {
  const auto found = entries_.find(identity);
  if (found == entries_.end() || !found->second.kron_job) return;
  CacheEntry& entry = changed(found->second);
  if (kube::is_older(version, entry.kron_job->meta.resource_version)) return;
  if (last != nullptr && last->meta.uid == entry.kron_job->meta.uid) entry.kron_job = *last;
  entry.removed_version = version;
  bury(entry, now);
}

void Cache::remove_job(std::string_view ns, std::string_view name, std::string_view uid, std::string_view version) {
  const auto owner = owners_.find(identity_of(ns, name));
  if (owner == owners_.end()) return;
  CacheEntry& entry = changed(entries_[owner->second]);
  const auto known = find_job(entry, name);
  if (known == entry.jobs.end() || known->meta.uid != uid) return;
  if (kube::is_older(version, known->meta.resource_version)) return;
  entry.jobs.erase(known);
  owners_.erase(owner);
  push_limited(entry.removed_jobs, std::pair(std::string(name), std::string(version)));
}

void Cache::note_gone(std::string_view identity, std::string_view uid) {
  CacheEntry* entry = find(identity);
  if (entry == nullptr) return;
  add_gone(*entry, uid);
  const auto known =
      std::ranges::find(entry->jobs, uid, [](const JobView& job) { return std::string_view(job.meta.uid); });
  if (known == entry->jobs.end()) return;
  owners_.erase(identity_of(known->meta.ns, known->meta.name));
  entry->jobs.erase(known);
}

bool Cache::has_kron_job(const kube::ObjectMeta& meta) const {
  const CacheEntry* entry = find(identity_of(meta.ns, meta.name));
  return entry != nullptr && entry->kron_job && is_no_news(meta, entry->kron_job->meta);
}

bool Cache::has_job(const kube::ObjectMeta& meta) const {
  const auto owner = owners_.find(identity_of(meta.ns, meta.name));
  const CacheEntry* entry = owner != owners_.end() ? find(owner->second) : nullptr;
  return entry != nullptr &&
         std::ranges::any_of(entry->jobs, [&](const JobView& job) { return is_no_news(meta, job.meta); });
}

std::optional<Seen> Cache::seen(std::string_view identity) const {
  const CacheEntry* entry = find(identity);
  if (entry == nullptr || !entry->kron_job) return std::nullopt;
  const auto pointer = [](const auto& part) { return part ? &*part : nullptr; };
  return Seen{.kron_job = *entry->kron_job,
              .jobs = entry->jobs,
              .predecessor = entry->tombstone ? &entry->tombstone->handled : nullptr,
              .answered = entry->gone,
              .trial = pointer(entry->trial),
              .refusal = pointer(entry->refusal),
              .trouble = pointer(entry->trouble)};
}

const KronJobView* Cache::kron_job(std::string_view identity) const {
  const CacheEntry* entry = find(identity);
  return entry != nullptr && entry->kron_job ? &*entry->kron_job : nullptr;
}

const CacheEntry* Cache::find(std::string_view identity) const {
  const auto found = entries_.find(identity);
  return found != entries_.end() ? &found->second : nullptr;
}

CacheEntry* Cache::find(std::string_view identity) {
  const auto found = entries_.find(identity);
  return found != entries_.end() ? &changed(found->second) : nullptr;
}

CacheEntry& Cache::changed(CacheEntry& entry) {
  entry.revision = ++revisions_;
  return entry;
}

std::vector<std::string> Cache::identities() const {
  std::vector<std::string> all;
  for (const auto& [identity, entry] : entries_) all.push_back(identity);
  return all;
}

std::string Cache::keeper_of(std::string_view ns, std::string_view job) const {
  const auto found = owners_.find(identity_of(ns, job));
  return found != owners_.end() ? found->second : std::string();
}

void Cache::expire(Instant now) {
  for (auto item = entries_.begin(); item != entries_.end();) {
    CacheEntry& entry = changed(item->second);
    if (entry.tombstone && entry.tombstone->until <= now) entry.tombstone.reset();
    const bool is_over = !entry.kron_job && !entry.tombstone && entry.jobs.empty();
    item = is_over ? entries_.erase(item) : std::next(item);
  }
}

}  // namespace kron::kronjobs
