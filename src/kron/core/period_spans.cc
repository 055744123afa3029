#include "kron/core/period_spans.h"

#include <algorithm>
#include <utility>

namespace kron {
bool in_spans(const std::vector<Span>& spans, Instant t) {
  return std::ranges::any_of(spans, [&](const Span& s) { return s.first <= t && t <= s.last; });
}

void cut_from_spans(std::vector<Span>& spans, Instant first, Instant last) {
  std::vector<Span> kept;
  kept.reserve(spans.size() + 1);
  for (const Span& span : spans) {
    if (span.last < first || span.first > last) {
      kept.push_back(span);
      continue;
    }
    if (span.first < first) kept.push_back({span.first, first - kOneSecond});
    if (span.last > last) kept.push_back({last + kOneSecond, span.last});
  }
  spans = std::move(kept);
}

void add_span(std::vector<Span>& spans, Span added) {
  std::vector<Span> merged;
  merged.reserve(spans.size() + 1);
  for (const Span& span : spans) {
    if (span.last + kOneSecond < added.first || added.last + kOneSecond < span.first) {
      merged.push_back(span);
    } else {
      added = {std::min(added.first, span.first), std::max(added.last, span.last)};
    }
  }
  merged.push_back(added);
  std::ranges::sort(merged, {}, &Span::first);
  spans = std::move(merged);
}

}  // namespace kron
