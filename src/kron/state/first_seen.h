#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/hash_index.h"
#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

// First sight of jobs that have no record yet. A daemon's first start adds a million at once, its next ones ask for as
// many: the identities stand one behind the other in one text.
class FirstSeen {
 public:
  FirstSeen() = default;
  FirstSeen(std::initializer_list<std::pair<std::string_view, Instant>> jobs);

  void reserve(std::size_t jobs);
  // When the job was first seen: `at`, and it is added, unless it is there already.
  Instant add(std::string_view identity, Instant at);
  [[nodiscard]] std::optional<Instant> find(std::string_view identity) const;

  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] std::string_view identity(std::size_t i) const {
    return std::string_view(identities_).substr(jobs_[i].begin, jobs_[i].size);
  }
  [[nodiscard]] Instant at(std::size_t i) const { return jobs_[i].at; }

 private:
  struct Job {
    Instant at;
    std::size_t begin;  // in identities_
    std::size_t size;
  };

  std::string identities_;
  std::vector<Job> jobs_;
  HashIndex index_;
};

// As kept in first-seen.json:
//   {"Version":"1","FirstSeen":[{"At":"2026-03-01T00:00:00Z","Identities":["a","b"]}]}
// Jobs seen by the same load share one entry, so that a million new jobs cost little more than their names.
std::string first_seen_text(const FirstSeen& jobs);
Result<FirstSeen> parse_first_seen(std::string_view text);

// As kept in first-seen.recorded-<number>.json: {"Version":"1","Identities":["a","b"]}. These jobs have a record, or
// had one: what first-seen.json says of them counts no more.
std::string recorded_text(std::span<const std::string> identities);
Result<std::vector<std::string>> parse_recorded(std::string_view text);

}  // namespace kron
