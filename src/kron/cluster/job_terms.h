#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kron/base/instant.h"

namespace kron::cluster {

// What the scripts must know of a job and the scheduler's steps do not say.
struct JobTerms {
  bool locked = true;
  std::string lock_name;  // never empty when locked
  Seconds ttl{60};
  Seconds deadline{1};
  Instant read_at;  // when this definition was read, by the cluster's clock

  bool operator==(const JobTerms&) const = default;
};

// Name of a job -> its terms: those of the jobs that this host's scheduler has. Written by the loop, read by whoever
// writes steps or reads lists. Any thread.
class JobTermsTable {
 public:
  using Map = std::unordered_map<std::string, JobTerms>;

  void set(Map terms) {
    const std::lock_guard lock(mutex_);
    table_.swap(terms);
  }
  void set(const std::string& name, JobTerms terms) {
    const std::lock_guard lock(mutex_);
    table_.insert_or_assign(name, std::move(terms));
  }
  void erase(const std::string& name) {
    const std::lock_guard lock(mutex_);
    table_.erase(name);
  }

  [[nodiscard]] std::optional<JobTerms> find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto known = table_.find(name);
    return known == table_.end() ? std::nullopt : std::optional(known->second);
  }
  [[nodiscard]] bool contains(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return table_.contains(name);
  }
  [[nodiscard]] std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    names.reserve(table_.size());
    for (const auto& [name, terms] : table_) names.push_back(name);
    return names;
  }

 private:
  mutable std::mutex mutex_;
  Map table_;
};

}  // namespace kron::cluster
