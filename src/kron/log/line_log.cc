#include "kron/log/line_log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <unistd.h>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/env/descriptor.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

constexpr std::size_t kMostGathered = 1 << 16;

// A value that is JSON itself: it stands in a line as what it is, not as a text that holds it.
constexpr std::string_view kDocumentKey = "decision";

bool is_empty(const LogField& field) {
  const auto* text = std::get_if<std::string_view>(&field.value);
  return text != nullptr && text->empty();
}

std::string time_text(WallTime at) {
  const Instant second = std::chrono::floor<Seconds>(at);
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(at - second).count();
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(milliseconds));
  std::string text = rfc3339(second);
  text.pop_back();
  return text + fraction.data();
}

bool stands_bare(std::string_view text) {
  if (text.starts_with('{')) return parse_json(text).has_value();
  return is_valid_utf8(text) &&
         std::ranges::all_of(text, [](char c) { return (c > ' ' || c < 0) && c != '"' && c != '=' && c != '\x7f'; });
}

void append_quoted(std::string& line, std::string_view text) {
  line += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length > 1) {
      line += text.substr(0, length);
    } else if (c == '"' || c == '\\') {
      (line += '\\') += c;
    } else if (c == '\n' || c == '\t') {
      line += c == '\n' ? "\\n" : "\\t";
    } else {
      line += length == 0 || c < ' ' || c == '\x7f' ? '?' : c;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  line += '"';
}

}  // namespace

std::string_view name_of(LogLevel level) {
  constexpr std::array<std::string_view, 4> kNames{"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string text_line(WallTime at, LogLevel level, std::string_view event, std::span<const LogField> fields) {
  std::string line = time_text(at);
  (line += ' ') += name_of(level);
  (line += ' ') += event;
  for (const LogField& field : fields) {
    if (is_empty(field)) continue;
    ((line += ' ') += field.key) += '=';
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      line += std::to_string(*number);
    } else if (const auto text = std::get<std::string_view>(field.value); stands_bare(text)) {
      line += text;
    } else {
      append_quoted(line, text);
    }
  }
  return line;
}

std::string json_line(WallTime at, LogLevel level, std::string_view event, std::span<const LogField> fields) {
  JsonWriter json;
  json.begin_map().member("ts", time_text(at)).member("level", name_of(level)).member("event", event);
  for (const LogField& field : fields) {
    if (is_empty(field)) continue;
    json.key(field.key);
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      json.integer(*number);
      continue;
    }
    const auto text = std::get<std::string_view>(field.value);
    const Result<Node> document = field.key == kDocumentKey ? parse_json(text) : fail(Code::invalid, "");
    if (document) {
      json.node(*document);
    } else {
      json.text(text);
    }
  }
  return json.end_map().take();
}

LineLog::LineLog(int descriptor, const Clock& clock, LogFormat format, LogLevel least)
    : descriptor_(descriptor), clock_(clock), format_(format), least_(least) {}

void LineLog::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (level < least_) return;
  const auto line_of = format_ == LogFormat::json ? json_line : text_line;
  const std::string line = line_of(clock_.wall(), level, event, fields);
  const std::scoped_lock lock(mutex_);
  (lines_ += line) += '\n';
  const bool may_wait = level != LogLevel::error && std::this_thread::get_id() == owner_;
  if (!may_wait || lines_.size() > kMostGathered) flush_lines();
}

void LineLog::flush() {
  const std::scoped_lock lock(mutex_);
  flush_lines();
}

// Nobody to tell when the log itself cannot be written: the daemon goes on without it.
void LineLog::flush_lines() {
  std::string_view rest = lines_;
  while (!rest.empty()) {
    const ssize_t written = uninterrupted([&] { return ::write(descriptor_, rest.data(), rest.size()); });
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  lines_.clear();
}

}  // namespace kron
