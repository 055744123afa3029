#include "kron/forecast/refusal.h"

namespace kron {

Refusals::Refusals(const Constraints& constraints) {
  const auto take = [&](ConstraintSet Constraints::*side, auto ConstraintSet::*kind) {
    Constraints one_kind;
    (one_kind.*side).*kind = (constraints.*side).*kind;
    if (!one_kind.empty()) parts_.push_back({one_kind, summary_of(one_kind)});
  };
  for (ConstraintSet Constraints::*side : {&Constraints::only, &Constraints::avoid}) {
    take(side, &ConstraintSet::hours);
    take(side, &ConstraintSet::weekdays);
    take(side, &ConstraintSet::days);
    take(side, &ConstraintSet::months);
    take(side, &ConstraintSet::between);
    take(side, &ConstraintSet::dates);
    take(side, &ConstraintSet::calendars);
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
