#include "kron/jobs/crontab_advice.h"

#include <algorithm>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

constexpr std::size_t kMostCommentBytes = 200;

bool is_number(char c) { return c >= '0' && c <= '9'; }
bool is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_number(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Something is open that has to be closed after it: a quote, $( or a backquote.
bool is_left_open(std::string_view text) {
  char quote = 0;
  int parentheses = 0;
  bool backquote = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '`') {
      backquote = !backquote;
    } else if (c == '$' && text.substr(i).starts_with("$(")) {
      ++parentheses;
    } else if (c == ')' && parentheses > 0) {
      --parentheses;
    }
  }
  return quote != 0 || parentheses != 0 || backquote;
}

// `m h dom mon dow`, the drawing above it, and entries that are commented out.
bool is_heading(std::string_view text) {
  const char first = text.front();
  const bool is_drawing = first == '.' || first == '|' || first == '-' || first == '*' || first == '=' || first == '#';
  const bool is_entry = is_number(first) || first == '@';
  const std::string words = lower(text);
  return is_drawing || is_entry || words.find("dom mon dow") != std::string::npos ||
         words.find("command to be executed") != std::string::npos;
}

}  // namespace

std::size_t mistaken_percent(std::string_view command) {
  std::size_t at = 0;
  while (at < command.size() && command[at] != '%') at += command[at] == '\\' ? 2 : 1;
  if (at >= command.size()) return std::string_view::npos;
  const std::string_view before = command.substr(0, at);
  const std::string_view after = command.substr(at + 1);
  const bool is_format = before.ends_with('+') && !after.empty() && is_word_letter(after.front());
  const bool is_address = after.size() >= 2 && is_number(after[0]) && is_hex(after[1]) && !before.ends_with(' ');
  return is_format || is_address || is_left_open(before) ? at : std::string_view::npos;
}

void CommentBlock::add(std::string_view line) {
  const std::size_t start = line.find_first_not_of("# \t");
  const std::string_view text = start == std::string_view::npos ? "" : trimmed(line.substr(start));
  if (text.empty()) return clear();
  if (is_heading(text)) is_header_ = true;
  if (text_.size() <= kMostCommentBytes) text_ += (text_.empty() ? "" : " ") + std::string(text);
}

std::string CommentBlock::take() {
  std::string text = is_header_ || !is_valid_utf8(text_) ? "" : std::move(text_);
  clear();
  if (text.size() > kMostCommentBytes) {
    std::size_t end = kMostCommentBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
  }
  std::ranges::replace_if(
      text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; }, ' ');
  return text;
}

}  // namespace kron::jobs
