#include "kron/api/follow_others.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "kron/api/paths.h"

namespace kron::api {
namespace {

constexpr Nanoseconds kLookElsewhereAgain = std::chrono::milliseconds(500);
constexpr std::size_t kPieceFromElsewhere = std::size_t{64} << 10;

// One who follows. Its steps come one after the other: it looks aside, sends a piece at a time on the server's thread,
// and waits in the OutputFollower for the end of the run or the next look.
class FollowedElsewhere : public std::enable_shared_from_this<FollowedElsewhere> {
 public:
  FollowedElsewhere(Parts& parts, std::string run_id) : parts_(parts), run_id_(std::move(run_id)) {}
  FollowedElsewhere(const FollowedElsewhere&) = delete;
  FollowedElsewhere& operator=(const FollowedElsewhere&) = delete;
  // Whoever still reads must not take what he has for the whole.
  ~FollowedElsewhere() {
    if (stream_ && !has_ended_) stream_->cut();
  }

  void begin(std::shared_ptr<http::Stream> stream, OtherHosts::Output output) {
    stream_ = std::move(stream);
    output_ = std::move(output);
    send();
  }
  void is_gone() { is_gone_ = true; }

 private:
  void look() {
    if (!parts_.aside([self = shared_from_this()] { self->read(); })) wait();
  }

  void read() {
    if (is_gone_) return;
    Result<OtherHosts::Output> output = parts_.others.output(run_id_, output_.next);
    if (!output && output.error().code != Code::unreachable) return;
    if (!output) return wait();
    output_ = *std::move(output);
    sent_ = 0;
    send();
  }

  void send() {
    if (is_gone_) return;
    if (sent_ == output_.text.size()) return go_on();
    std::string piece = output_.text.substr(sent_, kPieceFromElsewhere);
    sent_ += piece.size();
    if (!stream_->write(std::move(piece))) return;
    stream_->on_drained([self = shared_from_this()] { self->send(); });
  }

  void go_on() {
    if (output_.has_more) return look();
    if (!output_.is_over) return wait();
    has_ended_ = true;
    stream_->end();
  }

  // By the loop: the follower may end while this is looked for aside, but not while the loop works.
  void wait() {
    parts_.on_loop([self = shared_from_this()] {
      OutputFollower& outputs = self->parts_.outputs;
      outputs.await_end(outputs.new_ticket(), self->run_id_, kLookElsewhereAgain, [self] { self->look(); });
    });
  }

  Parts& parts_;
  std::string run_id_;
  std::shared_ptr<http::Stream> stream_;
  OtherHosts::Output output_;
  std::size_t sent_ = 0;  // of its text
  bool has_ended_ = false;
  std::atomic<bool> is_gone_ = false;
};

// What is there is read before the answer begins: it may be a refusal.
void begin_to_follow(Parts& parts, const CallPtr& call) {
  const std::string& run_id = call->names.front();
  Result<OtherHosts::Output> output = parts.others.output(run_id, 0);
  if (!output) return call->refuse(output.error());
  auto followed = std::make_shared<FollowedElsewhere>(parts, run_id);
  call->on_gone([followed = std::weak_ptr(followed)] {
    if (const auto it = followed.lock()) it->is_gone();
  });
  auto stream = call->begin({.content_type = "application/octet-stream"});
  if (!stream) return;
  stream->counts_as_whole();
  followed->begin(std::move(stream), *std::move(output));
}

}  // namespace

void follow_output_of_others(Parts& parts, const CallPtr& call) {
  if (!parts.aside([&parts, call] { begin_to_follow(parts, call); })) call->refuse(too_busy());
}

}  // namespace kron::api
