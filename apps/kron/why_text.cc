#include "why_text.h"

#include <cstdio>

#include "answer_text.h"
#include "kron/base/rfc3339.h"

namespace kron::cli {
namespace {

constexpr std::size_t kLengthOfTime = std::string_view("2026-03-01T00:00:00Z").size();

bool is_time(std::string_view text) {
  return text.size() == kLengthOfTime && text.back() == 'Z' && parse_rfc3339(text).has_value();
}

}  // namespace

std::string with_screen_times(std::string_view sentence, const ScreenTimes& times) {
  std::string text;
  while (!sentence.empty()) {
    const std::string_view word = sentence.substr(0, kLengthOfTime);
    if (is_time(word)) {
      text += times.at(word);
      sentence.remove_prefix(word.size());
    } else {
      text += sentence.front();
      sentence.remove_prefix(1);
    }
  }
  return text;
}

void print_why(const Node& answer, const ScreenTimes& times) {
  const auto sentence = [&](std::string_view name) { return with_screen_times(text_in(answer, name), times); };
  std::printf("%s\n", harmless(sentence("sentence")).c_str());
  print_field("because", sentence("reason"));
  print_field("instead", sentence("instead"));
  if (const Node* period = answer.find("period"); period != nullptr && !period->is_null()) {
    const std::string chosen = text_in(*period, "chosenTime");
    print_field("period", times.at(text_in(*period, "periodId")) +
                              (chosen.empty() ? ", no time" : ", chosen " + times.at(chosen)));
  }
  if (const Node* entry = answer.find("entry"); entry != nullptr && !entry->is_null()) {
    print_field("run", text_in(*entry, "runId"));
  }
  if (const Node* next = answer.find("next"); next != nullptr && !next->is_null()) {
    print_field("next", times.near(text_in(*next, "startsAt")));
  }
}

}  // namespace kron::cli
