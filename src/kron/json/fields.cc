#include "kron/json/fields.h"

#include <algorithm>

#include "kron/core/words.h"
#include "kron/json/writer.h"

namespace kron {

std::optional<std::string> scalar_text(const Node& node) {
  if (const auto* text = node.as<std::string>()) return *text;
  if (const auto* integer = node.as<std::int64_t>()) return std::to_string(*integer);
  if (const auto* real = node.as<double>()) return JsonWriter().real(*real).take();
  return std::nullopt;
}

Fields::Fields(const Node& map, std::string path, std::vector<Error>& errors)
    : node_(&map), path_(std::move(path)), errors_(&errors) {}

const Node* Fields::find(std::string_view key) const {
  const Node* found = node_->find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Fields::report(std::string_view key, std::string message, std::size_t column) {
  errors_->push_back({Code::invalid, std::move(message), path_of(key), column});
}

void Fields::report_type(std::string_view key, const Node& found, std::string_view expected) {
  report(key, "expected " + std::string(expected) + ", found " + std::string(kind_of(found)));
}

std::optional<std::string_view> Fields::text(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* text = found->as<std::string>()) return *text;
  report_type(key, *found, "a text");
  return std::nullopt;
}

std::optional<std::string> Fields::scalar(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr) return std::nullopt;
  std::optional<std::string> text = scalar_text(*found);
  if (!text) report_type(key, *found, "a text or a number");
  return text;
}

std::optional<bool> Fields::boolean(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* value = found->as<bool>()) return *value;
  report_type(key, *found, "true or false");
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* value = found->as<std::int64_t>()) return *value;
  report_type(key, *found, "a whole number");
  return std::nullopt;
}

std::optional<Fields> Fields::map(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (found->as<Node::Map>() != nullptr) return Fields(*found, path_of(key), *errors_);
  report_type(key, *found, "a map");
  return std::nullopt;
}

std::vector<std::string> Fields::scalars(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr) return {};
  const auto* list = found->as<Node::List>();
  const std::span<const Node> items = list != nullptr ? std::span<const Node>(*list) : std::span<const Node>(found, 1);
  std::vector<std::string> texts;
  for (const Node& item : items) {
    std::optional<std::string> text = scalar_text(item);
    if (!text) {
      report_type(key, item, "a text, a number or a list of them");
      return {};
    }
    texts.push_back(*std::move(text));
  }
  return texts;
}

void Fields::reject_unknown(std::span<const std::string_view> known) {
  const auto* map = node_->as<Node::Map>();
  if (map == nullptr) return;
  for (const Node::Member& member : *map) {
    if (std::ranges::find(known, member.key) != known.end()) continue;
    Error error = unknown_word(member.key, known, "key", path_of(std::string_view(member.key).substr(0, 64))).value();
    error.column = 0;
    errors_->push_back(std::move(error));
  }
}

}  // namespace kron
