#include "kron/forecast/refusal.h"

namespace kron {

Refusals::Refusals(const Constraints& constraints) {
  for (ConstraintSet Constraints::*side : {&Constraints::only, &Constraints::avoid}) {
    for (ConstraintSet& kind : kinds_of(constraints.*side)) {
      Constraints one_kind;
      one_kind.*side = std::move(kind);
      parts_.push_back({one_kind, summary_of(one_kind)});
    }
  }
}

const std::string& Refusals::of(const CivilTime& candidate) const {
  static const std::string kAllowed;
  for (const Part& part : parts_) {
    if (!part.one_kind.allow(candidate)) return part.text;
  }
  return kAllowed;
}

}  // namespace kron
