#pragma once

#include <string>
#include <vector>

#include "kron/core/constraints.h"

namespace kron {

// Which clause of a job's constraints refuses a time: the constraints taken apart by kind.
class Refusals {
 public:
  explicit Refusals(const Constraints& constraints);

  // "avoid dates=2026-12-24..2026-12-26", the first that refuses; empty when the time is allowed.
  [[nodiscard]] const std::string& of(const CivilTime& candidate) const;

 private:
  struct Part {
    Constraints one_kind;
    std::string text;
  };
  std::vector<Part> parts_;
};

}  // namespace kron
