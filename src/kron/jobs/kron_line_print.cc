#include <algorithm>

#include "kron/base/text.h"
#include "kron/jobs/keys.h"
#include "kron/jobs/kron_line.h"

namespace kron::jobs {
namespace {

// Quotes `value` when it holds one of `special`, a quote or a backslash (which at the end of a line would join it).
std::string line_value(std::string_view value, std::string_view special) {
  if (!value.empty() && value.find_first_of(special) == std::string_view::npos &&
      value.find_first_of("\"\\") == std::string_view::npos) {
    return std::string(value);
  }
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string argument(const Node& node) { return line_value(word_of(node).value_or(""), " \t,()="); }
std::string field(std::string_view value) { return line_value(value, " \t"); }

void append(std::string& list, std::string item) {
  if (!list.empty()) list += ',';
  list += std::move(item);
}

// The text between a modifier's parentheses. The keys that stand bare there come first.
std::string arguments_of(std::string_view modifier, const Node& value) {
  if (modifier == "tz") return argument(value);
  if (modifier == "dst") return *value.as<std::string>();
  std::string list;
  for (const Node::Member& member : *value.as<Node::Map>()) {
    const bool is_bare = modifier == "win" || member.key == "strategy" || (modifier == "dist" && member.key == "name");
    if (is_bare) {
      append(list, argument(member.value));
    } else if (member.key == "params") {
      for (const Node::Member& param : *member.value.as<Node::Map>()) {
        append(list, param.key + "=" + argument(param.value));
      }
    } else if (modifier == "only" || modifier == "avoid") {
      append(list, member.key + "=" + *word_of(member.value));  // commas inside a clause stay commas
    } else {
      append(list, member.key + "=" + argument(member.value));
    }
  }
  return list;
}

std::string joined(const Node::List& items, char between) {
  std::string list;
  for (const Node& item : items) {
    if (!list.empty()) list += between;
    list += *word_of(item);
  }
  return list;
}

// Within a value that has commas of its own.
std::string inner_value(const Node& value) {
  const auto* list = value.as<Node::List>();
  return list != nullptr ? joined(*list, '+') : *word_of(value);
}

std::string fields_of(const Node::Member& member) {
  const std::string key = " " + member.key + "=";
  const auto* map = member.value.as<Node::Map>();
  std::string text;
  if (const auto* list = member.value.as<Node::List>()) {
    for (const Node& item : *list) text += key + field(*word_of(item));
    return text;
  }
  if (map == nullptr) return key + field(*word_of(member.value));
  for (const Node::Member& part : *map) {
    if (member.key == "env" || member.key == "credential") {
      text += key + field(part.key + "=" + *word_of(part.value));
    } else if (member.key == "calendars") {
      text += " calendar=" + field(part.key + ":" + joined(*part.value.as<Node::List>(), ','));
    } else {
      append(text, part.key + "=" + inner_value(part.value));
    }
  }
  return member.key == "limits" || member.key == "notify" ? key + field(text) : text;
}

}  // namespace

Result<std::string> kron_line(const JobDefinition& definition) {
  const std::string& name = definition.job.identity;
  if (!is_job_name(name)) {
    return fail(Code::invalid, quoted(name) + " cannot be a job's name in a job file", "name");
  }
  const Result<Node> node = node_of(definition);
  if (!node) return fail(node.error());
  std::string line = *node->find("schedule")->as<std::string>();
  for (const Modifier& modifier : kModifiers) {
    if (const Node* value = node->find(modifier.key)) {
      line += " @" + std::string(modifier.word) + "(" + arguments_of(modifier.word, *value) + ")";
    }
  }
  for (const Node::Member& member : *node->as<Node::Map>()) {
    const bool is_said =
        member.key == "schedule" || std::ranges::find(kModifiers, member.key, &Modifier::key) != kModifiers.end();
    if (!is_said) line += fields_of(member);
  }
  if (std::ranges::any_of(line, [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F; })) {
    return fail(Code::invalid,
                quoted(name) +
                    " has a line break or control character in a value, which a .kron line"
                    " cannot say; write it as YAML",
                "name");
  }
  return line;
}

}  // namespace kron::jobs
