#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kron/cluster/cluster_clock.h"
#include "kron/cluster/fence_watch.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/cluster/scripts.h"
#include "kron/env/clock.h"

namespace kron::cluster::testing {

// A link without a thread: whoever asks or posts calls Redis at once. What was posted and not answered is sent again
// before the next question, and by pump(). For one thread, and virtual time.
class DirectLink : public Link {
 public:
  // Clock outlives it.
  DirectLink(std::unique_ptr<RedisConnection> connection, Keys keys, const Clock& clock)
      : connection_(std::move(connection)), keys_(std::move(keys)), clock_(clock) {}

  std::function<void(const TimeSample&)> on_time = {};
  std::function<void(const FenceWatch::Lost&)> on_lost_writes = {};
  Nanoseconds call_timeout = std::chrono::seconds(3);
  std::function<void()> before_answer = {};  // once: what happens between Redis's answer to a question and its asker

  void post(RedisCommand command, Urgency /*urgency*/, Answered answered) override {
    posted_.push_back({std::move(command), std::move(answered)});
    if (!is_busy_) pump();
  }

  std::vector<TimedReply> ask(std::vector<RedisCommand> commands, Nanoseconds /*timeout*/) override {
    pump();
    if (!posted_.empty() || !connect()) {
      const RedisReply reply{.how = RedisReply::How::not_sent, .why = "the link is down"};
      return std::vector<TimedReply>(commands.size(), TimedReply{reply});
    }
    std::vector<TimedReply> replies = call(commands);
    if (const auto meanwhile = std::exchange(before_answer, {})) meanwhile();
    pump();
    return replies;
  }

  [[nodiscard]] bool is_up() const override { return is_up_; }
  [[nodiscard]] std::size_t posted() const { return posted_.size(); }

  // Sends what is posted. False: it is not answered yet.
  bool pump() {
    if (is_busy_) return false;
    if (fence_.needs_raise()) look();
    while (!posted_.empty()) {
      if (!connect()) return false;
      Posted& next = posted_.front();
      const TimedReply reply = call({next.command})[0];
      if (reply.reply.how == RedisReply::How::lost || reply.reply.how == RedisReply::How::not_sent) return false;
      const Answered answered = std::move(next.answered);
      posted_.pop_front();
      is_busy_ = true;
      if (answered) answered(reply);
      is_busy_ = false;
    }
    return true;
  }

  // As a quiet link does now and then: the counter of fencing tokens is looked at, and the clock.
  void look() {
    if (connect() && call({raise()})[0].reply.is_reply()) fence_.is_raised();
  }

 private:
  struct Posted {
    RedisCommand command;
    Answered answered;
  };

  RedisCommand raise() const { return RaiseCall{.seen = fence_.seen()}.command(keys_); }

  bool connect() {
    if (is_up_ && connection_->is_connected()) return true;
    is_up_ = false;
    if (!connection_->connect(call_timeout)) return false;
    std::vector<RedisCommand> commands = load_scripts();
    commands.push_back(raise());
    const std::vector<TimedReply> replies = call(std::move(commands));
    is_up_ = replies.back().reply.is_reply();
    if (!is_up_) connection_->close();
    return is_up_;
  }

  std::vector<TimedReply> call(std::vector<RedisCommand> commands) {
    std::vector<TimedReply> timed;
    const Nanoseconds sent = clock_.boot_time();
    std::vector<RedisReply> replies = connection_->call(commands, call_timeout);
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (replies[i].how != RedisReply::How::error || !replies[i].why.starts_with("NOSCRIPT")) continue;
      std::vector<RedisCommand> again = load_scripts();
      again.push_back(commands[i]);
      replies[i] = connection_->call(again, call_timeout).back();
    }
    const Nanoseconds received = clock_.boot_time();
    for (RedisReply& reply : replies) {
      if (reply.how == RedisReply::How::error && reply.why.starts_with("READONLY")) {
        reply.how = RedisReply::How::not_sent;
        connection_->close();
      }
      note(reply, {Nanoseconds(0), sent, received});
      timed.push_back({std::move(reply), sent, received});
    }
    if (!connection_->is_connected()) is_up_ = false;
    return timed;
  }

  void note(const RedisReply& reply, TimeSample sample) {
    const std::optional<Heading> heading = heading_of(reply);
    if (!heading) return;
    sample.time = heading->time;
    if (on_time) on_time(sample);
    const std::optional<FenceWatch::Lost> lost = fence_.note(*heading);
    if (!lost || !on_lost_writes) return;
    const bool was_busy = std::exchange(is_busy_, true);
    on_lost_writes(*lost);
    is_busy_ = was_busy;
  }

  std::unique_ptr<RedisConnection> connection_;
  Keys keys_;
  const Clock& clock_;
  FenceWatch fence_;
  std::deque<Posted> posted_;
  bool is_up_ = false;
  bool is_busy_ = false;
};

}  // namespace kron::cluster::testing
