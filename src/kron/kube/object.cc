#include "kron/kube/object.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "kron/base/rfc3339.h"

namespace kron::kube {
namespace {

tl::unexpected<Error> lacks(std::string_view field) {
  return fail(Code::invalid, "an object without metadata." + std::string(field) + " comes from no API server",
              "metadata." + std::string(field));
}

std::optional<std::uint64_t> version_number(std::string_view version) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size()) return std::nullopt;
  return number;
}

}  // namespace

const Node* node_at(const Node& object, Path path) {
  const Node* at = &object;
  for (const std::string_view key : path) {
    at = at->find(key);
    if (at == nullptr || at->is_null()) return nullptr;
  }
  return at;
}

std::string text_at(const Node& object, Path path) {
  const Node* found = node_at(object, path);
  const auto* text = found != nullptr ? found->as<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

std::optional<std::int64_t> integer_at(const Node& object, Path path) {
  const Node* found = node_at(object, path);
  const auto* number = found != nullptr ? found->as<std::int64_t>() : nullptr;
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

bool is_true_at(const Node& object, Path path) {
  const Node* found = node_at(object, path);
  const auto* flag = found != nullptr ? found->as<bool>() : nullptr;
  return flag != nullptr && *flag;
}

Result<ObjectMeta> metadata_of(const Node& object) {
  const Node* metadata = node_at(object, {"metadata"});
  if (metadata == nullptr)
    return fail(Code::invalid, "an object without metadata comes from no API server", "metadata");
  ObjectMeta meta;
  meta.ns = text_at(*metadata, {"namespace"});
  meta.name = text_at(*metadata, {"name"});
  meta.uid = text_at(*metadata, {"uid"});
  meta.resource_version = text_at(*metadata, {"resourceVersion"});
  meta.generation = integer_at(*metadata, {"generation"}).value_or(0);
  meta.deleting = node_at(*metadata, {"deletionTimestamp"}) != nullptr;
  return complete(std::move(meta), text_at(*metadata, {"creationTimestamp"}));
}

Result<ObjectMeta> complete(ObjectMeta meta, std::string_view created) {
  if (meta.ns.empty()) return lacks("namespace");
  if (meta.name.empty()) return lacks("name");
  if (meta.uid.empty()) return lacks("uid");
  if (meta.resource_version.empty()) return lacks("resourceVersion");
  const Result<Instant> time = parse_rfc3339(created);
  if (!time) return lacks("creationTimestamp");
  meta.created = *time;
  return meta;
}

std::optional<std::string> annotation_of(const Node& object, std::string_view key) {
  const Node* found = node_at(object, {"metadata", "annotations", key});
  const auto* text = found != nullptr ? found->as<std::string>() : nullptr;
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::string controller_uid(const Node& object, std::string_view kind) {
  const Node* owners = node_at(object, {"metadata", "ownerReferences"});
  const auto* list = owners != nullptr ? owners->as<Node::List>() : nullptr;
  if (list == nullptr) return {};
  const auto controls = [&](const Node& owner) {
    return is_true_at(owner, {"controller"}) && text_at(owner, {"kind"}) == kind;
  };
  const auto found = std::ranges::find_if(*list, controls);
  return found != list->end() ? text_at(*found, {"uid"}) : std::string();
}

bool is_older(std::string_view version, std::string_view than) {
  const auto a = version_number(version);
  const auto b = version_number(than);
  return a && b && *a < *b;
}

}  // namespace kron::kube
