#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "kron/base/text.h"
#include "kron/jobs/keys.h"
#include "kron/jobs/kron_line.h"
#include "kron/jobs/line_scanner.h"
#include "kron/jobs/line_templates.h"
#include "kron/jobs/logical_lines.h"

namespace kron::jobs {
namespace {

// One argument of a modifier: `value` or `key=value`.
struct Argument {
  std::string key;
  std::string value;
  Position key_at;
  Position value_at;
};

// The dates of a calendar, each with its place. `value` stands at `at`, its list of dates begins at `start`.
Node date_list(std::string_view value, std::size_t start, Position at) {
  Node::List dates;
  while (start <= value.size()) {
    const std::size_t comma = std::min(value.find(',', start), value.size());
    dates.emplace_back(std::string(trimmed(value.substr(start, comma - start))), Position{at.line, at.column + start});
    start = comma + 1;
  }
  return Node(std::move(dates), at);
}

// `file=PATH` instead of dates.
constexpr std::string_view kCalendarFile = "file=";

Node calendar_file(const std::string& value, std::size_t start, Position at) {
  const Position path_at{at.line, at.column + start + kCalendarFile.size()};
  Node::Map map;
  map.push_back({"file", path_at, Node(value.substr(start + kCalendarFile.size()), path_at)});
  return Node(std::move(map), path_at);
}

// Reads one logical line into the model's shape.
class LineReader {
 public:
  LineReader(const LogicalLine& line, Report& report) : line_(line), scanner_(line.text), report_(report) {}

  // Nothing when the line is broken so badly that its keys cannot be told.
  std::optional<Node> read();
  std::vector<std::string> take_unknown_keys() { return std::move(unknown_keys_); }

 private:
  Position here() const { return line_.position_of(scanner_.at()); }
  void put(std::string_view key, Position key_at, Node value) {
    map_.push_back({std::string(key), key_at, std::move(value)});
  }
  Node* find(std::string_view key) {
    const auto found = std::ranges::find(map_, key, &Node::Member::key);
    return found == map_.end() ? nullptr : &found->value;
  }

  void read_schedule();
  bool read_field();
  void put_field(std::string_view name, Position key_at, std::string value, Position value_at);
  bool read_modifier();
  bool read_arguments(std::vector<Argument>& arguments);
  void put_modifier(const Modifier& modifier, Position at, const std::vector<Argument>& arguments);
  bool read_value(LineScanner::Stop stop, std::string& value);  // false when a quote is left open

  // What stands behind env, stdin or ping may be the rest of a secret that lacks its quotes: messages, which reach
  // those who may not see it, do not repeat it.
  bool may_be_secret() {
    return !env_.empty() || !lists_.empty() || find("stdin") != nullptr || find("ping") != nullptr;
  }

