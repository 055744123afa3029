#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kron/base/text.h"
#include "kron/json/fields.h"
#include "kron/kube/object.h"
#include "kron/operator/manifest.h"

namespace kron::kronjobs {
namespace {

enum class Shape : std::uint8_t { map, text, flag, number };

struct Rule {
  std::string_view path;  // below spec
  Shape shape;
  std::size_t most = 0;  // bytes of a text
  std::string_view example = {};
};

// As in the CRD. The readers of the keys take more spellings, for the sake of job files.
constexpr std::array kSchema{
    Rule{"schedule", Shape::text, 256},
    Rule{"timezone", Shape::text, 64},
    Rule{"dst", Shape::text, 40},
    Rule{"window", Shape::map, 0, "{mode: after, duration: 1h}"},
    Rule{"window.mode", Shape::text, 40},
    Rule{"window.duration", Shape::text, 40},
    Rule{"distribution", Shape::map, 0, "{name: uniform}"},
    Rule{"distribution.name", Shape::text, 40},
    Rule{"distribution.params", Shape::map, 0, "{shape: \"2\"}"},
    Rule{"seed", Shape::map, 0, "{strategy: daily}"},
    Rule{"seed.strategy", Shape::text, 40},
    Rule{"seed.salt", Shape::text, 256},
    Rule{"constraints", Shape::map, 0, "{avoid: {dow: [sat, sun]}}"},
    Rule{"constraints.only", Shape::map, 0, "{hours: [9-17]}"},
    Rule{"constraints.avoid", Shape::map, 0, "{dow: [sat, sun]}"},
    Rule{"constraints.calendars", Shape::map, 0, "{holidays: [2026-12-24..2026-12-26]}"},
    Rule{"policy", Shape::map, 0, "{deadline: 1h}"},
    Rule{"policy.concurrency", Shape::text, 40},
    Rule{"policy.deadline", Shape::text, 40},
    Rule{"policy.suspend", Shape::flag},
    Rule{"successfulJobsHistoryLimit", Shape::number},
    Rule{"failedJobsHistoryLimit", Shape::number},
    Rule{"jobTemplate", Shape::map},
    Rule{"jobTemplate.metadata", Shape::map},
    Rule{"jobTemplate.spec", Shape::map},
    Rule{"jobTemplate.spec.template", Shape::map},
    Rule{"jobTemplate.spec.template.spec", Shape::map},
};

constexpr std::size_t kMostTexts = 64;
constexpr std::size_t kLongestItem = 128;
constexpr std::size_t kDay = 10;       // 2026-03-01
constexpr std::size_t kDayRange = 22;  // 2026-03-01..2026-03-09
constexpr std::size_t kMostDates = 512;
constexpr std::size_t kMostCalendars = 16;
constexpr std::size_t kMostParameters = 2;

const Node* below(const Node& node, std::string_view path) {
  const Node* at = &node;
  while (at != nullptr && !path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    at = kube::node_at(*at, {path.substr(0, end)});
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

bool is_calendar_word(std::string_view name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 63 && is_plain(name.front()) && is_plain(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-'; });
}

class SchemaCheck {
 public:
  explicit SchemaCheck(const Node& spec) : spec_(spec) {}

  std::vector<Error> run() && {
    for (const Rule& rule : kSchema) {
      if (const Node* node = below(spec_, rule.path)) check(rule, *node);
    }
    check_keys();
    check_words();
    check_clauses();
    check_pods();
    return std::move(errors_);
  }

 private:
  void refuse(std::string_view path, std::string message) {
    errors_.push_back({Code::invalid, std::move(message), "spec." + std::string(path)});
  }

  void check(const Rule& rule, const Node& node) {
    const std::string example = rule.example.empty() ? "" : "; write " + std::string(rule.example);
    const auto expected = [&](std::string_view what) {
      refuse(rule.path, "expected " + std::string(what) + ", found " + std::string(kind_of(node)) + example);
    };
    const auto* text = node.as<std::string>();
    switch (rule.shape) {
      case Shape::map:
        if (node.as<Node::Map>() == nullptr) expected("a map");
        return;
      case Shape::flag:
        if (node.as<bool>() == nullptr) expected("true or false");
        return;
      case Shape::number:
        if (node.as<std::int64_t>() == nullptr) expected("a whole number");
        return;
      case Shape::text:
        if (text == nullptr) {
          refuse(rule.path, "expected a text, found " + std::string(kind_of(node)) + "; put it in quotes");
        } else if (text->size() > rule.most) {
          refuse(rule.path, "it has " + std::to_string(text->size()) + " bytes; at most " + std::to_string(rule.most));
        }
    }
  }

  // A server drops them without a word. Those within window, seed and the like are known to their readers.
  void check_keys() {
    // `ping`, `pool` and those after the limits are refused by name (spec.cc).
    constexpr std::array<std::string_view, 24> kSpecKeys{"ping",
                                                         "pool",
                                                         "schedule",
                                                         "timezone",
                                                         "dst",
                                                         "window",
                                                         "distribution",
                                                         "seed",
                                                         "policy",
                                                         "constraints",
                                                         "jobTemplate",
                                                         "successfulJobsHistoryLimit",
                                                         "failedJobsHistoryLimit",
                                                         "env_file",
                                                         "credential",
                                                         "mask_output",
                                                         "memory_max",
                                                         "tasks_max",
                                                         "cpu_max",
                                                         "notify",
                                                         "retry",
                                                         "backoff",
                                                         "fails_on",
                                                         "success_exit"};
    constexpr std::array<std::string_view, 3> kConstraintKeys{"only", "avoid", "calendars"};
    Fields(spec_, "spec", errors_).reject_unknown(kSpecKeys);
    if (const Node* constraints = below(spec_, "constraints")) {
      Fields(*constraints, "spec.constraints", errors_).reject_unknown(kConstraintKeys);
    }
  }

  void check_words() {
    if (kube::text_at(spec_, {"window", "mode"}) == "center") {
      refuse("window.mode", "'center' is for job files only; write around");
    }
    const std::string deadline = kube::text_at(spec_, {"policy", "deadline"});
    for (const std::string_view unit : {"ms", "us", "µs", "ns"}) {
      if (deadline.find(unit) == std::string::npos) continue;
      refuse("policy.deadline", "a deadline has whole seconds; write it in s, m, h, d or w");
      break;
    }
    check_texts("distribution.params", kMostParameters, "parameters");
  }

  // A map whose values are texts.
  void check_texts(std::string_view path, std::size_t most, std::string_view what) {
    const Node* node = below(spec_, path);
    const auto* map = node != nullptr ? node->as<Node::Map>() : nullptr;
    if (map == nullptr) return;
    if (map->size() > most) refuse(path, "more than " + std::to_string(most) + " " + std::string(what));
    for (const Node::Member& member : *map) {
      if (member.value.as<std::string>() != nullptr) continue;
      refuse(std::string(path) + "." + member.key,
             "expected a text, found " + std::string(kind_of(member.value)) + "; put it in quotes");
    }
  }

  void check_clauses() {
    for (const std::string_view side : {"constraints.only", "constraints.avoid"}) {
      const Node* node = below(spec_, side);
      const auto* clauses = node != nullptr ? node->as<Node::Map>() : nullptr;
      if (clauses == nullptr) continue;
      if (clauses->empty()) refuse(side, "it has no clause; leave it out, or give one");
      for (const Node::Member& clause : *clauses) {
        const bool is_dates = clause.key == "date" || clause.key == "dates";
        const std::size_t most = is_dates ? kMostDates : clause.key == "calendar" ? kMostCalendars : kMostTexts;
        const std::string path = std::string(side) + "." + clause.key;
        check_list(path, clause.value, most);
        if (is_dates) check_days(path, clause.value, clause.key == "dates");
        if (clause.key == "calendar") check_calendar_names(path, clause.value);
      }
    }
    const Node* node = below(spec_, "constraints.calendars");
    const auto* calendars = node != nullptr ? node->as<Node::Map>() : nullptr;
    if (calendars == nullptr) return;
    if (calendars->size() > kMostCalendars) refuse("constraints.calendars", "more than 16 calendars");
    for (const Node::Member& calendar : *calendars) {
      if (calendar.value.as<Node::Map>() != nullptr) {
        refuse("constraints.calendars." + calendar.key, "a KronJob has no files; list the days of the calendar in [ ]");
        continue;
      }
      check_list("constraints.calendars." + calendar.key, calendar.value, kMostDates);
      check_days("constraints.calendars." + calendar.key, calendar.value, true);
    }
  }

  void check_list(const std::string& path, const Node& node, std::size_t most) {
    const auto* list = node.as<Node::List>();
    if (list == nullptr) {
      return refuse(path, "expected a list of texts, found " + std::string(kind_of(node)) + "; put it in [ ]");
    }
    if (list->size() > most) {
      refuse(path, "it has " + std::to_string(list->size()) + " items; at most " + std::to_string(most));
    }
    for (const Node& item : *list) {
      const auto* text = item.as<std::string>();
      if (text == nullptr) {
        return refuse(path, "expected texts in the list, found " + std::string(kind_of(item)) + "; put it in quotes");
      }
      if (text->empty() || text->size() > kLongestItem) {
        return refuse(path, "an item has 1 to " + std::to_string(kLongestItem) + " bytes");
      }
    }
  }

  // Each day is an item of its own; job files take several in one text.
  void check_days(const std::string& path, const Node& node, bool with_ranges) {
    const auto* list = node.as<Node::List>();
    if (list == nullptr) return;
    for (const Node& item : *list) {
      const auto* text = item.as<std::string>();
      if (text == nullptr || text->size() == kDay || (with_ranges && text->size() == kDayRange)) continue;
      return refuse(path, kron::quoted(*text) + " is no day" +
                              (with_ranges ? "; write 2026-03-01 or 2026-03-01..2026-03-09" : "; write 2026-03-01"));
    }
  }

  void check_calendar_names(const std::string& path, const Node& node) {
    const auto* list = node.as<Node::List>();
    if (list == nullptr) return;
    for (const Node& item : *list) {
      const auto* text = item.as<std::string>();
      if (text == nullptr || is_calendar_word(*text)) continue;
      return refuse(path, kron::quoted(*text) + " cannot be a calendar; use small letters, digits and -");
    }
  }

  void check_pods() {
    if (below(spec_, "jobTemplate.spec") == nullptr) return;  // read_spec says so
    const Node* pod = below(spec_, "jobTemplate.spec.template.spec");
    if (pod == nullptr) {
      return refuse("jobTemplate.spec.template", "a Job needs a template with a spec, which has its containers");
    }
    if (pod->as<Node::Map>() == nullptr) return;
    const std::string path = "jobTemplate.spec.template.spec";
    const std::string restart = kube::text_at(*pod, {"restartPolicy"});
    if (restart != "OnFailure" && restart != "Never") {
      refuse(path + ".restartPolicy", "the pods of a Job need a restartPolicy; write Never or OnFailure");
    }
    const Node* containers = kube::node_at(*pod, {"containers"});
    const auto* list = containers != nullptr ? containers->as<Node::List>() : nullptr;
    if (list == nullptr || list->empty()) refuse(path + ".containers", "a pod needs at least one container");
  }

  const Node& spec_;
  std::vector<Error> errors_;
};

}  // namespace

std::vector<Error> schema_errors(const Node& spec) { return SchemaCheck(spec).run(); }

}  // namespace kron::kronjobs
