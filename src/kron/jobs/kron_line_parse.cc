#include <algorithm>
#include <optional>

#include "kron/base/text.h"
#include "kron/jobs/keys.h"
#include "kron/jobs/kron_line.h"
#include "kron/jobs/logical_lines.h"

namespace kron::jobs {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

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

// Reads one logical line into the model's shape.
class LineReader {
 public:
  LineReader(const LogicalLine& line, Report& report) : line_(line), text_(line.text), report_(report) {}

  // Nothing when the line is broken so badly that its keys cannot be told.
  std::optional<Node> read();

 private:
  Position here() const { return line_.position_of(at_); }
  bool at_end() const { return at_ >= text_.size(); }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  std::size_t word_end(std::size_t from) const {
    while (from < text_.size() && is_word_character(text_[from])) ++from;
    return from;
  }
  bool at_field() const {
    const std::size_t end = word_end(at_);
    return end > at_ && end < text_.size() && text_[end] == '=';
  }
  bool at_modifier() const {
    if (text_[at_] != '@') return false;
    const std::size_t end = word_end(at_ + 1);
    return end < text_.size() && text_[end] == '(';
  }
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
  // A run of characters up to one of `stops`, with quotes; false when a quote is left open.
  bool read_value(std::string_view stops, std::string& value);
  bool read_quoted(std::string& value);

  const LogicalLine& line_;
  std::string_view text_;
  Report& report_;
  std::size_t at_ = 0;
  Node::Map map_;
  Node::List env_;
  Node::Map calendars_;
};

std::optional<Node> LineReader::read() {
  skip_blanks();
  const Position start = here();
  read_schedule();
  while (skip_blanks(), !at_end()) {
    if (at_modifier()) {
      if (!read_modifier()) return std::nullopt;
    } else if (at_field()) {
      if (!read_field()) return std::nullopt;
    } else {
      const std::size_t end = std::min(text_.find_first_of(" \t", at_), text_.size());
      const std::string_view word = text_.substr(at_, end - at_);
      report_.error(here(), "", "unexpected word " + quoted(word),
                    word.starts_with('#') ? "a comment stands on a line of its own"
                                          : "put double quotes around a value that contains blanks");
      return std::nullopt;
    }
  }
  if (!env_.empty()) {
    const Position at = env_.front().position();
    put("env", at, Node(std::move(env_), at));
  }
  if (!calendars_.empty()) {
    const Position at = calendars_.front().position;
    put("calendars", at, Node(std::move(calendars_), at));
  }
  return Node(std::move(map_), start);
}

void LineReader::read_schedule() {
  const std::size_t start = at_;
  const Position start_at = here();
  std::size_t end = at_;
  while (skip_blanks(), !at_end() && !at_modifier() && !at_field()) {
    end = std::min(text_.find_first_of(" \t", at_), text_.size());
    at_ = end;
  }
  if (end > start) put("schedule", start_at, Node(std::string(text_.substr(start, end - start)), start_at));
}

bool LineReader::read_quoted(std::string& value) {
  const Position opened = here();
  for (++at_; !at_end(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    const bool escapes = c == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
    if (escapes) ++at_;
    value += text_[at_];
  }
  report_.error(opened, "", "this quote is never closed", "end the value with \"; a quote inside it is written \\\"");
  return false;
}

bool LineReader::read_value(std::string_view stops, std::string& value) {
  while (!at_end() && stops.find(text_[at_]) == std::string_view::npos) {
    if (text_[at_] == '"') {
      if (!read_quoted(value)) return false;
    } else {
      value += text_[at_++];
    }
  }
  return true;
}

bool LineReader::read_field() {
  const Position key_at = here();
  const std::size_t end = word_end(at_);
  const std::string_view name = text_.substr(at_, end - at_);
  at_ = end + 1;
  Position value_at = here();
  if (!at_end() && text_[at_] == '"') ++value_at.column;
  std::string value;
  if (!read_value(" \t", value)) return false;
  put_field(name, key_at, std::move(value), value_at);
  return true;
}

void LineReader::put_field(std::string_view name, Position key_at, std::string value, Position value_at) {
  if (std::ranges::find(kLineFields, name) == kLineFields.end()) {
    std::string cure;
    const auto modifier = std::ranges::find_if(
        kModifiers, [&](const Modifier& known) { return known.key == name || known.word == name; });
    if (modifier != kModifiers.end()) {
      cure = "write @" + std::string(modifier->word) + "(…)";
    } else if (const std::string_view near = nearest_word(name, kLineFields); !near.empty()) {
      cure = "did you mean " + std::string(near) + "?";
    } else {
      cure = "known are";
      for (const std::string_view known : kLineFields) cure += " " + std::string(known);
    }
    return report_.error(key_at, std::string(name), "unknown key " + quoted(name), std::move(cure));
  }
  if (name == "env") {
    env_.emplace_back(std::move(value), value_at);
  } else if (name == "calendar") {
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos) {
      return report_.error(value_at, "calendar", "a calendar needs a name and dates",
                           "write calendar=\"holidays:2026-12-24,2027-01-01..2027-01-03\"");
    }
    if (std::ranges::find(calendars_, value.substr(0, colon), &Node::Member::key) != calendars_.end()) {
      return report_.error(value_at, "calendar", "the calendar " + quoted(value.substr(0, colon)) + " is given twice",
                           "put all its dates into one list");
    }
    calendars_.push_back({value.substr(0, colon), value_at, date_list(value, colon + 1, value_at)});
  } else if (find(name) != nullptr) {
    report_.error(key_at, std::string(name), "the key " + quoted(name) + " is given twice", "keep one of them");
  } else {
    put(name, key_at, Node(std::move(value), value_at));
  }
}

bool LineReader::read_arguments(std::vector<Argument>& arguments) {
  const Position opened = here();
  ++at_;
  while (true) {
    skip_blanks();
    Argument argument;
    argument.key_at = here();
    const std::size_t end = word_end(at_);
    if (end > at_ && end < text_.size() && text_[end] == '=') {
      argument.key = std::string(text_.substr(at_, end - at_));
      at_ = end + 1;
      skip_blanks();
    }
    argument.value_at = here();
    const bool in_quotes = !at_end() && text_[at_] == '"';
    if (in_quotes) ++argument.value_at.column;
    if (!read_value(",)", argument.value)) return false;
    if (!in_quotes) argument.value = std::string(trimmed(argument.value));
    arguments.push_back(std::move(argument));
    if (at_end()) {
      report_.error(opened, "", "this parenthesis is never closed", "end the modifier with )");
      return false;
    }
    if (text_[at_++] == ')') return true;
  }
}

bool LineReader::read_modifier() {
  const Position at = here();
  const std::size_t end = word_end(at_ + 1);
  const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end;
  std::vector<Argument> arguments;
  if (!read_arguments(arguments)) return false;
  if (!at_end() && !is_blank(text_[at_])) {
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

}  // namespace

std::vector<JobDefinition> read_kron_lines(std::string_view text, ModelContext& context, Report& report) {
  std::vector<JobDefinition> definitions;
  LogicalLines lines(text, kMostLineBytes, report);
  while (const LogicalLine* line = lines.next()) {
    const std::size_t errors_before = report.error_count();
    const std::optional<Node> node = LineReader(*line, report).read();
    if (!node) continue;
    std::optional<JobDefinition> definition = read_definition(*node, context, report, errors_before);
    if (definition) definitions.push_back(*std::move(definition));
  }
  return definitions;
}

}  // namespace kron::jobs
