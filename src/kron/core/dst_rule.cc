#include "kron/core/dst_rule.h"

#include <algorithm>
#include <array>

#include "kron/base/text.h"
#include "kron/core/words.h"

namespace kron {
namespace {

using Gap = DstRule::Gap;
using Overlap = DstRule::Overlap;

constexpr std::array kGaps{Word{Gap::run, "run"}, Word{Gap::skip, "skip"}};
constexpr std::array kOverlaps{Word{Overlap::first, "first"}, Word{Overlap::second, "second"},
                               Word{Overlap::both, "both"}};

template <class Enum, std::size_t N>
Status set_part(Enum& part, std::string_view text, const std::array<Word<Enum>, N>& words, std::string_view what,
                bool& given) {
  if (given) return fail(Code::invalid, std::string(what) + " is given twice; expected it once", "dst");
  given = true;
  const Result<Enum> value = parse_word(text, words, what, "dst");
  if (!value) return fail(value.error());
  part = *value;
  return {};
}

}  // namespace

Result<DstRule> parse_dst_rule(std::string_view text, DstRule otherwise) {
  constexpr std::string_view kGap = "gap=";
  constexpr std::string_view kOverlap = "overlap=";
  DstRule rule = otherwise;
  bool gap_given = false;
  bool overlap_given = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = trimmed(text.substr(at, end - at));
    Status status = fail(Code::invalid,
                         "unknown DST rule " + quoted(part) +
                             "; expected gap=run|skip and overlap=first|second|both, separated by a comma",
                         "dst");
    if (part.starts_with(kGap)) status = set_part(rule.gap, part.substr(kGap.size()), kGaps, "gap", gap_given);
    if (part.starts_with(kOverlap)) {
      status = set_part(rule.overlap, part.substr(kOverlap.size()), kOverlaps, "overlap", overlap_given);
    }
    if (!status) {
      status.error().column = at + 1;
      return fail(std::move(status.error()));
    }
    at = end + 1;
  }
  return rule;
}

std::string to_string(const DstRule& rule) {
  return "gap=" + std::string(word_of(rule.gap, kGaps)) + ",overlap=" + std::string(word_of(rule.overlap, kOverlaps));
}

}  // namespace kron
