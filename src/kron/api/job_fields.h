#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/http/message.h"

namespace kron::api {

// Which members of a JobSummary are wanted: `fields=identity,next,outcomes&outcomes=20`. The name is always among them,
// and `definition`, which is long, only when it is named.
class JobFields {
 public:
  // All of a summary, and as many letters of the last outcomes.
  static JobFields all(std::size_t outcomes);
  // Code invalid: a member that there is not, or a wrong number of outcomes.
  static Result<JobFields> in(const http::Request& request);

  bool has(std::string_view member) const { return wanted_.contains(member); }
  std::size_t outcomes() const { return outcomes_; }

 private:
  std::set<std::string, std::less<>> wanted_;
  std::size_t outcomes_ = 0;
};

}  // namespace kron::api
