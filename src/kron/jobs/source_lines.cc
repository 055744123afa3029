#include "kron/jobs/source_lines.h"

#include <algorithm>

#include "kron/jobs/line_scanner.h"

namespace kron::jobs {
namespace {

constexpr std::string_view kHidden = "…";

// The line that begins here, and what follows it in `rest`.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view from_line(std::string_view text, std::uint32_t line) {
  for (std::uint32_t at = 1; at < line && !text.empty(); ++at) take_line(text);
  return text;
}

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool says_nothing(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos || line[first] == '#';
}

// A line and those that a backslash at its end joins to it.
std::string joined_lines(std::string_view rest) {
  std::string lines(take_line(rest));
  while (lines.ends_with('\\') && !rest.empty() && lines.size() <= kMostSourceBytes) {
    lines.append("\n").append(take_line(rest));
  }
  return lines;
}

// An item of a list, and what stands deeper than its dash.
std::string yaml_item(std::string_view rest) {
  std::string lines(take_line(rest));
  const std::size_t indent = indent_of(lines);
  if (indent == lines.size() || lines[indent] != '-') return {};
  std::string waiting;  // blank lines and comments: part of it when more of it follows
  while (!rest.empty() && lines.size() + waiting.size() <= kMostSourceBytes) {
    const std::string_view line = take_line(rest);
    waiting.append("\n").append(line);
    if (says_nothing(line)) continue;
    if (indent_of(line) <= indent) break;
    lines += waiting;
    waiting.clear();
  }
  return lines;
}

std::string with_single_blanks(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\\';
    if (is_blank && (result.empty() || result.back() == ' ')) continue;
    result += is_blank ? ' ' : c;
  }
  return result;
}

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '/' || c == '-';
}

// Whether the name stands there, and not as a part of another.
bool names_job(std::string_view lines, std::string_view name) {
  for (std::size_t at = lines.find(name); at != std::string_view::npos; at = lines.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_of_name(lines[at - 1])) && (end == lines.size() || !is_of_name(lines[end]))) return true;
  }
  return false;
}

// Whether the lines are still this job's.
bool is_about(const std::string& lines, const JobDefinition& definition) {
  const std::optional<std::string> schedule = schedule_as_written(definition);
  if (!schedule || with_single_blanks(lines).find(with_single_blanks(*schedule)) == std::string::npos) return false;
  // The name of a crontab's line is made from it.
  return definition.spelling == Spelling::crontab || names_job(lines, definition.job.identity);
}

bool pass_modifier(LineScanner& scanner) {
  if (!scanner.pass_value(LineScanner::Stop::modifier_end) || scanner.at_end()) return false;
  scanner.take();
  return true;
}

bool has_secrets(const RunOptions& options) {
  return !options.env.empty() || options.input.has_value() || !options.ping.empty();
}

// A .kron line on one line, its secret values replaced.
std::optional<std::string> without_secrets(const std::string& line) {
  if (line.find('\n') != std::string::npos) return std::nullopt;
  std::string shown;
  LineScanner scanner(line);
  scanner.skip_blanks();
  scanner.take_schedule();
  std::size_t kept = 0;
  while (!scanner.at_end()) {
    if (scanner.at_blank()) {
      scanner.skip_blanks();
      continue;
    }
    if (scanner.at_modifier()) {
      if (!pass_modifier(scanner)) return std::nullopt;
      continue;
    }
    if (!scanner.at_field()) return std::nullopt;
    const std::string_view key = scanner.take_key();
    scanner.take();
    const std::size_t start = scanner.at();
    if (!scanner.pass_value(LineScanner::Stop::blank)) return std::nullopt;
    if (key != "env" && key != "stdin" && key != "ping") continue;
    shown += line.substr(kept, start - kept);
    // The name of a variable may be seen.
    const std::string value = line.substr(start, scanner.at() - start);
    const std::size_t equals = key == "env" ? value.find('=') : std::string::npos;
    if (equals != std::string::npos && !value.starts_with('"')) shown += value.substr(0, equals + 1);
    shown += kHidden;
    kept = scanner.at();
  }
  return shown + line.substr(kept);
}

}  // namespace

std::optional<std::string> source_of(std::string_view file_text, const JobDefinition& definition, bool with_secrets) {
  if (definition.line == 0 || definition.spelling == Spelling::cronken) return std::nullopt;
  const std::string_view rest = from_line(file_text, definition.line);
  std::string lines = definition.spelling == Spelling::kron   ? joined_lines(rest)
                      : definition.spelling == Spelling::yaml ? yaml_item(rest)
                                                              : std::string(rest.substr(0, rest.find_first_of("\r\n")));
  if (lines.size() > kMostSourceBytes || !is_about(lines, definition)) return std::nullopt;
  if (with_secrets || !has_secrets(*definition.options)) return lines;
  return definition.spelling == Spelling::kron ? without_secrets(lines) : std::nullopt;
}

}  // namespace kron::jobs
