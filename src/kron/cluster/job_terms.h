#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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

// Name of a job -> its terms, as the job list was read last. Written by the loop, read by whoever writes steps.
class JobTermsTable {
 public:
  using Map = std::unordered_map<std::string, JobTerms>;

  void set(Map terms) {
    auto table = std::make_shared<const Map>(std::move(terms));
    const std::lock_guard lock(mutex_);
    table_ = std::move(table);
  }

  [[nodiscard]] std::shared_ptr<const Map> get() const {
    const std::lock_guard lock(mutex_);
    return table_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Map> table_ = std::make_shared<const Map>();
};

}  // namespace kron::cluster
