#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kron/operator/reconcile.h"

namespace kron::kronjobs {

// What is left of a KronJob that was deleted: one that is made anew under its name must not repeat its periods.
struct Tombstone {
  std::string uid;
  JobState handled;
  Instant until;  // its windows have closed by then
};

// All that is known about one identity.
struct CacheEntry {
  std::optional<KronJobView> kron_job = {};
  std::vector<JobView> jobs = {};
  std::vector<std::string> gone = {};  // uids of Jobs that the server said do not exist any more, oldest first
  std::optional<Trial> trial = {};
  std::optional<Refusal> refusal = {};
  std::optional<Trouble> trouble = {};
  std::optional<Tombstone> tombstone = {};

  // Versions below which nothing is news: of the KronJob as it was deleted, and of Jobs by name.
  std::string removed_version = {};
  std::vector<std::pair<std::string, std::string>> removed_jobs = {};

  std::uint64_t revision = 0;  // another one whenever anything of it may have changed
};

// KronJobs and Jobs as seen last, by identity: from lists, from events and from the answers to our own calls, whichever
// is newest. Events may come late, twice or never; the versions of objects say what is older. A value.
class Cache {
 public:
  // Nothing happens when the object is older than what is known.
  void put(KronJobView kron_job, Instant now);
  // `asked_by`: the identity that has asked for this name, and gets it even when it is not one of its Jobs.
  void put(JobView job, std::string_view asked_by = {});

  // `last`: as it was when it was deleted, if that is known. The identity's periods are remembered.
  void remove_kron_job(std::string_view identity, std::string_view version, Instant now,
                       const KronJobView* last = nullptr);
  // It has left our sight, with this version: deleted, or its label was taken off. That is no answer about its gate.
  void remove_job(std::string_view ns, std::string_view name, std::string_view uid, std::string_view version);
  // The server has said that there is no Job of this uid any more, and there never will be.
  void note_gone(std::string_view identity, std::string_view uid);

  // Whether it is known in this version or a newer one: events that repeat what our own calls were answered are no
  // news.
  [[nodiscard]] bool has_kron_job(const kube::ObjectMeta& meta) const;
  [[nodiscard]] bool has_job(const kube::ObjectMeta& meta) const;

  // What reconcile takes; refers to the cache. None: no such KronJob.
  [[nodiscard]] std::optional<Seen> seen(std::string_view identity) const;
  // As it is known, or null.
  [[nodiscard]] const KronJobView* kron_job(std::string_view identity) const;
  [[nodiscard]] const CacheEntry* find(std::string_view identity) const;
  [[nodiscard]] CacheEntry* find(std::string_view identity);  // to change it
  [[nodiscard]] std::vector<std::string> identities() const;
  // The identity that this Job is kept with; empty: it is not known.
  [[nodiscard]] std::string keeper_of(std::string_view ns, std::string_view job) const;

  // Forgets the tombstones of KronJobs whose windows have closed, and what is left of identities that are gone.
  void expire(Instant now);

 private:
  void bury(CacheEntry& entry, Instant now);
  CacheEntry& changed(CacheEntry& entry);

  std::map<std::string, CacheEntry, std::less<>> entries_;
  std::unordered_map<std::string, std::string> owners_;  // "namespace/job" → the identity it is kept with
  std::uint64_t revisions_ = 0;
};

}  // namespace kron::kronjobs
