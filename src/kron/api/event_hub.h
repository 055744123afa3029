#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/http/reply.h"

namespace kron::api {

// The events of the log for those who watch, as server-sent events with ids that only grow. Any thread may publish and
// subscribe; nobody waits for a reader: one that is too slow is cut off, and comes back with the last id it saw. Nor
// does who publishes wait while an event goes to all of them.
class EventHub {
 public:
  enum class Form : std::uint8_t {
    full,
    brief,  // without the members that explain a decision (brief_event.h)
  };
  // A reader hears from us at least so often, so that it can tell silence from absence, and proxies keep the stream.
  static constexpr Nanoseconds kBetweenBeats = std::chrono::seconds(3);

  // What is kept goes to a reader who comes back in one piece, so it must fit into what a stream may have waiting.
  static constexpr std::size_t kMostKept = std::size_t{512} << 10;

  // `first_id`: behind every id that an earlier daemon gave, so the time of the start in microseconds. `most_kept`:
  // bytes.
  explicit EventHub(std::uint64_t first_id, std::size_t most_kept = kMostKept)
      : first_(first_id), next_(first_id), most_kept_(most_kept) {}

  // How what was published gets to the readers: `post` has its task done soon and not at once, by the thread that
  // subscribes. Until then publish() does it.
  using Post = std::function<void(std::function<void()>)>;
  void deliver_by(Post post);

  void publish(std::string_view event, std::string_view json);

  // The id of the newest event, or the one before the first: who subscribes with it misses nothing from now on.
  std::uint64_t last_id() const;

  // From now on; with an id, everything behind it first; with 0, everything this daemon has told. An event `gap` says
  // when some of that is not kept any more (reason `dropped`), or when the id is of an earlier daemon, of which nothing
  // is kept (reason `restarted`). A comment follows: all of it has come.
  void subscribe(const std::shared_ptr<http::Stream>& stream, std::optional<std::uint64_t> after,
                 Form form = Form::full);

  // Sends all readers a comment, by the thread that delivers. To be called every kBetweenBeats.
  void beat();

  void leave(const std::shared_ptr<http::Stream>& stream);

  std::size_t streams() const;
  // All that is kept, as a reader gets it who wants everything.
  std::string kept_text() const;
  // Ends all streams, behind what was published, by the thread that delivers.
  void end();

 private:
  struct Event {
    std::uint64_t id;
    std::string text;
  };

  struct Reader {
    std::shared_ptr<http::Stream> stream;
    std::uint64_t last;  // the id of the last event it was sent
    Form form;
  };

  void deliver();
  void end_streams();
  void send_beat();
  std::string text_after(std::uint64_t id, Form form) const;

  mutable std::mutex mutex_;  // held for moments, and never while a stream is used: that may end in leave()
  const std::uint64_t first_;
  std::uint64_t next_;
  std::size_t most_kept_;
  std::deque<Event> kept_;
  std::size_t kept_bytes_ = 0;
  Post post_ = [](const std::function<void()>& task) { task(); };
  std::vector<Reader> readers_;
  bool is_posted_ = false;  // deliver(), and it has not begun
};

}  // namespace kron::api
