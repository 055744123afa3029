#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/clock.h"
#include "kron/kube/fake/api_server.h"
#include "kron/kube/transport.h"

namespace kron::testing {

// The way to an ApiServer without a network: nothing happens but when it is stepped, at the time of the clock that the
// test moves. Several may lead to one server; each is what one operator sees of it. It sets the server's `now` when a
// request arrives.
class ModelTransport : public kube::Transport {
 public:
  // What becomes of a request on its way.
  enum class Fate : std::uint8_t {
    answered,
    not_sent,     // the server never sees it, and the caller is told so
    answer_lost,  // it is carried out, and the caller is told after `patience` that nobody knows
    floats,       // the caller is told the same; it is carried out by land(), or `lands_after` it was sent
  };
  // What becomes of a line of a watch.
  enum class LineFate : std::uint8_t {
    whole,
    twice,     // as after a watch that begins where the last one did
    in_bytes,  // one by one
    cut,       // the stream breaks within the line
  };
  struct Asked {
    Nanoseconds at{0};  // of the monotonic clock
    kube::Request request;
    kube::Lane lane = kube::Lane::call;
    bool is_stream = false;
  };

  // Both outlive it.
  ModelTransport(kube::ApiServer& server, const Clock& clock) : server_(server), clock_(clock) {}

  Id send(kube::Request request, kube::Lane lane, OnEnd on_end) override;
  Id open(kube::Request request, OnBytes on_bytes, OnEnd on_end) override;
  void cancel(Id id) override;

  // Faults; they count for what is sent, or comes, from now on.
  std::function<Fate(const Asked&)> fate = {};                    // none: answered
  std::function<LineFate(std::string_view line)> line_fate = {};  // none: whole
  Nanoseconds way{0};                                             // how long a request takes to the server …
  Nanoseconds way_back{0};                                        // … and its answer to us
  Nanoseconds event_delay{0};                                     // how late a watch hears of something
  Nanoseconds patience = Seconds(5);
  std::optional<Nanoseconds> lands_after = {};
  bool holds_events = false;  // watches are open and say nothing, not even bookmarks
  bool is_down = false;       // nothing can be sent; see cut_watches()
  // Requests are judged and carried out by this instead of the server itself: a witness looks on.
  std::function<kube::Response(const kube::Request&)> respond = {};

  // Streams that are open end: by the server, as at their time, or without a word.
  void cut_watches(bool is_orderly = false);
  [[nodiscard]] std::size_t watches() const;
  // Requests that are still on their way to the server when nobody waits for them any more; the oldest first.
  struct Floating {
    kube::Request request;
    std::optional<Nanoseconds> lands_at = {};  // by itself
  };
  [[nodiscard]] const std::vector<Floating>& floating() const { return floating_; }
  void land(std::size_t which);

  // Does the one thing that is due first: a request arrives, an answer or a line comes. False: nothing is due by now.
  bool step();
  // Steps until nothing is due; how many there were.
  std::size_t settle();
  // When step() will have something to do; nothing: when something is sent or the server changes.
  [[nodiscard]] std::optional<Nanoseconds> next_at() const;

  // Everything that was ever sent.
  [[nodiscard]] const std::vector<Asked>& asked() const { return asked_; }
  // Requests without an end yet, streams among them.
  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }

 private:
  struct Call {
    Asked asked;
    Fate fate = Fate::answered;
    OnBytes on_bytes = {};
    OnEnd on_end = {};  // none: cancelled
    Nanoseconds due{0};
    bool has_arrived = false;
    std::optional<kube::Outcome> outcome = {};  // what it is told at `due`
    std::optional<kube::ApiServer::Watch> watch = {};
    std::optional<Nanoseconds> line_due = {};
    Nanoseconds ends_at{0};  // of a watch
    Nanoseconds bookmark_at{0};
  };
  using Calls = std::map<Id, Call>;

  Id add(Call call);
  bool land_one();
  // When the call has something to do.
  [[nodiscard]] std::optional<Nanoseconds> due(const Call& call) const;
  void arrive(Call& call);
  void tell_line(Calls::iterator at);
  void tell(Id id, std::string_view bytes);
  void end(Calls::iterator at, kube::Outcome outcome);
  kube::Response carry_out(const kube::Request& request);

  kube::ApiServer& server_;
  const Clock& clock_;
  Id last_ = 0;
  Calls under_way_;
  std::vector<Floating> floating_;
  std::vector<Asked> asked_;
};

}  // namespace kron::testing
