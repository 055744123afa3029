// What happens to objects, whoever wants it: storing, deleting, and the controllers that every cluster has.
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/kube/fake/api_server.h"
#include "kron/kube/fake/node_edit.h"

namespace kron::kube {
namespace {

std::string key_of(std::string_view ns, std::string_view name) { return std::string(ns) + "/" + std::string(name); }

bool is_ended(const Node& job) {
  const Node* conditions = node_at(job, {"status", "conditions"});
  return conditions != nullptr && conditions->as<Node::List>() != nullptr && !conditions->as<Node::List>()->empty();
}

bool is_deleting(const Node& object) { return node_at(object, {"metadata", "deletionTimestamp"}) != nullptr; }

// Those of others: the server's own, for a deletion in the foreground, goes by garbage collection.
constexpr std::string_view kForeground = "foregroundDeletion";
std::size_t finalizers_of(const Node& object, bool is_foreground_counted) {
  const Node* found = node_at(object, {"metadata", "finalizers"});
  const auto* list = found != nullptr ? found->as<Node::List>() : nullptr;
  if (list == nullptr) return 0;
  std::size_t count = 0;
  for (const Node& one : *list) {
    const auto* text = one.as<std::string>();
    if (is_foreground_counted || text == nullptr || *text != kForeground) ++count;
  }
  return count;
}

Node with_foreground(const Node& object) {
  const Node* found = node_at(object, {"metadata", "finalizers"});
  Node::List list = found != nullptr && found->as<Node::List>() != nullptr ? *found->as<Node::List>() : Node::List();
  list.emplace_back(std::string(kForeground));
  return with(object, {"metadata", "finalizers"}, Node(std::move(list)));
}

std::string owner_uid_of(const Node& job) {
  const Node* owners = node_at(job, {"metadata", "ownerReferences"});
  const auto* list = owners != nullptr ? owners->as<Node::List>() : nullptr;
  return list != nullptr && !list->empty() ? text_at(list->front(), {"uid"}) : std::string();
}

}  // namespace

ApiServer::Object ApiServer::store(const Key& key, Node object, Event::Type type) {
  ++version_;
  object = with_text(object, {"metadata", "resourceVersion"}, std::to_string(version_));
  auto stored = std::make_shared<const Node>(std::move(object));
  Object before = std::exchange(objects_[key], stored);
  events_.push_back({type, key.first, stored, version_, before});
  if (key.first == "jobs") look_at_job(*stored);
  const bool had_finalizers = before && finalizers_of(*before, true) > 0;
  if (had_finalizers && is_deleting(*stored) && finalizers_of(*stored, true) == 0) drop(key);
  return stored;
}

void ApiServer::drop(const Key& key) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  ++version_;
  auto last = std::make_shared<const Node>(
      with_text(*found->second, {"metadata", "resourceVersion"}, std::to_string(version_)));
  objects_.erase(found);
  events_.push_back({Event::Type::deleted, key.first, std::move(last), version_});
}

// Strict: pods start in the very moment in which a Job is not suspended.
void ApiServer::look_at_job(const Node& job) {
  const std::string uid = text_at(job, {"metadata", "uid"});
  first_owners_.emplace(uid, owner_uid_of(job));
  if (is_true_at(job, {"spec", "suspend"}) || is_deleting(job) || is_ended(job)) return;
  if (!started_uids_.insert(uid).second) return;
  const auto annotation = [&](std::string_view key) { return annotation_of(job, key).value_or(""); };
  started_.push_back({uid, text_at(job, {"metadata", "name"}), annotation("kron.io/identity"),
                      annotation("kron.io/period-id"), first_owners_[uid]});
}

Answer ApiServer::create(std::string_view resource, const Node& object) {
  return create_in({std::string(resource), text_at(object, {"metadata", "namespace"}), {}, false}, object, false);
}

void ApiServer::edit(std::string_view resource, std::string_view ns, std::string_view name, const Edit& edit) {
  const Object found = find(resource, ns, name);
  if (!found) return;
  Node changed = edit(*found);
  if (is_same(&*found, &changed)) return;
  if (!is_same(node_at(*found, {"spec"}), node_at(changed, {"spec"}))) {
    const std::int64_t generation = integer_at(*found, {"metadata", "generation"}).value_or(0);
    changed = with(changed, {"metadata", "generation"}, Node(generation + 1));
  }
  store({std::string(resource), key_of(ns, name)}, std::move(changed), Event::Type::modified);
}

void ApiServer::remove(std::string_view resource, std::string_view ns, std::string_view name, Deletion how) {
  const Object found = find(resource, ns, name);
  if (!found) return;
  const Key key{std::string(resource), key_of(ns, name)};
  if (how == Deletion::orphan) {
    const std::string uid = text_at(*found, {"metadata", "uid"});
    for (const Object& job : list("jobs")) {
      if (owner_uid_of(*job) != uid) continue;
      const std::string job_key = key_of(text_at(*job, {"metadata", "namespace"}), text_at(*job, {"metadata", "name"}));
      store({"jobs", job_key}, without(*job, {"metadata", "ownerReferences"}), Event::Type::modified);
    }
  }
  if (how != Deletion::foreground && finalizers_of(*found, false) == 0) return drop(key);
  if (is_deleting(*found)) return;
  const Node marked = with_text(*found, {"metadata", "deletionTimestamp"}, rfc3339(now));
  store(key, how == Deletion::foreground ? with_foreground(marked) : marked, Event::Type::modified);
}

void ApiServer::finish(std::string_view ns, std::string_view name, bool is_success) {
  edit("jobs", ns, name, [&](const Node& job) {
    if (is_ended(job)) return job;
    Node condition = with_text(Node(Node::Map()), {"type"}, is_success ? "Complete" : "Failed");
    condition = with_text(condition, {"status"}, "True");
    condition = with_text(condition, {"lastTransitionTime"}, rfc3339(now));
    Node ended = with(job, {"status", "conditions"}, Node(Node::List{std::move(condition)}));
    return is_success ? with_text(ended, {"status", "completionTime"}, rfc3339(now)) : ended;
  });
}

void ApiServer::collect_garbage() {
  std::set<std::string> uids;
  for (const Object& kron_job : list("kronjobs")) {
    if (!is_deleting(*kron_job)) uids.insert(text_at(*kron_job, {"metadata", "uid"}));
  }
  for (const Object& job : list("jobs")) {
    const std::string owner = owner_uid_of(*job);
    if (finalizers_of(*job, false) > 0) continue;
    if (is_deleting(*job) || (!owner.empty() && !uids.contains(owner))) {
      drop({"jobs", key_of(text_at(*job, {"metadata", "namespace"}), text_at(*job, {"metadata", "name"}))});
    }
  }
  for (const Object& kron_job : list("kronjobs")) {
    if (!is_deleting(*kron_job) || finalizers_of(*kron_job, false) > 0) continue;
    const std::string ns = text_at(*kron_job, {"metadata", "namespace"});
    drop({"kronjobs", key_of(ns, text_at(*kron_job, {"metadata", "name"}))});
  }
}

ApiServer::Object ApiServer::find(std::string_view resource, std::string_view ns, std::string_view name) const {
  const auto found = objects_.find(Key(std::string(resource), key_of(ns, name)));
  return found != objects_.end() ? found->second : nullptr;
}

std::vector<ApiServer::Object> ApiServer::list(std::string_view resource) const {
  return selected({std::string(resource), {}, {}, false}, Selector());
}

}  // namespace kron::kube
