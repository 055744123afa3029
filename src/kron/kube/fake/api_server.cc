#include "kron/kube/fake/api_server.h"

#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/kube/fake/json_patch.h"
#include "kron/kube/fake/node_edit.h"

namespace kron::kube {
namespace {

Answer status_answer(int code, std::string_view reason, std::string_view message) {
  Node body = with_text(Node(Node::Map()), {"kind"}, "Status");
  body = with_text(body, {"status"}, code < 300 ? "Success" : "Failure");
  body = with_text(body, {"reason"}, reason);
  body = with_text(body, {"message"}, message);
  return {code, with(body, {"code"}, Node(std::int64_t{code}))};
}

Answer not_found(std::string_view name) { return status_answer(404, "NotFound", std::string(name) + " not found"); }
Answer conflict(std::string_view message) { return status_answer(409, "Conflict", message); }
Answer invalid(std::string_view message) { return status_answer(422, "Invalid", message); }

std::string key_text(std::string_view ns, std::string_view name) { return std::string(ns) + "/" + std::string(name); }

bool has_more_than(const Node& object, std::size_t most, Path path) {
  const Node* found = node_at(object, path);
  const auto* list = found != nullptr ? found->as<Node::List>() : nullptr;
  return list != nullptr && list->size() > most;
}

// What the schema of the status limits.
bool has_too_many_items(const Node& object) {
  return has_more_than(object, 10, {"status", "recent"}) || has_more_than(object, 256, {"status", "handled", "open"}) ||
         has_more_than(object, 64, {"status", "handled", "passedOver"}) ||
         has_more_than(object, 16, {"status", "starting"}) || has_more_than(object, 32, {"status", "active"});
}

}  // namespace

std::optional<ApiServer::Target> ApiServer::target_of(std::string_view path) {
  std::vector<std::string> parts;
  for (const char c : path) {
    if (c == '/') {
      parts.emplace_back();
    } else if (!parts.empty()) {
      parts.back() += c;
    }
  }
  // apis/<group>/<version>/namespaces/<ns>/<resource>[/<name>[/status]]
  if (parts.size() < 6 || parts.size() > 8 || parts[0] != "apis" || parts[3] != "namespaces") return std::nullopt;
  const std::string& resource = parts[5];
  const bool is_known =
      (parts[1] == "batch" && resource == "jobs") || (parts[1] == "kron.io" && resource == "kronjobs");
  if (!is_known || (parts.size() == 8 && parts[7] != "status")) return std::nullopt;
  return Target{resource, parts[4], parts.size() > 6 ? parts[6] : std::string(), parts.size() == 8};
}

Answer ApiServer::handle(const Request& request) {
  const std::optional<Target> target = target_of(request.path);
  if (!target) return status_answer(404, "NotFound", "the server could not find the requested resource");
  if (request.verb == Verb::get) return get(*target);
  const Result<Node> body = parse_json(request.body.empty() ? "{}" : request.body);
  if (!body) return status_answer(400, "BadRequest", body.error().message);
  switch (request.verb) {
    case Verb::create:
      return create_in(*target, *body, request.query.find("dryRun=All") != std::string::npos);
    case Verb::update:
      return target->is_status ? put_status(*target, *body) : status_answer(403, "Forbidden", "not allowed");
    case Verb::patch:
      return patch(*target, *body);
    default:
      return remove_with(*target, *body);
  }
}

Answer ApiServer::get(const Target& target) const {
  if (!target.name.empty()) {
    const Object found = find(target.resource, target.ns, target.name);
    return found ? Answer{200, *found} : not_found(target.name);
  }
  Node::List items;
  for (const Object& object : list(target.resource)) {
    if (text_at(*object, {"metadata", "namespace"}) == target.ns) items.push_back(*object);
  }
  Node body = with_text(Node(Node::Map()), {"metadata", "resourceVersion"}, std::to_string(version_));
  return {200, with(body, {"items"}, Node(std::move(items)))};
}

Node ApiServer::defaulted(const Target& target, Node object) const {
  if (target.resource == "kronjobs") return without(object, {"status"});
  if (!options.knows_suspend) return without(object, {"spec", "suspend"});
  if (options.forces_suspend) return with(object, {"spec", "suspend"}, Node(true));
  if (node_at(object, {"spec", "suspend"}) == nullptr) object = with(object, {"spec", "suspend"}, Node(false));
  return object;
}

Answer ApiServer::create_in(const Target& target, const Node& object, bool is_dry_run) {
  const std::string name = text_at(object, {"metadata", "name"});
  if (name.empty() || !target.name.empty()) return status_answer(400, "BadRequest", "a name is required");
  if (target.resource == "jobs") {
    if (options.namespace_terminating) {
      const Answer answer = status_answer(403, "Forbidden", "namespace " + target.ns + " is being terminated");
      Node cause = with_text(Node(Node::Map()), {"reason"}, "NamespaceTerminating");
      return {403, with(answer.body, {"details", "causes"}, Node(Node::List{std::move(cause)}))};
    }
    if (options.refuse_creates_with != 0)
      return status_answer(options.refuse_creates_with, "Refused", "no such Jobs here");
    if (node_at(object, {"spec", "template"}) == nullptr) return invalid("spec.template: Required value");
  }
  const Key key{target.resource, key_text(target.ns, name)};
  if (const auto found = objects_.find(key); found != objects_.end()) {
    const bool is_deleting = node_at(*found->second, {"metadata", "deletionTimestamp"}) != nullptr;
    return status_answer(
        409, "AlreadyExists",
        (is_deleting ? "object is being deleted: " : "") + target.resource + " " + name + " already exists");
  }
  Node made = defaulted(target, object);
  made = with_text(made, {"metadata", "namespace"}, target.ns);
  made = with_text(made, {"metadata", "creationTimestamp"}, rfc3339(now));
  made = with(made, {"metadata", "generation"}, Node(std::int64_t{1}));
  // Of a trial too: it would have one.
  made = with_text(made, {"metadata", "uid"}, "uid-" + std::to_string(++uids_));
  if (is_dry_run) return {201, with_text(made, {"metadata", "resourceVersion"}, "0")};
  return {201, *store(key, std::move(made), Event::Type::added)};
}

Answer ApiServer::put_status(const Target& target, const Node& object) {
  const Key key{target.resource, key_text(target.ns, target.name)};
  if (options.refuse_status_with != 0) return status_answer(options.refuse_status_with, "Refused", "no status here");
  const auto found = objects_.find(key);
  if (found == objects_.end()) return not_found(target.name);
  const std::string version = text_at(object, {"metadata", "resourceVersion"});
  if (version.empty() && !options.allow_unconditional) return invalid("metadata.resourceVersion: must be specified");
  if (!version.empty() && version != text_at(*found->second, {"metadata", "resourceVersion"})) {
    return conflict("the object has been modified; please apply your changes to the latest version");
  }
  if (has_too_many_items(object)) return invalid("status: Too many items");
  const Node* status = node_at(object, {"status"});
  if (is_same(status, node_at(*found->second, {"status"}))) return {200, *found->second};
  Node changed = status != nullptr ? with(*found->second, {"status"}, *status) : without(*found->second, {"status"});
  return {200, *store(key, std::move(changed), Event::Type::modified)};
}

Answer ApiServer::patch(const Target& target, const Node& patch) {
  const Key key{target.resource, key_text(target.ns, target.name)};
  const auto found = objects_.find(key);
  if (found == objects_.end()) return not_found(target.name);
  if (options.refuse_patches_with != 0)
    return status_answer(options.refuse_patches_with, "Refused", "a policy says no");
  const Node before = *found->second;
  Result<Node> changed = apply_json_patch(before, patch);
  if (!changed) return invalid(changed.error().message);
  if (is_same(&before, &*changed)) return {200, before};
  if (!is_same(node_at(before, {"spec"}), node_at(*changed, {"spec"}))) {
    const std::int64_t generation = integer_at(before, {"metadata", "generation"}).value_or(0);
    changed = with(*changed, {"metadata", "generation"}, Node(generation + 1));
  }
  return {200, *store(key, *std::move(changed), Event::Type::modified)};
}

Answer ApiServer::remove_with(const Target& target, const Node& body) {
  const Object found = find(target.resource, target.ns, target.name);
  if (!found) return not_found(target.name);
  for (const std::string_view name : {"uid", "resourceVersion"}) {
    const std::string wanted = text_at(body, {"preconditions", name});
    if (!wanted.empty() && wanted != text_at(*found, {"metadata", name})) {
      return conflict("the " + std::string(name) + " in the precondition does not match");
    }
  }
  const bool is_foreground = text_at(body, {"propagationPolicy"}) == "Foreground";
  remove(target.resource, target.ns, target.name, is_foreground ? Deletion::foreground : Deletion::background);
  const Object left = find(target.resource, target.ns, target.name);
  return left ? Answer{200, *left} : status_answer(200, "", "");
}

}  // namespace kron::kube
