#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kron/env/clock.h"
#include "kron/http/forwarder.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"
#include "kron/web/event_mirror.h"

namespace kron::web {

// The events of krond for many readers: krond sends each of them once for each role and form, however many read. Nobody
// reads whom krond has not let in: each is asked about with what he shows, and again when a token or session that could
// be his ends, and once a minute. Readers who are too slow are cut off, as krond does. When krond is lost, so are all
// readers; they come back with the last id they saw.
// All on the forwarder's thread, but for add().
class EventFan : public std::enable_shared_from_this<EventFan> {
 public:
  // How long krond's word about a reader holds.
  static constexpr Nanoseconds kJudgedFor = std::chrono::minutes(1);
  // Questions about readers at a time, so that krond has something left for others.
  static constexpr std::size_t kMostQuestions = 16;

  // Both outlive it.
  EventFan(http::Forwarder& forwarder, const Clock& clock) : forwarder_(forwarder), clock_(clock) {}

  // `request`: for /api/v1/events, with what its reader shows. `told`: what krond says of him, as a status.
  void add(http::Forwarder::Outgoing request, http::Reply reply, std::function<void(int status)> told);

 private:
  using Number = std::uint64_t;
  // As krond told it; and whether events are brief.
  using Kind = std::pair<std::string, bool>;

  struct Reader {
    http::Forwarder::Outgoing request = {};
    std::optional<http::Reply> reply = {};  // until there is a stream
    std::shared_ptr<http::Stream> stream = {};
    std::function<void(int)> told = {};
    std::string token_id = {};                // empty: not known
    std::optional<Kind> kind = {};            // once krond has let him in
    std::optional<std::uint64_t> after = {};  // what he has
    std::uint64_t judged_behind = 0;          // krond's newest event then
    Nanoseconds judged_at{0};
    bool is_asked = false;  // krond, about him
    bool again = false;     // he is to be asked about again
  };
  using Readers = std::map<Number, std::shared_ptr<Reader>>;

  // One stream of krond's.
  struct Source {
    Number flight = 0;     // 0: none
    Number opened_by = 0;  // the reader whose credentials it has
    std::optional<EventMirror> mirror = {};
    bool has_brought = false;  // something, since it was last opened
  };

  void begin(Number number, const std::shared_ptr<Reader>& reader);
  void judge(Number number);
  void ask_next();
  void judged(Number number, const http::Response& answer);
  void let_in(Number number, Reader& reader, const http::Response& answer);
  void judge_all(const std::function<bool(const Reader&)>& is_meant);
  void access_changed(const EventMirror::Block& block);

  void open(const Kind& kind);
  void refused(const Kind& kind, Number flight, const http::Response& answer);
  void begun(const Kind& kind, Number flight, const http::Response& head);
  void received(const Kind& kind, Number flight, std::string_view bytes);
  void ended(const Kind& kind, Number flight, bool is_whole);
  void deliver(const Kind& kind, const std::string& text);
  void start_readers(const Kind& kind, bool even_early);
  void lose(const Kind& kind, bool is_whole);
  Source* source_of(const Kind& kind, Number flight);

  void ask_directly(Number number);
  void drop(Number number);
  void forget(Number number);

  http::Forwarder& forwarder_;
  const Clock& clock_;
  Number next_ = 1;
  Readers readers_;
  std::map<Kind, Source> sources_;
  std::deque<Number> questions_;  // readers who wait to be asked about
  std::size_t asked_ = 0;
};

}  // namespace kron::web
