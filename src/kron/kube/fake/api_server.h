#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/kube/request.h"

namespace kron::kube {

// An API server as a value: KronJobs and Jobs, one counter of versions, compare-and-set, preconditions, JSON patches,
// deletion with finalizers, and a Job controller that counts what it starts. It does what the real one does with the
// calls that an operator makes, and nothing of its own accord but to start Jobs: time, events and garbage collection
// are moved by whoever holds it. Faults between it and its clients are theirs.
class ApiServer {
 public:
  using Object = std::shared_ptr<const Node>;

  struct Event {
    enum class Type : std::uint8_t { added, modified, deleted };
    Type type;
    std::string resource;  // "kronjobs", "jobs"
    Object object;         // as it is then; of a deletion: as it was, with the version of the deletion
    std::uint64_t version;
  };

  // A Job was seen unsuspended for the first time: its pods were created.
  struct Started {
    std::string uid;
    std::string name;
    std::string identity;
    std::string period;     // its period-id; empty: a run by hand
    std::string owner_uid;  // whose Job it was when it was created
  };

  struct Options {
    bool knows_suspend = true;    // servers before 1.22 do not
    bool forces_suspend = false;  // a webhook suspends every new Job, as queues do
    int refuse_creates_with = 0;  // the code by which every new Job is refused; 0: none is
    int refuse_status_with = 0;   // likewise status writes …
    int refuse_patches_with = 0;  // … and patches
    bool namespace_terminating = false;
    bool allow_unconditional = false;  // status writes without a version are taken: no real server's do
  };

  Options options;
  Instant now;

  Answer handle(const Request& request);

  // What everybody else does: users, queues, controllers.
  Answer create(std::string_view resource, const Node& object);
  // Nothing happens when there is no such object. A change of the spec is a new generation.
  using Edit = std::function<Node(const Node&)>;
  void edit(std::string_view resource, std::string_view ns, std::string_view name, const Edit& edit);
  enum class Deletion : std::uint8_t { background, foreground, orphan };
  void remove(std::string_view resource, std::string_view ns, std::string_view name, Deletion how);
  // The Job ends.
  void finish(std::string_view ns, std::string_view name, bool is_success);
  // Jobs whose owner is gone are deleted; what is being deleted in the foreground, and has nothing left, goes.
  void collect_garbage();

  [[nodiscard]] Object find(std::string_view resource, std::string_view ns, std::string_view name) const;
  [[nodiscard]] std::vector<Object> list(std::string_view resource) const;
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<Started>& started() const { return started_; }
  [[nodiscard]] bool has_started(const std::string& uid) const { return started_uids_.contains(uid); }
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  struct Target {
    std::string resource;
    std::string ns;
    std::string name;  // empty: the collection
    bool is_status = false;
  };
  using Key = std::pair<std::string, std::string>;  // resource, namespace/name

  static std::optional<Target> target_of(std::string_view path);
  Answer get(const Target& target) const;
  Answer create_in(const Target& target, const Node& object, bool is_dry_run);
  Answer put_status(const Target& target, const Node& object);
  Answer patch(const Target& target, const Node& patch);
  Answer remove_with(const Target& target, const Node& body);
  [[nodiscard]] Node defaulted(const Target& target, Node object) const;

  Object store(const Key& key, Node object, Event::Type type);
  void drop(const Key& key);
  void look_at_job(const Node& job);  // the Job controller

  std::uint64_t version_ = 100;
  std::uint64_t uids_ = 0;
  std::map<Key, Object> objects_;
  std::vector<Event> events_;
  std::vector<Started> started_;
  std::set<std::string> started_uids_;
  std::map<std::string, std::string> first_owners_;  // of a Job's uid
};

}  // namespace kron::kube
