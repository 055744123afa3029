#include "kron/jobs/problem.h"

#include <algorithm>
#include <utility>

namespace kron::jobs {
namespace {

constexpr std::size_t kMostShown = 160;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Cuts a long line to a stretch around the caret, never inside a UTF-8 sequence.
void show(Problem& problem, std::string_view line) {
  std::size_t column = problem.at.column;
  if (column > line.size() + 1) column = line.size() + 1;
  std::size_t first = 0;
  if (line.size() > kMostShown && column > kMostShown / 2) first = column - kMostShown / 2;
  while (first > 0 && first < line.size() && is_continuation(line[first])) --first;
  std::size_t size = std::min(kMostShown, line.size() - first);
  while (size > 0 && first + size < line.size() && is_continuation(line[first + size])) --size;
  problem.source_line = std::string(line.substr(first, size));
  problem.caret = column > first ? column - first : 0;
}

// The place a dotted field names: of the key when `column` is 0 and otherwise of that column of its value. Keys may
// hold dots themselves, so the longest that fits is followed. What is not there is placed at the map that lacks it.
Position place_of(const Node& root, std::string_view field, std::size_t column) {
  Position at = root.position();
  for (const Node* node = &root; const auto* map = node->as<Node::Map>();) {
    const Node::Member* next = nullptr;
    for (const Node::Member& member : *map) {
      const bool fits =
          field.starts_with(member.key) && (field.size() == member.key.size() || field[member.key.size()] == '.');
      if (fits && (next == nullptr || member.key.size() > next->key.size())) next = &member;
    }
    if (next == nullptr) return at;
    field.remove_prefix(std::min(field.size(), next->key.size() + 1));
    node = &next->value;
    at = node->position();
    if (!field.empty()) continue;
    if (column == 0) return next->position;
    if (node->as<std::string>() != nullptr) at.column += column - 1;
    return at;
  }
  return at;
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

std::string text_of(const Problem& problem) {
  std::string text = problem.file;
  if (problem.at.line != 0) text += ":" + std::to_string(problem.at.line);
  if (problem.at.line != 0 && problem.at.column != 0) text += ":" + std::to_string(problem.at.column);
  text += ": " + std::string(name_of(problem.severity)) + ": " + problem.message + "\n";
  if (!problem.source_line.empty()) {
    std::string shown = problem.source_line;
    std::ranges::replace_if(
        shown, [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F; }, '?');
    text += "    " + shown + "\n";
    if (problem.caret != 0) {
      text += "    ";
      for (const char c : std::string_view(shown).substr(0, problem.caret - 1)) {
        if (!is_continuation(c)) text += c == '\t' ? '\t' : ' ';
      }
      text += "^\n";
    }
  }
  if (!problem.cure.empty()) text += "    hint: " + problem.cure + "\n";
  return text;
}

Error error_of(const Problem& problem) {
  std::string message = problem.message;
  if (!problem.cure.empty()) message += "; " + problem.cure;
  return Error{Code::invalid, std::move(message), problem.field, problem.at.column};
}

void Report::error(Position at, std::string field, std::string message, std::string cure) {
  add(Severity::error, at, std::move(field), std::move(message), std::move(cure));
}

void Report::errors(const std::vector<Error>& errors, const Node& root) {
  for (const Error& found : errors) {
    const std::size_t cut = found.message.find("; ");
    std::string message = found.message.substr(0, cut);
    if (!message.starts_with("unknown key") && !message.starts_with("the job has no")) {
      message = found.field + ": " + message;
    }
    error(place_of(root, found.field, found.column), found.field, std::move(message),
          cut == std::string::npos ? "" : found.message.substr(cut + 2));
  }
}

void Report::warn(Position at, std::string field, std::string message, std::string cure) {
  add(Severity::warning, at, std::move(field), std::move(message), std::move(cure));
}

void Report::note(Position at, std::string field, std::string message, std::string cure) {
  add(Severity::note, at, std::move(field), std::move(message), std::move(cure));
}

void Report::add(Severity severity, Position at, std::string field, std::string message, std::string cure) {
  // Counted even when it was said before: the definition that met it again is refused all the same.
  if (severity == Severity::error) ++error_count_;
  if (!said_.insert(std::to_string(at.line) + ":" + std::to_string(at.column) + ":" + message).second) return;
  Problem problem{severity, file_, at, std::move(field), std::move(message), std::move(cure), {}, 0};
  if (at.line != 0) show(problem, line(at.line));
  problems_.push_back(std::move(problem));
}

void Report::index_lines() {
  if (!line_starts_.empty()) return;
  line_starts_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string_view::npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
}

std::string_view Report::line(std::size_t number) {
  index_lines();
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t first = line_starts_[number - 1];
  const std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  std::string_view found = text_.substr(first, end - first);
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

Position Report::position_of(std::size_t offset) {
  index_lines();
  const auto after = std::ranges::upper_bound(line_starts_, offset);
  const auto index = static_cast<std::size_t>(after - line_starts_.begin()) - 1;
  return {index + 1, offset - line_starts_[index] + 1};
}

}  // namespace kron::jobs
