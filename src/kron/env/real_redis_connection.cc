#include "kron/env/real_redis_connection.h"

#include <algorithm>
#include <poll.h>
#include <utility>

#include "kron/env/redis_login.h"
#include "kron/env/redis_nodes.h"

namespace kron {
namespace {

using How = RedisReply::How;
using Redirect = RedisRedirect::Kind;

// While a slot is being moved, some commands must wait until all their keys are on one side.
constexpr auto kTryAgainAfter = std::chrono::milliseconds(20);
// How often a command is sent after its slot within one call.
constexpr int kMostRedirects = 32;

// Some commands of a pipeline, by their places in it, and where they have to go.
struct Redirected {
  std::vector<std::size_t> places;
  std::optional<RedisAddress> moved;  // the latest word
  std::optional<RedisAddress> ask;
};

Redirected redirected_of(const std::vector<RedisReply>& replies, const RedisAddress& from) {
  Redirected all;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i].how != How::error) continue;
    const std::optional<RedisRedirect> redirect = redirect_of(replies[i].why, from);
    if (!redirect) continue;
    all.places.push_back(i);
    if (redirect->kind == Redirect::moved) all.moved = redirect->address;
    if (redirect->kind == Redirect::ask) all.ask = redirect->address;
  }
  return all;
}

// Redis has not executed what it redirects, and nobody else has seen it.
void give_up(std::vector<RedisReply>& replies, const std::vector<std::size_t>& places, const std::string& why) {
  for (const std::size_t place : places) replies[place] = {How::not_sent, {}, replies[place].why + "; " + why};
}

// Sends the commands of these places again, each after an ASKING when told so.
void send_again(RedisSession& session, std::span<const RedisCommand> commands, const std::vector<std::size_t>& places,
                bool with_asking, Deadline deadline, std::vector<RedisReply>& replies) {
  std::vector<RedisCommand> again;
  for (const std::size_t place : places) {
    if (with_asking) again.push_back({"ASKING"});
    again.push_back(commands[place]);
  }
  std::vector<RedisReply> answers = session.exchange(again, deadline);
  const std::size_t step = with_asking ? 2 : 1;
  for (std::size_t i = 0; i < places.size(); ++i) replies[places[i]] = std::move(answers[i * step + step - 1]);
}

}  // namespace

RealRedisConnection::RealRedisConnection(RedisUrl url, std::string route_key, std::shared_ptr<RedisNodes> nodes)
    : url_(std::move(url)), route_key_(std::move(route_key)), nodes_(std::move(nodes)) {}
RealRedisConnection::~RealRedisConnection() = default;

Status RealRedisConnection::connect(Nanoseconds timeout) {
  if (session_ != nullptr) return {};
  const Deadline deadline = deadline_after(timeout);
  Result<std::unique_ptr<RedisSession>> found = find_redis_master(url_, route_key_, last_, deadline, nodes_.get());
  if (!found) return fail(found.error());
  if (nodes_ && !url_.has_sentinels()) nodes_->learn_nodes(**found, deadline);
  if ((*found)->is_broken()) return fail(Code::unreachable, "Redis at " + text_of((*found)->address()) + " hung up");
  if (nodes_) nodes_->set_server((*found)->address());
  session_ = std::move(*found);
  // Where Sentinels are asked, they are asked every time.
  if (!url_.has_sentinels()) last_ = session_->address();
  return {};
}

bool RealRedisConnection::is_connected() const { return session_ != nullptr; }

void RealRedisConnection::close() { session_.reset(); }

std::string RealRedisConnection::peer() const { return session_ == nullptr ? "" : text_of(session_->address()); }

std::vector<RedisReply> RealRedisConnection::call(std::span<const RedisCommand> commands, Nanoseconds timeout) {
  if (session_ == nullptr) {
    return std::vector<RedisReply>(commands.size(), {How::not_sent, {}, "there is no connection to Redis"});
  }
  const Deadline deadline = deadline_after(timeout);
  std::vector<RedisReply> replies = session_->exchange(commands, deadline);
  follow(commands, deadline, replies);
  const bool is_wrong = std::any_of(replies.begin(), replies.end(), [](const RedisReply& reply) {
    return reply.how == How::error && is_wrong_server(reply.why);
  });
  if (is_wrong || (session_ != nullptr && session_->is_broken())) close();
  return replies;
}

// Sends what a Redis Cluster redirects to where it belongs.
void RealRedisConnection::follow(std::span<const RedisCommand> commands, Deadline deadline,
                                 std::vector<RedisReply>& replies) {
  for (int redirects = 0;;) {
    const Redirected redirected = redirected_of(replies, session_->address());
    if (redirected.places.empty()) return;
    if (session_->is_broken()) return give_up(replies, redirected.places, "the connection broke meanwhile");
    const std::optional<RedisAddress>& elsewhere = redirected.moved ? redirected.moved : redirected.ask;
    if (!elsewhere) {
      // TRYAGAIN. The error stays what it is when the time is up.
      if (time_left(deadline) <= kTryAgainAfter) return;
      ::poll(nullptr, 0, static_cast<int>(kTryAgainAfter.count()));
      send_again(*session_, commands, redirected.places, false, deadline, replies);
      continue;
    }
    if (++redirects > kMostRedirects) return give_up(replies, redirected.places, "redirected too often");
    Result<RedisLogin> login = log_in_to_redis(*elsewhere, url_, "", deadline);
    if (!login) {
      give_up(replies, redirected.places, login.error().message);
      return close();
    }
    if (redirected.moved) {
      last_ = *elsewhere;
      if (nodes_) nodes_->note(*elsewhere);
      session_ = std::move(login->session);
      send_again(*session_, commands, redirected.places, false, deadline, replies);
    } else {
      // Those that have to be tried again go there too: it answers them the same way, or takes them.
      send_again(*login->session, commands, redirected.places, true, deadline, replies);
      if (login->session->is_broken()) return close();
    }
  }
}

}  // namespace kron
