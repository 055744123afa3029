#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/web/sessions.h"

namespace kron::web {

// Wrong tokens of many addresses (http::network_of): each has a LoginLimit, and all together no more than
// kMostInASecond are told that they are wrong. A right one is never turned away. From any thread.
class LoginLimits {
 public:
  static constexpr int kMostInASecond = 20;
  static constexpr std::size_t kMostAddresses = 4096;  // one more, and the one that came longest ago is forgotten

  // A wrong token came. Nothing: it is told so; else how long whoever sent it shall wait.
  std::optional<Seconds> wrong(const std::string& key, Nanoseconds now);
  void right(const std::string& key);
  // Whether one who is wrong now would be turned away.
  std::optional<Seconds> waits(const std::string& key, Nanoseconds now) const;

 private:
  struct Known {
    LoginLimit limit = {};
    Nanoseconds last{0};
  };
  void forget_oldest();

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
  Nanoseconds second_{-1};  // the one that is counted
  int in_second_ = 0;
};

}  // namespace kron::web
