#include "kron/kube/fake/api_server.h"

#include <cstdio>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/kube/fake/json_patch.h"
#include "kron/kube/fake/node_edit.h"
#include "kron/kube/fake/status_answer.h"
#include "kron/kube/wire.h"

namespace kron::kube {
namespace {

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

// "2026-11-17T10:00:00.000250Z": six digits, or the server does not decode it.
bool is_micro_time(const Node& object, Path path) {
  const std::string text = text_at(object, path);
  return text.size() == 27 && text[19] == '.' && text.back() == 'Z';
}

std::optional<Answer> undecodable(std::string_view resource, const Node& object) {
  const auto is_wrong = [&](Path path) { return node_at(object, path) != nullptr && !is_micro_time(object, path); };
  const bool is_bad_lease =
      resource == "leases" && (is_wrong({"spec", "renewTime"}) || is_wrong({"spec", "acquireTime"}));
  const bool is_bad_event = resource == "events" && !is_micro_time(object, {"eventTime"});
  if (!is_bad_lease && !is_bad_event) return std::nullopt;
  return status_answer(400, "BadRequest", "a MicroTime has six digits behind the second");
}

// As long as a real one: what is kept of an object has its size.
std::string uid_of(std::uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof text, "5eed0000-0000-4000-8000-%012llu", static_cast<unsigned long long>(number));
  return text;
}

bool is_resource(std::string_view group, std::string_view resource) {
  return (group == "batch" && resource == "jobs") || (group == "kron.io" && resource == "kronjobs") ||
         (group == "coordination.k8s.io" && resource == "leases") || (group == "events.k8s.io" && resource == "events");
}

std::string_view verb_of(const Request& request, bool is_collection) {
  switch (request.verb) {
    case Verb::get:
      if (!is_collection) return "get";
      return ApiServer::is_watch(request) ? "watch" : "list";
    case Verb::create:
      return "create";
    case Verb::update:
      return "update";
    case Verb::patch:
      return "patch";
    case Verb::remove:
      break;
  }
  return "delete";
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
  // apis/<group>/<version>[/namespaces/<ns>]/<resource>[/<name>[/status]]
  if (parts.size() < 4 || parts[0] != "apis") return std::nullopt;
  const bool is_in_namespace = parts.size() > 5 && parts[3] == "namespaces";
  const std::size_t at = is_in_namespace ? 5 : 3;
  if (!is_resource(parts[1], parts[at])) return std::nullopt;
  const std::size_t left = parts.size() - at;
  if (left > 3 || (left > 1 && !is_in_namespace) || (left == 3 && parts[at + 2] != "status")) return std::nullopt;
  return Target{parts[at], is_in_namespace ? parts[4] : std::string(), left > 1 ? parts[at + 1] : std::string(),
                left == 3};
}

std::optional<ApiServer::CallName> ApiServer::name_of(const Request& request) {
  const std::optional<Target> target = target_of(request.path);
  if (!target) return std::nullopt;
  return CallName{std::string(verb_of(request, target->name.empty())),
                  target->resource + (target->is_status ? "/status" : "")};
}

std::optional<Answer> ApiServer::refused(const Request& request) {
  const std::optional<CallName> name = name_of(request);
  if (!name) return status_answer(404, "NotFound", "the server could not find the requested resource");
  for (Refusal& refusal : options.refusals) {
    const bool applies = (refusal.verb.empty() || refusal.verb == name->verb) &&
                         (refusal.resource.empty() || refusal.resource == name->resource) && refusal.times != 0;
    if (!applies) continue;
    if (refusal.times > 0) --refusal.times;
    const std::string message = name->resource + " is refused: the user cannot " + name->verb + " it";
    return status_answer(refusal.code, refusal.reason, message, refusal.retry_after);
  }
  return std::nullopt;
}

Answer ApiServer::handle(const Request& request) {
  if (std::optional<Answer> refusal = refused(request)) return *std::move(refusal);
  const std::optional<Target> target = target_of(request.path);
  if (request.verb == Verb::get) {
    return target->name.empty() ? list_answer(*target, request.query) : get(*target);
  }
  const Result<Node> body = read_body(request.body.empty() ? "{}" : request.body);
  if (!body) return status_answer(400, "BadRequest", body.error().message);
  switch (request.verb) {
    case Verb::create:
      return create_in(*target, *body, request.query.find("dryRun=All") != std::string::npos);
    case Verb::update:
      return target->is_status ? put_status(*target, *body) : put(*target, *body);
    case Verb::patch:
      return patch(*target, *body);
    default:
      return remove_with(*target, *body);
  }
}

Answer ApiServer::get(const Target& target) const {
  const Object found = find(target.resource, target.ns, target.name);
  return found ? Answer{200, *found} : not_found(target.name);
}

Node ApiServer::defaulted(const Target& target, Node object) const {
  if (target.resource == "kronjobs") return without(object, {"status"});
  if (target.resource != "jobs") return object;
  if (!options.knows_suspend) return without(object, {"spec", "suspend"});
  if (options.forces_suspend) return with(object, {"spec", "suspend"}, Node(true));
  if (options.forces_open) return with(object, {"spec", "suspend"}, Node(false));
  if (node_at(object, {"spec", "suspend"}) == nullptr) object = with(object, {"spec", "suspend"}, Node(false));
  return object;
}

Answer ApiServer::create_in(const Target& target, const Node& object, bool is_dry_run) {
  const std::string name = text_at(object, {"metadata", "name"});
  if (name.empty() || !target.name.empty() || target.ns.empty()) {
    return status_answer(400, "BadRequest", "a name and a namespace are required");
  }
  if (std::optional<Answer> refusal = undecodable(target.resource, object)) return *std::move(refusal);
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
  made = with_text(made, {"metadata", "uid"}, uid_of(++uids_));
  if (is_dry_run) return {201, with_text(made, {"metadata", "resourceVersion"}, "0")};
  return {201, *store(key, std::move(made), Event::Type::added)};
}

// The whole object, but for its status and what the server alone writes.
Answer ApiServer::put(const Target& target, const Node& object) {
  const Key key{target.resource, key_text(target.ns, target.name)};
  if (std::optional<Answer> refusal = undecodable(target.resource, object)) return *std::move(refusal);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return not_found(target.name);
  const Node& before = *found->second;
  const std::string version = text_at(object, {"metadata", "resourceVersion"});
  if (version.empty()) return invalid("metadata.resourceVersion: must be specified for an update");
  if (version != text_at(before, {"metadata", "resourceVersion"})) {
    return conflict("the object has been modified; please apply your changes to the latest version");
  }
  const std::string uid = text_at(object, {"metadata", "uid"});
  if (!uid.empty() && uid != text_at(before, {"metadata", "uid"})) return conflict("the uid does not match");
  Node changed = object;
  for (const std::string_view kept :
       {"name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp"}) {
    const Node* value = node_at(before, {"metadata", kept});
    changed = value != nullptr ? with(changed, {"metadata", kept}, *value) : without(changed, {"metadata", kept});
  }
  const Node* status = node_at(before, {"status"});
  changed = status != nullptr ? with(changed, {"status"}, *status) : without(changed, {"status"});
  if (is_same(&before, &changed)) return {200, before};
  if (!is_same(node_at(before, {"spec"}), node_at(changed, {"spec"}))) {
    const std::int64_t generation = integer_at(before, {"metadata", "generation"}).value_or(0);
    changed = with(changed, {"metadata", "generation"}, Node(generation + 1));
  }
  return {200, *store(key, std::move(changed), Event::Type::modified)};
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
  if (!target.is_status) {
    const Node* status = node_at(before, {"status"});
    changed = status != nullptr ? with(*changed, {"status"}, *status) : without(*changed, {"status"});
  }
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
  const std::string policy = text_at(body, {"propagationPolicy"});
  remove(target.resource, target.ns, target.name,
         policy == "Foreground" ? Deletion::foreground
         : policy == "Orphan"   ? Deletion::orphan
                                : Deletion::background);
  const Object left = find(target.resource, target.ns, target.name);
  return left ? Answer{200, *left} : status_answer(200, "", "");
}

}  // namespace kron::kube
