#include "kron/jobs/line_scanner.h"

#include <array>

namespace kron::jobs {
namespace {

using Stop = LineScanner::Stop;

// What a character may be, as bits: those of Stop, and these. Every character of a file is asked about.
constexpr std::uint8_t kQuote = 8;
constexpr std::uint8_t kBackslash = 16;
constexpr std::uint8_t kKey = 32;

constexpr auto kKinds = [] {
  std::array<std::uint8_t, 256> kinds{};
  const auto mark = [&](std::string_view characters, std::uint8_t bits) {
    for (const char c : characters) kinds[static_cast<unsigned char>(c)] |= bits;
  };
  mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", kKey);
  mark(" \t", static_cast<std::uint8_t>(Stop::blank));
  mark(",)", static_cast<std::uint8_t>(Stop::argument_end));
  mark(")", static_cast<std::uint8_t>(Stop::modifier_end));
  mark("\"", kQuote);
  mark("\\", kBackslash);
  return kinds;
}();

bool is_any(char c, std::uint8_t bits) { return (kKinds[static_cast<unsigned char>(c)] & bits) != 0; }

// Where the first of these stands.
std::size_t find(std::string_view text, std::size_t from, std::uint8_t bits) {
  while (from < text.size() && !is_any(text[from], bits)) ++from;
  return from;
}

}  // namespace

std::size_t LineScanner::key_end(std::size_t from) const {
  while (from < text_.size() && is_any(text_[from], kKey)) ++from;
  return from;
}

bool LineScanner::at_field() const {
  const std::size_t end = key_end(at_);
  return end > at_ && end < text_.size() && text_[end] == '=';
}

bool LineScanner::at_modifier() const {
  if (at_end() || text_[at_] != '@') return false;
  const std::size_t end = key_end(at_ + 1);
  return end < text_.size() && text_[end] == '(';
}

std::string_view LineScanner::take_key() {
  const std::size_t start = at_;
  at_ = key_end(at_);
  return text_.substr(start, at_ - start);
}

std::string_view LineScanner::take_to_blank() {
  const std::size_t start = at_;
  at_ = find(text_, at_, static_cast<std::uint8_t>(Stop::blank));
  return text_.substr(start, at_ - start);
}

std::string_view LineScanner::take_schedule() {
  const std::size_t start = at_;
  std::size_t end = at_;
  while (skip_blanks(), !at_end() && !at_modifier() && !at_field()) {
    take_to_blank();
    end = at_;
  }
  return text_.substr(start, end - start);
}

// Both call see(text) for each piece of the value.
template <class See>
bool LineScanner::walk_quoted(See see) {
  opened_ = at_++;
  while (true) {
    const std::size_t start = at_;
    at_ = find(text_, at_, kQuote | kBackslash);
    see(text_.substr(start, at_ - start));
    if (at_end()) return false;
    if (take() == '"') return true;
    // The backslash stands for itself unless one of the two follows, which then stands for itself.
    const bool escapes = !at_end() && is_any(text_[at_], kQuote | kBackslash);
    see(text_.substr(escapes ? at_++ : at_ - 1, 1));
  }
}

template <class See>
bool LineScanner::walk_value(Stop stop, See see) {
  while (true) {
    const std::size_t start = at_;
    at_ = find(text_, at_, static_cast<std::uint8_t>(stop) | kQuote);
    see(text_.substr(start, at_ - start));
    if (!at_quote()) return true;
    if (!walk_quoted(see)) return false;
  }
}

bool LineScanner::take_value(Stop stop, std::string& value) {
  return walk_value(stop, [&](std::string_view piece) { value += piece; });
}

bool LineScanner::pass_value(Stop stop) {
  return walk_value(stop, [](std::string_view) {});
}

}  // namespace kron::jobs
