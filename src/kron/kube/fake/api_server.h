#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kron/base/instant.h"
#include "kron/kube/fake/selector.h"
#include "kron/kube/transport.h"

namespace kron::kube {

// An API server as a value: KronJobs, Jobs, Leases and events, one counter of versions, compare-and-set, preconditions,
// JSON patches, deletion with finalizers, lists by pages, watches, and a Job controller that counts what it starts. It
// does what the real one does with the calls that an operator makes, and nothing of its own accord but to start Jobs:
// time, the delivery of events, compaction and garbage collection are moved by whoever holds it. Faults between it and
// its clients are theirs.
class ApiServer {
 public:
  using Object = std::shared_ptr<const Node>;

  struct Event {
    enum class Type : std::uint8_t { added, modified, deleted };
    Type type;
    std::string resource;  // "kronjobs", "jobs"
    Object object;         // as it is then; of a deletion: as it was, with the version of the deletion
    std::uint64_t version;
    Object before = {};  // of a modification
  };

  // A Job was seen unsuspended for the first time: its pods were created.
  struct Started {
    std::string uid;
    std::string name;
    std::string identity;
    std::string period;     // its period-id; empty: a run by hand
    std::string owner_uid;  // whose Job it was when it was created
  };

  // Calls that are refused: by a role that lacks a rule, by a quota, by a server that has too much to do.
  struct Refusal {
    std::string verb = {};      // "get", "list", "watch", "create", "update", "patch", "delete"; empty: any
    std::string resource = {};  // "jobs", "kronjobs/status"; empty: any
    int code = 403;
    std::string reason = "Forbidden";
    int retry_after = 0;  // seconds; 0: it does not say
    int times = -1;       // so often; negative: until it is taken back
  };

  struct Options {
    bool knows_suspend = true;    // servers before 1.22 do not
    bool forces_suspend = false;  // a webhook suspends every new Job, as queues do …
    bool forces_open = false;     // … or un-suspends it
    int refuse_creates_with = 0;  // the code by which every new Job is refused; 0: none is
    int refuse_status_with = 0;   // likewise status writes …
    int refuse_patches_with = 0;  // … and patches
    bool namespace_terminating = false;
    bool allow_unconditional = false;  // status writes without a version are taken: no real server's do
    bool gone_as_status = false;       // a watch from too old a version is answered with 410; else it says so in a line
    std::vector<Refusal> refusals = {};  // the first that applies counts
  };

  // What a call is to rules and counters: its verb as roles have it, and "jobs" or "kronjobs/status".
  struct CallName {
    std::string verb;
    std::string resource;
    auto operator<=>(const CallName&) const = default;
  };

  // Of a list: what was there at one version, in parts.
  struct Page {
    std::vector<Object> items = {};
    std::uint64_t version = 0;
    std::string next = {};  // empty: it is the last
    std::size_t remaining = 0;
  };

  // One who watches.
  struct Watch {
    std::string resource;
    std::string ns;  // empty: all
    Selector selector;
    std::uint64_t version = 0;  // of the last event that it was told
    std::optional<Seconds> timeout = {};
    bool wants_bookmarks = false;
    bool is_over = false;  // the server has nothing more to say to it
  };

  Options options;
  Instant now;

  // Anything but a watch.
  Answer handle(const Request& request);
  // The same as it goes over the wire; lists are written without copying their objects.
  Response respond(const Request& request);
  static Response response_of(const Answer& answer);
  // None: a path that is not modelled.
  static std::optional<CallName> name_of(const Request& request);

  static bool is_watch(const Request& request);
  // An Answer: it is refused.
  std::variant<Watch, Answer> watch(const Request& request);
  // The next event for it, as a line with its newline. None: it has heard of everything.
  std::optional<std::string> next_line(Watch& watch) const;
  // Whether there is one. By value: it looks ahead.
  [[nodiscard]] bool has_news(Watch watch) const;
  // How far it has heard, as a line, for one who asks for it later.
  [[nodiscard]] static std::string bookmark(const Watch& watch);

  // What happened up to now can be watched no more, and lists that were begun cannot be continued.
  void compact();
  // Only the latter.
  void expire_pages() { snapshots_.clear(); }

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
    std::string ns;    // empty: in all
    std::string name;  // empty: the collection
    bool is_status = false;
  };
  // A list that is being read by pages.
  struct Snapshot {
    std::uint64_t id = 0;
    std::uint64_t version = 0;
    std::vector<Object> items;
  };
  using Key = std::pair<std::string, std::string>;  // resource, namespace/name

  static std::optional<Target> target_of(std::string_view path);
  std::optional<Answer> refused(const Request& request);
  Answer get(const Target& target) const;
  Answer list_answer(const Target& target, std::string_view query);
  std::variant<Page, Answer> page(const Target& target, std::string_view query);
  [[nodiscard]] std::vector<Object> selected(const Target& target, const Selector& selector) const;
  Answer create_in(const Target& target, const Node& object, bool is_dry_run);
  Answer put(const Target& target, const Node& object);
  Answer put_status(const Target& target, const Node& object);
  Answer patch(const Target& target, const Node& patch);
  Answer remove_with(const Target& target, const Node& body);
  [[nodiscard]] Node defaulted(const Target& target, Node object) const;

  // As it is afterwards: an object that only waited for its last finalizer is gone then.
  Object store(const Key& key, Node object, Event::Type type);
  void drop(const Key& key);
  void look_at_job(const Node& job);  // the Job controller
  // The next event that the watch sees, and its type for it; null: there is none.
  const Event* next_event(Watch& watch, std::string_view& type) const;

  std::uint64_t version_ = 100;
  std::uint64_t compacted_ = 0;  // nothing before it is known any more
  std::uint64_t uids_ = 0;
  std::uint64_t lists_ = 0;
  std::deque<Snapshot> snapshots_;
  std::map<Key, Object> objects_;
  std::vector<Event> events_;
  std::vector<Started> started_;
  std::set<std::string> started_uids_;
  std::map<std::string, std::string> first_owners_;  // of a Job's uid
};

}  // namespace kron::kube
