#include "kron/log/line_log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

constexpr std::size_t kMostGathered = 1 << 16;

// The most frequent line, and what of it only a program or a bug report needs. Its text is for people: the rest is
// there with --log-level debug, and in JSON always.
constexpr std::string_view kCommonEvent = "run_started";
constexpr std::array<std::string_view, 5> kDetails{"nominalTime", "outcome", "seedHash", "pid", "decision"};

bool is_empty(const LogField& field) {
  if (const auto* json = std::get_if<LogJson>(&field.value)) return json->text.empty();
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

std::string_view text_of(std::span<const LogField> fields, std::string_view key) {
  const auto field = std::ranges::find(fields, key, &LogField::key);
  const auto* text = field == fields.end() ? nullptr : std::get_if<std::string_view>(&field->value);
  return text == nullptr ? std::string_view() : *text;
}

std::vector<LogField> without_details(std::span<const LogField> fields) {
  const bool is_at_nominal_time = text_of(fields, "chosenTime") == text_of(fields, "periodId");
  std::vector<LogField> rest;
  std::ranges::copy_if(fields, std::back_inserter(rest), [&](const LogField& field) {
    if (field.key == "chosenTime") return !is_at_nominal_time;
    return std::ranges::find(kDetails, field.key) == kDetails.end();
  });
  return rest;
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
    } else if (const auto* document = std::get_if<LogJson>(&field.value)) {
      line += document->text;
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
    } else if (const auto* document = std::get_if<LogJson>(&field.value)) {
      json.document(document->text);
    } else {
      json.text(std::get<std::string_view>(field.value));
    }
  }
  return json.end_map().take();
}

LineLog::LineLog(int descriptor, const Clock& clock, LogFormat format, LogLevel least)
    : clock_(clock), format_(format), least_(least), output_(descriptor) {}

std::string LineLog::line_of(LogLevel level, std::string_view event, std::span<const LogField> fields) const {
  if (format_ == LogFormat::json) return json_line(clock_.wall(), level, event, fields) + '\n';
  if (least_ == LogLevel::debug || event != kCommonEvent) return text_line(clock_.wall(), level, event, fields) + '\n';
  return text_line(clock_.wall(), level, event, without_details(fields)) + '\n';
}

void LineLog::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (level < least_) return;
  const std::string line = line_of(level, event, fields);
  const std::scoped_lock lock(mutex_);
  keep(line);
  const bool may_wait = level != LogLevel::error && std::this_thread::get_id() == owner_;
  if (!may_wait || lines_.size() - sent_ > kMostGathered) flush_lines();
}

void LineLog::write_text(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  keep(std::string(line) + '\n');
  flush_lines();
}

// Once lines are dropped, all are until the reader has caught up: one gap, with its notice where it is, instead of
// many.
void LineLog::keep(std::string_view line) {
  if (dropped_ > 0 || lines_.size() - sent_ + line.size() > kMostKept) flush_lines();
  if (dropped_ > 0 || lines_.size() - sent_ + line.size() > kMostKept) {
    ++dropped_;
    return;
  }
  lines_ += line;
}

LineLog::Left LineLog::flush() {
  const std::scoped_lock lock(mutex_);
  return flush_lines();
}

bool LineLog::finish(Nanoseconds longest) {
  const std::scoped_lock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + longest;
  while (flush_lines() != Left::nothing) {
    const Nanoseconds left = until - std::chrono::steady_clock::now();
    if (left <= Nanoseconds(0)) return false;
    (void)output_.wait(left);
  }
  return true;
}

LineLog::Left LineLog::flush_lines() {
  bool is_moving = false;
  while (true) {
    while (sent_ < lines_.size()) {
      const std::optional<std::size_t> taken = output_.write(std::string_view(lines_).substr(sent_));
      if (!taken) {
        drop_kept();
        return Left::nothing;
      }
      if (*taken == 0) break;
      sent_ += *taken;
      is_moving = true;
    }
    if (sent_ < lines_.size()) break;
    lines_.clear();
    sent_ = notice_end_ = 0;
    if (dropped_ == 0) return Left::nothing;
    note_dropped();
  }
  // The front is cut off now and then, so that a slow reader does not make the text grow for ever.
  if (sent_ >= kMostGathered && sent_ >= notice_end_) {
    lines_.erase(0, sent_);
    sent_ = notice_end_ = 0;
  }
  return is_moving ? Left::moving : Left::stuck;
}

void LineLog::note_dropped() {
  const LogField fields[] = {{"count", dropped_}, {"reason", "nobody read the log, or it could not be written"}};
  lines_ = line_of(LogLevel::warning, "log_lines_dropped", fields);
  notice_end_ = lines_.size();
  noticed_ = std::exchange(dropped_, 0);
}

// Nobody to tell when the log itself cannot be written: the daemon goes on without it. If it can be written again, the
// next line is a notice.
void LineLog::drop_kept() {
  if (sent_ < notice_end_) {
    dropped_ += noticed_;
    sent_ = notice_end_;
  }
  dropped_ += std::count(lines_.begin() + static_cast<std::ptrdiff_t>(sent_), lines_.end(), '\n');
  lines_.clear();
  sent_ = notice_end_ = 0;
}

}  // namespace kron
