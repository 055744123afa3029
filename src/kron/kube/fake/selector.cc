#include "kron/kube/fake/selector.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/kube/object.h"

namespace kron::kube {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    if (is_code) {
      decoded.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      decoded.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return decoded;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::string query_value(std::string_view query, std::string_view key) {
  for (const std::string_view part : parts_of(query, '&')) {
    const std::size_t end = part.find('=');
    if (part.substr(0, end) == key) return end == std::string_view::npos ? "" : percent_decoded(part.substr(end + 1));
  }
  return {};
}

Selector::Requirement Selector::requirement_of(std::string_view text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos) {
    if (text.starts_with('!')) return {Wish::absent, std::string(trimmed(text.substr(1)))};
    return {Wish::there, std::string(trimmed(text))};
  }
  const bool is_unequal = equal > 0 && text[equal - 1] == '!';
  std::string_view value = text.substr(equal + 1);
  if (!is_unequal && value.starts_with('=')) value.remove_prefix(1);
  return {is_unequal ? Wish::unequal : Wish::equal, std::string(trimmed(text.substr(0, equal - (is_unequal ? 1 : 0)))),
          std::string(trimmed(value))};
}

Result<Selector> Selector::of_query(std::string_view query) {
  Selector selector;
  const std::string labels = query_value(query, "labelSelector");
  if (labels.find('(') != std::string::npos) return fail(Code::invalid, "sets of labels are not modelled");
  for (const std::string_view part : parts_of(labels, ',')) selector.labels_.push_back(requirement_of(part));
  const std::string fields = query_value(query, "fieldSelector");
  for (const std::string_view part : parts_of(fields, ',')) {
    Requirement wanted = requirement_of(part);
    if (wanted.key != "metadata.name" && wanted.key != "metadata.namespace") {
      return fail(Code::invalid, "field label not supported: " + wanted.key);
    }
    wanted.key.erase(0, std::string_view("metadata.").size());
    selector.fields_.push_back(std::move(wanted));
  }
  return selector;
}

bool Selector::selects(const Node& object) const {
  const auto holds = [](const Requirement& wanted, const Node* found) {
    const auto* text = found != nullptr ? found->as<std::string>() : nullptr;
    switch (wanted.wish) {
      case Wish::there:
        return text != nullptr;
      case Wish::absent:
        return text == nullptr;
      case Wish::equal:
        return text != nullptr && *text == wanted.value;
      case Wish::unequal:
        break;
    }
    return text == nullptr || *text != wanted.value;
  };
  return std::ranges::all_of(labels_,
                             [&](const auto& one) {
                               return holds(one, node_at(object, {"metadata", "labels", one.key}));
                             }) &&
         std::ranges::all_of(fields_, [&](const auto& one) {
           return holds(one, node_at(object, {"metadata", one.key}));
         });
}

}  // namespace kron::kube
