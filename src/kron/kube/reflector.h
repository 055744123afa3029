#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kron/base/instant.h"
#include "kron/env/clock.h"
#include "kron/json/document.h"
#include "kron/kube/lines.h"
#include "kron/kube/transport.h"
#include "kron/kube/wire.h"

namespace kron::kube {

// Keeps its listener told of all objects of one kind: a list by pages, then a watch from the list's version, and when
// that version is too old for the server a list again, of which what is missing counts as deleted.
//
// What it says may be late or doubled, never out of order for one object; nothing is missed once a list is complete.
// Stepped, on the loop's thread: tick() and the transport's callbacks. It has no thread, and no clock of its own.
class Reflector {
 public:
  struct Gone {
    std::string ns;
    std::string name;
    std::string uid;
    std::string version;         // nothing older is news; empty: it is not known
    const Node* last = nullptr;  // as it was, if the server has said; lives as long as the call
  };
  struct Listener {
    std::function<void(const Node& object)> on_object;         // it is there, like this
    std::function<void(const Gone& gone)> on_gone;             // it is there no more, or not selected any more
    std::function<void(std::string_view version)> on_listed;   // a list was complete: all else is gone, see knows()
    std::function<void(std::string_view message)> on_trouble;  // for the log; it goes on by itself
    IsKnown is_known = {};                                     // what is known already is not told; none: nothing is
    std::function<bool()> is_busy = {};  // then what a watch says may wait, up to `patience`; none: never
  };
  struct Options {
    std::string path;           // of the collection
    std::string selector = {};  // of labels: "kron.io/name"
    std::size_t page = 500;
    Nanoseconds patience = std::chrono::milliseconds(250);
    Nanoseconds silence = Seconds(90);  // bookmarks come every minute: a watch that says nothing for so long is dead
    Seconds watch_least = std::chrono::minutes(5);  // how long the server is asked to go on: at random between these
    Seconds watch_most = std::chrono::minutes(10);
    Nanoseconds first_pause = std::chrono::milliseconds(800);  // after a failure; doubled up to …
    Nanoseconds longest_pause = Seconds(30);
    std::function<double()> jitter = {};  // from 0 up to 1; none: 0
  };

  // Transport and clock outlive it.
  Reflector(Transport& transport, const Clock& clock, Options options, Listener listener);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;
  ~Reflector();

  // To be called first of all, after each callback of the transport, and at the time that it says; nothing: there is
  // none.
  std::optional<Nanoseconds> tick();
  // Everything is listed anew, as soon as it can be.
  void relist();

  // A list was complete since it began.
  [[nodiscard]] bool has_listed() const { return has_listed_; }
  // The server has shown this object, and not said since that it is gone.
  [[nodiscard]] bool knows(std::string_view ns, std::string_view name) const;
  [[nodiscard]] std::size_t known() const { return known_.size(); }
  [[nodiscard]] std::size_t restarts() const { return restarts_; }  // of the watch, for the metrics

 private:
  enum class State : std::uint8_t { resting, listing, watching };
  struct Known {
    std::string uid;
    std::string version;
    std::uint64_t list = 0;  // the latest that has shown it; what a watch shows is of the one before
  };
  using Objects = std::unordered_map<std::string, Known>;  // by namespace/name

  void ask_for_page();
  void take_page(Outcome outcome);
  void finish_list();
  void open_watch();
  void take_bytes(std::string_view bytes);
  void read_held();
  void take_line(std::string_view line);
  void take_event(const WatchEvent& event);
  void take_watch_end(const Outcome& outcome);
  void stop();
  void rest(Nanoseconds pause);
  void fail_with(std::string_view message, std::optional<Seconds> retry_after = {});
  void begin_list_anew();
  [[nodiscard]] Nanoseconds next_pause();
  [[nodiscard]] double random() const;
  [[nodiscard]] std::string selector_query() const;

  Transport& transport_;
  const Clock& clock_;
  Options options_;
  Listener listener_;

  State state_ = State::resting;
  Nanoseconds next_at_{0};
  std::optional<Transport::Id> under_way_;
  Nanoseconds pause_{0};

  Objects known_;
  bool has_listed_ = false;
  std::string version_;  // from which to watch; empty: a list is needed

  std::uint64_t list_ = 1;    // the one that is read, or is to be read next
  std::string list_version_;  // of its first page
  std::string next_page_;

  LineReader lines_;
  std::string held_;  // what the watch said and was not read yet …
  Nanoseconds held_since_{0};
  Nanoseconds watch_began_{0};
  Nanoseconds heard_at_{0};
  bool has_heard_ = false;  // a line, since the watch began
  std::size_t restarts_ = 0;
};

}  // namespace kron::kube
