#pragma once

#include <string>
#include <string_view>

namespace kron {

// The names of all that a task queue keeps in Redis (docs/formats.md, "Tasks in Redis"). Scripts are given prefix() and
// make the others of it: which tasks a lease touches is known only there.
class RedisQueueKeys {
 public:
  explicit RedisQueueKeys(std::string_view name_space) : wake_(name_space), prefix_(name_space) {
    wake_ += ":kron:wake";
    prefix_ += ":kron:q:";
  }

  [[nodiscard]] const std::string& wake() const { return wake_; }  // the channel
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

  [[nodiscard]] std::string task(std::string_view id) const { return of("t:") += id; }
  [[nodiscard]] std::string effects(std::string_view id) const { return of("effects:") += id; }
  [[nodiscard]] std::string limits() const { return of("limits"); }
  [[nodiscard]] std::string of(std::string_view rest) const { return prefix_ + std::string(rest); }

 private:
  std::string wake_;
  std::string prefix_;
};

}  // namespace kron
