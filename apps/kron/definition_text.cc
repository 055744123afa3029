#include "definition_text.h"

#include <algorithm>
#include <array>

#include "answer_text.h"
#include "kron/jobs/ping_url.h"
#include "kron/json/fields.h"

namespace kron::cli {
namespace {

const Node::Map& map_in(const Node& node, std::string_view key) {
  static const Node::Map kNone;
  const Node* found = node.find(key);
  const auto* map = found == nullptr ? nullptr : found->as<Node::Map>();
  return map == nullptr ? kNone : *map;
}

// `a=1 b=2`
std::string pairs_of(const Node::Map& map) {
  std::string text;
  for (const Node::Member& member : map) {
    text += (text.empty() ? "" : " ") + member.key + "=" + scalar_text(member.value).value_or("");
  }
  return text;
}

std::string items_of(const Node::List& list) {
  std::string text;
  for (const Node& item : list) text += (text.empty() ? "" : " ") + scalar_text(item).value_or("");
  return text;
}

std::string scalar_of(const Node& value) {
  if (const bool* flag = value.as<bool>()) return *flag ? "true" : "false";
  return scalar_text(value).value_or("");
}

std::string names_of(const Node::Map& map) {
  std::string text;
  for (const Node::Member& member : map) text += (text.empty() ? "" : " ") + member.key;
  return text;
}

std::string text_below(const Node& node, std::string_view map, std::string_view key, std::string_view otherwise = "") {
  const Node* found = node.find(map);
  const std::string text = found == nullptr ? "" : text_in(*found, key);
  return text.empty() ? std::string(otherwise) : text;
}

std::string or_else(std::string text, std::string_view otherwise) {
  return text.empty() ? std::string(otherwise) : text;
}

void print_timing(const Node& definition) {
  const std::string duration = text_below(definition, "window", "duration");
  print_field("window", duration.empty() ? "none" : text_below(definition, "window", "mode") + " " + duration);
  std::string distribution = text_below(definition, "distribution", "name");
  if (const Node* given = definition.find("distribution")) {
    if (const std::string parameters = pairs_of(map_in(*given, "params")); !parameters.empty()) {
      distribution += " " + parameters;
    }
  }
  print_field("distribution", distribution);
  print_field("seed", pairs_of(map_in(definition, "seed")));
  print_field("only", pairs_of(map_in(definition, "only")));
  print_field("avoid", pairs_of(map_in(definition, "avoid")));
  print_field("dst", text_in(definition, "dst"));
  print_field("deadline", text_below(definition, "policy", "deadline", "0s"));
  print_field("concurrency", text_below(definition, "policy", "concurrency", "forbid"));
  print_field("pauseAfter", text_below(definition, "policy", "pauseAfter"));
  print_field("catchUpSpread", text_below(definition, "policy", "catchUpSpread"));
  print_field("pool", text_in(definition, "pool"));
}

// What becomes of a stream of output; empty when krond keeps it.
std::string course_of(std::string place) {
  if (place.empty() || place == "capture") return "";
  if (place == "discard") return "is discarded";
  if (place == "inherit") return "goes to krond's own";
  if (constexpr std::string_view kFile = "file:"; place.starts_with(kFile)) place.erase(0, kFile.size());
  return "goes to " + place;
}

// Where pings go, without what is secret of it; whoever may not see it is told nothing more than that there are some.
std::string shown_ping(const Node& definition) {
  const Node* ping = definition.find("ping");
  if (ping == nullptr) return "";
  const auto* url = ping->as<std::string>();
  return url != nullptr ? std::string(jobs::place_of_url(*url)) + "/…" : "…";
}

// Shown by what calls us, or with words of its own.
constexpr auto kShownOtherwise = std::to_array<std::string_view>(
    {"name",   "description", "schedule",     "timezone", "command", "task",   "stdin", "calendars", "ping",
     "window", "policy",      "distribution", "seed",     "only",    "avoid",  "dst",   "timeout",   "grace",
     "user",   "group",       "shell",        "cwd",      "env",     "stdout", "stderr"});

// Every other key under its own name, in the order of the definition.
void print_others(const Node& definition) {
  const auto* members = definition.as<Node::Map>();
  if (members == nullptr) return;
  for (const Node::Member& member : *members) {
    if (std::ranges::find(kShownOtherwise, member.key) != kShownOtherwise.end()) continue;
    const auto* map = member.value.as<Node::Map>();
    const auto* list = member.value.as<Node::List>();
    const std::string text = map != nullptr    ? pairs_of(*map)
                             : list != nullptr ? items_of(*list)
                                               : scalar_of(member.value);
    print_field(member.key, text);
  }
}

}  // namespace

void print_definition(const Node& definition) {
  print_timing(definition);
  print_field("timeout", or_else(text_in(definition, "timeout"), "none"));
  print_field("grace", text_in(definition, "grace"));
  print_field("user", or_else(text_in(definition, "user"), "krond's own"));
  print_field("group", text_in(definition, "group"));
  print_field("shell", flag_in(definition, "shell") ? "/bin/sh" : text_in(definition, "shell"));
  print_field("directory", text_in(definition, "cwd"));
  print_field("env", names_of(map_in(definition, "env")));
  print_field("stdout", text_in(definition, "stdout"));
  print_field("stderr", text_in(definition, "stderr"));
  print_field("ping", shown_ping(definition));
  print_others(definition);
}

std::string elsewhere_of(const Node& definition) {
  std::string text;
  for (const auto& [key, name] : {std::pair("stdout", "standard output"), std::pair("stderr", "standard error")}) {
    const std::string course = course_of(text_in(definition, key));
    if (!course.empty()) text += (text.empty() ? "" : ", ") + std::string(name) + " " + course;
  }
  return text;
}

}  // namespace kron::cli