  const LogicalLine& line_;
  LineScanner scanner_;
  Report& report_;
  Node::Map map_;
  Node::List env_;
  std::map<std::string, Node::List, std::less<>> lists_;  // of other keys that may come several times
  Node::Map calendars_;
  std::vector<std::string> unknown_keys_;
};

std::optional<Node> LineReader::read() {
  constexpr std::size_t kUsualKeys = 16;
  map_.reserve(kUsualKeys);
  scanner_.skip_blanks();
  const Position start = here();
  read_schedule();
  while (scanner_.skip_blanks(), !scanner_.at_end()) {
    if (scanner_.at_modifier()) {
      if (!read_modifier()) return std::nullopt;
    } else if (scanner_.at_field()) {
      if (!read_field()) return std::nullopt;
    } else {
      const Position at = here();
      const std::string_view word = scanner_.take_to_blank();
      report_.error(at, "", may_be_secret() ? "unexpected word" : "unexpected word " + quoted(word),
                    word.starts_with('#') ? "a comment stands on a line of its own"
                                          : "put double quotes around a value that contains blanks");
      return std::nullopt;
    }
  }
  if (!env_.empty()) {
    const Position at = env_.front().position();
    put("env", at, Node(std::move(env_), at));
  }
  for (auto& [key, items] : lists_) {
    const Position at = items.front().position();
    put(key, at, Node(std::move(items), at));
  }
  if (!calendars_.empty()) {
    const Position at = calendars_.front().position;
    put("calendars", at, Node(std::move(calendars_), at));
  }
  return Node(std::move(map_), start);
}

void LineReader::read_schedule() {
  const Position at = here();
  const std::string_view schedule = scanner_.take_schedule();
  if (!schedule.empty()) put("schedule", at, Node(std::string(schedule), at));
}

bool LineReader::read_value(LineScanner::Stop stop, std::string& value) {
  if (scanner_.take_value(stop, value)) return true;
  report_.error(line_.position_of(scanner_.opened()), "", "this quote is never closed",
                "end the value with \"; a quote inside it is written \\\"");
  return false;
}

bool LineReader::read_field() {
  const Position key_at = here();
  const std::string_view name = scanner_.take_key();
  scanner_.take();
  Position value_at = here();
  if (scanner_.at_quote()) ++value_at.column;
  std::string value;
  if (!read_value(LineScanner::Stop::blank, value)) return false;
  put_field(name, key_at, std::move(value), value_at);
  return true;
}

void LineReader::put_field(std::string_view name, Position key_at, std::string value, Position value_at) {
  const std::span<const std::string_view> known_fields = line_fields();
  if (std::ranges::find(known_fields, name) == known_fields.end()) {
    unknown_keys_.emplace_back(name);
    std::string cure;
    const auto modifier = std::ranges::find_if(
        kModifiers, [&](const Modifier& known) { return known.key == name || known.word == name; });
    if (modifier != kModifiers.end()) {
      cure = "write @" + std::string(modifier->word) + "(…)";
    } else if (const std::string_view near = nearest_word(name, known_fields); !near.empty()) {
      cure = "did you mean " + std::string(near) + "?";
    } else if (may_be_secret()) {
      return report_.error(key_at, "", "unknown key", "put double quotes around a value that contains blanks");
    } else {
      cure = "known are";
      for (const std::string_view known : known_fields) cure += " " + std::string(known);
    }
    return report_.error(key_at, std::string(name), "unknown key " + quoted(name), std::move(cure));
  }
  if (name == "env") {
    env_.emplace_back(std::move(value), value_at);
  } else if (name == "env_file" || name == "credential") {
    lists_[std::string(name)].emplace_back(std::move(value), value_at);
  } else if (name == "calendar") {
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos) {
      return report_.error(value_at, "calendar", "a calendar needs a name and dates",
                           "write calendar=\"holidays:2026-12-24,2027-01-01..2027-01-03\", or "
                           "calendar=holidays:file=fr.ics");
    }
    if (std::ranges::find(calendars_, value.substr(0, colon), &Node::Member::key) != calendars_.end()) {
      return report_.error(value_at, "calendar", "the calendar " + quoted(value.substr(0, colon)) + " is given twice",
                           "put all its dates into one list");
    }
    Node dates = std::string_view(value).substr(colon + 1).starts_with(kCalendarFile)
                     ? calendar_file(value, colon + 1, value_at)
                     : date_list(value, colon + 1, value_at);
    calendars_.push_back({value.substr(0, colon), value_at, std::move(dates)});
  } else if (find(name) != nullptr) {
    report_.error(key_at, std::string(name), "the key " + quoted(name) + " is given twice", "keep one of them");
  } else {
    put(name, key_at, Node(std::move(value), value_at));
  }
}

bool LineReader::read_arguments(std::vector<Argument>& arguments) {
  const Position opened = here();
  scanner_.take();
  while (true) {
    scanner_.skip_blanks();
    Argument argument;
    argument.key_at = here();
    if (scanner_.at_field()) {
      argument.key = scanner_.take_key();
      scanner_.take();
      scanner_.skip_blanks();
    }
    argument.value_at = here();
    const bool in_quotes = scanner_.at_quote();
    if (in_quotes) ++argument.value_at.column;
    if (!read_value(LineScanner::Stop::argument_end, argument.value)) return false;
    if (!in_quotes) argument.value = std::string(trimmed(argument.value));
    arguments.push_back(std::move(argument));
    if (scanner_.at_end()) {
      report_.error(opened, "", "this parenthesis is never closed", "end the modifier with )");
      return false;
    }
    if (scanner_.take() == ')') return true;
  }
}

bool LineReader::read_modifier() {
  const Position at = here();
  scanner_.take();
  const std::string_view word = scanner_.take_key();
  std::vector<Argument> arguments;
  if (!read_arguments(arguments)) return false;
  if (!scanner_.at_end() && !scanner_.at_blank()) {
    report_.error(here(), "", "a blank is missing after @" + std::string(word) + "(…)");
  }
  const auto modifier = std::ranges::find(kModifiers, word, &Modifier::word);
  if (modifier == kModifiers.end()) {
    std::array<std::string_view, kModifiers.size()> words;
    std::ranges::transform(kModifiers, words.begin(), &Modifier::word);
    std::string cure = "known are @tz @win @dist @seed @policy @only @avoid @dst";
    if (const std::string_view near = nearest_word(word, words); !near.empty()) {
      cure = "did you mean @" + std::string(near) + "?";
    }
    report_.error(at, std::string(word), "unknown modifier " + quoted("@" + std::string(word)), std::move(cure));
  } else if (find(modifier->key) != nullptr) {
    report_.error(at, std::string(modifier->key), "@" + std::string(word) + " is given twice",
                  "put everything into one @" + std::string(word) + "(…)");
  } else {
    put_modifier(*modifier, at, arguments);
  }
  return true;
}

// The arguments of a modifier as a map: bare ones take the keys of `bare` in turn.
class ArgumentMap {
 public:
  ArgumentMap(const Modifier& modifier, Report& report) : modifier_(modifier), report_(report) {}

