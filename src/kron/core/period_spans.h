#pragma once

#include <vector>

#include "kron/core/state.h"

// Spans of nominal time: ascending, disjoint, whole seconds, both ends included. Internal to core/open_periods.
namespace kron {

inline constexpr Seconds kOneSecond{1};

[[nodiscard]] bool in_spans(const std::vector<Span>& spans, Instant t);

// Takes [first, last] out, splitting where needed.
void cut_from_spans(std::vector<Span>& spans, Instant first, Instant last);

// Adds one, merging what touches. Not limited: who adds limits in the end.
void add_span(std::vector<Span>& spans, Span added);

}  // namespace kron
