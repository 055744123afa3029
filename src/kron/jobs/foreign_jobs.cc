#include "kron/jobs/foreign_jobs.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/jobs/yaml.h"

namespace kron::jobs {

void each_foreign_job(std::string_view text, std::string_view list_key, Report& report,
                      const std::function<void(const Node& job)>& take) {
  const auto take_one = [&](const Node& job) {
    if (job.as<Node::Map>() != nullptr) return take(job);
    report.error(job.position(), "", "this is no job: a map of its members is expected");
  };
  for (const Node& document : parse_yaml(text, report)) {
    const Node* list = document.find(list_key);
    if (const auto* jobs = (list != nullptr ? *list : document).as<Node::List>()) {
      for (const Node& job : *jobs) take_one(job);
    } else {
      take_one(document);
    }
  }
}

const Node* said(const Node& job, std::string_view key) {
  const Node* node = job.find(key);
  if (node == nullptr || node->is_null()) return nullptr;
  if (const auto* flag = node->as<bool>()) return *flag ? node : nullptr;
  if (const auto* number = node->as<std::int64_t>()) return *number != 0 ? node : nullptr;
  if (const auto* text = node->as<std::string>()) return text->empty() ? nullptr : node;
  if (const auto* list = node->as<Node::List>()) return list->empty() ? nullptr : node;
  if (const auto* map = node->as<Node::Map>()) return map->empty() ? nullptr : node;
  return node;
}

std::string text_in(const Node& job, std::string_view key) {
  const Node* node = job.find(key);
  return node == nullptr ? std::string() : word_of(*node).value_or("");
}

Position ForeignJob::place_of(std::string_view key) const {
  const auto* members = from_.as<Node::Map>();
  const auto found = std::ranges::find(*members, key, &Node::Member::key);
  return found == members->end() ? from_.position() : found->position;
}

void ForeignJob::put(std::string_view key, Node::Value value) {
  keys_.push_back({std::string(key), from_.position(), Node(std::move(value), from_.position())});
}

void ForeignJob::put_policy(std::string_view key, Node::Value value) {
  policy_.push_back({std::string(key), from_.position(), Node(std::move(value), from_.position())});
}

void ForeignJob::put_schedule(const std::string& schedule, const std::string& zone, const ModelContext& context) {
  put("schedule", schedule);
  if (schedule.starts_with("@every")) return;
  if (zone.empty() && !context.no_zone.problem.empty()) {
    return report_.error(from_.position(), "timezone", context.no_zone.problem, context.no_zone.cure);
  }
  put("timezone", zone.empty() ? context.zone.name() : zone);
}

void ForeignJob::lose(std::string_view key, const std::string& why, const std::string& cure) {
  if (said(from_, key) != nullptr) report_.warn(place_of(key), std::string(key), std::string(key) + ": " + why, cure);
}

void ForeignJob::refuse(std::string_view key, const std::string& why, const std::string& cure) {
  report_.error(place_of(key), std::string(key), why, cure);
}

std::optional<JobDefinition> ForeignJob::finish(ModelContext& context) {
  if (report_.error_count() != errors_before_) return std::nullopt;
  if (!policy_.empty()) put("policy", std::move(policy_));
  return read_definition(Node(std::move(keys_), from_.position()), context, report_, errors_before_);
}

std::string name_for(std::string_view title, std::set<std::string>& taken) {
  constexpr std::size_t kMostBytes = 150;
  std::string name;
  for (const char c : lower(title)) {
    const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '/';
    if (is_allowed) {
      name += c;
    } else if (!name.ends_with('-')) {
      name += '-';
    }
  }
  name = name.substr(0, kMostBytes);
  const std::size_t first = name.find_first_not_of("._/-");
  name = first == std::string::npos ? "job" : name.substr(first, name.find_last_not_of("._/-") - first + 1);
  std::string unique = name;
  for (int count = 2; !taken.insert(unique).second; ++count) unique = name + "-" + std::to_string(count);
  return unique;
}

}  // namespace kron::jobs