  void put(std::string_view key, const Argument& argument) {
    if (std::ranges::find(map_, key, &Node::Member::key) != map_.end()) {
      report_.error(argument.key_at, std::string(modifier_.key), quoted(key) + " is given twice", "keep one of them");
    } else {
      const bool is_flag = argument.value == "true" || argument.value == "false";
      Node::Value value = argument.value;
      if (is_flag) value = argument.value == "true";
      map_.push_back({std::string(key), argument.key_at, Node(std::move(value), argument.value_at)});
    }
  }
  // `9-17,20` comes as two arguments; the second belongs to the clause before it.
  void extend(const Argument& argument) {
    const Node& before = map_.back().value;
    map_.back().value = Node(*before.as<std::string>() + "," + argument.value, before.position());
  }
  void refuse_bare(const Argument& argument, std::string_view example) {
    report_.error(argument.key_at, std::string(modifier_.key),
                  quoted(argument.value) + " does not belong into @" + std::string(modifier_.word),
                  "write " + std::string(example));
  }
  bool empty() const { return map_.empty(); }
  Node node(Position at) { return Node(std::move(map_), at); }

 private:
  const Modifier& modifier_;
  Report& report_;
  Node::Map map_;
};

void LineReader::put_modifier(const Modifier& modifier, Position at, const std::vector<Argument>& arguments) {
  ArgumentMap map(modifier, report_);
  const std::string_view word = modifier.word;
  if (word == "tz") {
    const Argument& zone = arguments.front();
    if (arguments.size() != 1 || !zone.key.empty()) {
      return map.refuse_bare(arguments.back(), "@tz(Europe/Paris)");
    }
    return put(modifier.key, at, Node(zone.value, zone.value_at));
  }
  if (word == "dst") {
    std::string rule;
    for (const Argument& argument : arguments) {
      if (!rule.empty()) rule += ',';
      rule += argument.key.empty() ? argument.value : argument.key + "=" + argument.value;
    }
    return put(modifier.key, at, Node(std::move(rule), arguments.front().key_at));
  }
  if (word == "dist") {
    ArgumentMap params(modifier, report_);
    for (const Argument& argument : arguments) {
      if (!argument.key.empty()) {
        params.put(argument.key, argument);
      } else {
        map.put("name", argument);
      }
    }
    Node given = params.node(at);
    Node::Map distribution = *map.node(at).as<Node::Map>();
    if (!given.as<Node::Map>()->empty()) distribution.push_back({"params", at, std::move(given)});
    return put(modifier.key, at, Node(std::move(distribution), at));
  }
  for (const Argument& argument : arguments) {
    if (!argument.key.empty()) {
      map.put(argument.key, argument);
    } else if (word == "win") {
      const bool is_length = !argument.value.empty() && argument.value.front() >= '0' && argument.value.front() <= '9';
      map.put(is_length ? "duration" : "mode", argument);
    } else if (word == "seed") {
      map.put("strategy", argument);
    } else if ((word == "only" || word == "avoid") && !map.empty()) {
      map.extend(argument);
    } else {
      map.refuse_bare(argument, word == "policy" ? "@policy(concurrency=forbid,deadline=10m)"
                                                 : "@" + std::string(word) + "(hours=9-17,dow=MON-FRI)");
    }
  }
  put(modifier.key, at, map.node(at));
}

// Definitions that move to a larger place again and again cost more than reading them. A file of short lines, which
// can hold no jobs, reserves little.
std::size_t most_jobs_in(std::string_view text) {
  constexpr std::string_view kShortest = "@daily name=a command=b\n";
  constexpr std::size_t kMost = 2'000'000;
  std::size_t lines = 1;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ++lines;
  return std::min({lines, text.size() / kShortest.size() + 1, kMost});
}

}  // namespace

std::vector<JobDefinition> read_kron_lines(std::string_view text, ModelContext& context, Report& report) {
  std::vector<JobDefinition> definitions;
  definitions.reserve(most_jobs_in(text));
  LogicalLines lines(text, kMostLineBytes, report);
  LineTemplates templates;
  LineParts parts;
  while (const LogicalLine* line = lines.next()) {
    const bool is_whole = take_apart(line->text, parts);
    if (is_whole && templates.add_definition(parts, definitions)) {
      definitions.back().line = static_cast<std::uint32_t>(line->position_of(parts.start).line);
      continue;
    }
    const std::size_t errors_before = report.error_count();
    const std::size_t problems_before = report.problems().size();
    LineReader reader(*line, report);
    const std::optional<Node> node = reader.read();
    if (!node) continue;
    context.unknown_keys = reader.take_unknown_keys();
    std::optional<JobDefinition> definition = read_definition(*node, context, report, errors_before);
    if (!definition) continue;
    if (is_whole && report.problems().size() == problems_before) templates.remember(parts, *definition);
    definitions.push_back(*std::move(definition));
  }
  return definitions;
}

}  // namespace kron::jobs
