#include "kron/cluster/link_thread.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "kron/base/text.h"
#include "kron/cluster/calls.h"
#include "kron/cluster/outcome_text.h"
#include "kron/cluster/scripts.h"
#include "kron/env/thread_start.h"

namespace kron::cluster {
namespace {

using How = RedisReply::How;

// Of scripts, for one batch: somebody may flush them as often as they are loaded.
constexpr int kMostReloads = 3;

// Redis says so before it executes anything, and will say otherwise later or elsewhere.
bool is_not_executed(const RedisReply& reply) {
  constexpr std::array<std::string_view, 6> kCodes = {"READONLY",   "LOADING",     "BUSY ",
                                                      "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"};
  return reply.how == How::error &&
         std::ranges::any_of(kCodes, [&](std::string_view code) { return reply.why.starts_with(code); });
}

bool is_unknown_script(const RedisReply& reply) { return reply.how == How::error && reply.why.starts_with("NOSCRIPT"); }

std::size_t bytes_of(const RedisCommand& command) {
  std::size_t bytes = 0;
  for (const std::string& part : command) bytes += part.size() + 16;
  return bytes;
}

RedisReply not_sent(std::string why) { return {.how = How::not_sent, .why = std::move(why)}; }

}  // namespace

// What somebody waits for. The link takes it, unless the asker has gone by then.
struct LinkThread::Question {
  enum class Phase : std::uint8_t { queued, sent, answered, given_up };

  std::vector<RedisCommand> commands;
  std::mutex mutex;
  std::condition_variable answered;
  Phase phase = Phase::queued;
  std::vector<TimedReply> replies;

  // False: the asker does not want it any more.
  bool take() {
    const std::lock_guard lock(mutex);
    if (phase != Phase::queued) return false;
    phase = Phase::sent;
    return true;
  }
  void answer(std::vector<TimedReply> with) {
    const std::lock_guard lock(mutex);
    if (phase == Phase::given_up) return;
    replies = std::move(with);
    phase = Phase::answered;
    answered.notify_all();
  }
  void answer_all(const RedisReply& reply) { answer(std::vector<TimedReply>(commands.size(), TimedReply{reply})); }
};

struct LinkThread::Outgoing {
  std::vector<Item> items;
  std::size_t urgent = 0;  // the first so many; the rest is bulk
  std::vector<RedisCommand> commands;
};

LinkThread::LinkThread(std::unique_ptr<RedisConnection> connection, Keys keys, const Clock& clock, Log& log,
                       Options options)
    : connection_(std::move(connection)),
      keys_(std::move(keys)),
      clock_(clock),
      log_(log),
      options_(std::move(options)),
      pause_(options_.first_pause) {}

LinkThread::LinkThread(std::unique_ptr<RedisConnection> connection, Keys keys, const Clock& clock, Log& log)
    : LinkThread(std::move(connection), std::move(keys), clock, log, Options{}) {}

LinkThread::~LinkThread() { stop(Nanoseconds(0)); }

void LinkThread::every(Nanoseconds period, std::function<void()> function) {
  timers_.push_back({period, clock_.monotonic(), std::move(function)});
}

Status LinkThread::start() {
  Result<std::thread> thread = with_thread("Redis", [this] { return std::thread([this] { run(); }); });
  if (!thread) return fail(thread.error());
  thread_ = *std::move(thread);
  return {};
}

void LinkThread::stop(Nanoseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    stop_at_ = clock_.monotonic() + patience;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  give_up_all();
}

void LinkThread::post(RedisCommand command, Urgency urgency, Answered answered) {
  {
    const std::lock_guard lock(mutex_);
    Item item{{std::move(command), std::move(answered)}, {}};
    (urgency == Urgency::urgent ? urgent_ : bulk_).push_back(std::move(item));
  }
  changed_.notify_all();
}

std::vector<TimedReply> LinkThread::ask(std::vector<RedisCommand> commands, Nanoseconds timeout) {
  auto question = std::make_shared<Question>();
  question->commands = std::move(commands);
  const std::size_t count = question->commands.size();
  if (count == 0) return {};
  {
    const std::lock_guard lock(mutex_);
    if (!is_up() || is_late_ || is_stopping_) {
      const std::string why = why_down_.empty() ? "Redis has not answered in time" : why_down_;
      return std::vector<TimedReply>(count, TimedReply{not_sent(why)});
    }
    urgent_.push_back({{}, question});
  }
  changed_.notify_all();
  std::unique_lock lock(question->mutex);
  const bool in_time =
      question->answered.wait_for(lock, timeout, [&] { return question->phase == Question::Phase::answered; });
  if (in_time) return std::move(question->replies);
  const bool was_sent = question->phase == Question::Phase::sent;
  question->phase = Question::Phase::given_up;
  // From now on nobody waits: until something is answered, whoever asks is told so at once.
  is_late_ = true;
  const RedisReply reply{.how = was_sent ? How::lost : How::not_sent, .why = "Redis has not answered in time"};
  return std::vector<TimedReply>(count, TimedReply{reply});
}

std::string LinkThread::why_down() const {
  const std::lock_guard lock(mutex_);
  return why_down_;
}

std::string LinkThread::why_forbidden() const {
  const std::lock_guard lock(mutex_);
  return why_forbidden_;
}

Nanoseconds LinkThread::next_timer() const {
  Nanoseconds next = Nanoseconds::max();
  for (const Timer& timer : timers_) next = std::min(next, timer.next);
  return next;
}

bool LinkThread::run_timers() {
  const Nanoseconds now = clock_.monotonic();
  bool has_run = false;
  for (Timer& timer : timers_) {
    if (timer.next > now) continue;
    timer.next = now + timer.period;
    timer.function();
    has_run = true;
  }
  return has_run;
}

void LinkThread::run() {
  last_call_ = clock_.monotonic();
  while (true) {
    run_timers();
    const Nanoseconds now = clock_.monotonic();
    {
      std::unique_lock lock(mutex_);
      const bool has_work = !urgent_.empty() || !bulk_.empty();
      if (is_stopping_ && (!has_work || now >= *stop_at_)) return;
      Nanoseconds wake = next_timer();
      const bool is_idle = is_up() ? !has_work : now < connect_at_;
      wake = std::min(wake, is_up() ? last_call_ + options_.quiet : connect_at_);
      if (is_stopping_) wake = std::min(wake, *stop_at_);
      if (is_idle && wake > now) {
        // A notification while it is down is no reason to connect sooner; it is looked at and waited again.
        changed_.wait_for(lock, std::min<Nanoseconds>(wake - now, std::chrono::hours(1)));
        continue;
      }
    }
    if (!is_up()) {
      if (now >= connect_at_) connect();
      continue;
    }
    Outgoing batch = take_batch();
    if (!batch.items.empty()) {
      send(std::move(batch));
    } else if (clock_.monotonic() >= last_call_ + options_.quiet) {
      ask_for_the_time();
    }
    if (is_up() && fence_.needs_raise()) ask_for_the_time();
  }
}

std::vector<RedisReply> LinkThread::call(const std::vector<RedisCommand>& commands) {
  last_call_ = clock_.monotonic();
  std::vector<RedisReply> replies = connection_->call(commands, options_.call_timeout);
  last_call_ = clock_.monotonic();
  for (std::size_t i = 0; i < replies.size(); ++i) note_rights(commands[i], replies[i]);
  return replies;
}

// Said once, with what cures it; those who asked say only that they were refused.
void LinkThread::note_rights(const RedisCommand& command, RedisReply& reply) {
  const RightsWatch::News news = rights_.note(command, reply);
  if (news == RightsWatch::News::none) return;
  const bool is_missing = news == RightsWatch::News::missing;
  const std::string why = is_missing && options_.explained ? options_.explained(reply.why) : reply.why;
  if (is_missing) {
    log_.error("redis_forbids", {{"command", told_of(command)}, {"reason", why}});
  } else {
    log_.info("redis_allows_again", {{"command", told_of(command)}});
  }
  const std::lock_guard lock(mutex_);
  why_forbidden_ = is_missing ? why : "";
}

bool LinkThread::connect() {
  Status connected = connection_->connect(options_.connect_timeout);
  if (connected) connected = greet();
  if (connected) {
    pause_ = options_.first_pause;
    {
      const std::lock_guard lock(mutex_);
      why_down_.clear();
      is_late_ = false;
      is_up_ = true;
    }
    log_.info("redis_connected", {});
    for (const Listener& listener : listeners_) {
      if (listener.on_up) listener.on_up();
    }
    return true;
  }
  connection_->close();
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = why_down_ != connected.error().message;
    why_down_ = connected.error().message;
  }
  // Once for each reason: it tries for as long as it takes.
  if (is_new) {
    const std::string& why = connected.error().message;
    log_.error("redis_unreachable", {{"reason", options_.explained ? options_.explained(why) : why}});
  }
  connect_at_ = clock_.monotonic() + pause_;
  pause_ = std::min(2 * pause_, options_.longest_pause);
  return false;
}

// What comes before anything else on a new connection.
Status LinkThread::greet() {
  std::vector<RedisCommand> commands = load_scripts();
  commands.insert(commands.begin(), RedisCommand{"ROLE"});
  const std::vector<RedisReply> replies = call(commands);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const RedisReply& reply = replies[i];
    if (reply.how == How::lost || reply.how == How::not_sent) {
      return fail(Code::unreachable, "Redis does not answer: " + reply.why);
    }
    if (i == 0) {
      // Who may not ask assumes so; a replica refuses the first write.
      const auto& items = reply.value.items;
      if (reply.is_reply() && !items.empty() && items[0].text != "master") {
        return fail(Code::unreachable, "this Redis is not the master: it says that it is a " + items[0].text);
      }
    } else if (reply.how == How::error) {
      return fail(Code::refused, "Redis does not take our scripts: " + reply.why);
    }
  }
  const Nanoseconds sent = clock_.boot_time();
  RaiseCall raise{.seen = fence_.seen(), .outcomes_cap = options_.outcomes_cap};
  raise.outcome = lost_writes_text(options_.host, fence_.seen());
  const std::vector<RedisReply> raised = call({raise.command(keys_)});
  if (!raised[0].is_reply()) return fail(Code::unreachable, "Redis does not take writes: " + raised[0].why);
  note(raised[0], sent, clock_.boot_time());
  return {};
}

void LinkThread::go_down(const Error& why) {
  connection_->close();
  connect_at_ = clock_.monotonic() + pause_;
  pause_ = std::min(2 * pause_, options_.longest_pause);
  {
    const std::lock_guard lock(mutex_);
    if (!is_up()) return;
    is_up_ = false;
    why_down_ = why.message;
  }
  log_.error("redis_lost", {{"reason", why.message}});
  for (const Listener& listener : listeners_) {
    if (listener.on_down) listener.on_down(why);
  }
}

LinkThread::Outgoing LinkThread::take_batch() {
  Outgoing batch;
  const std::lock_guard lock(mutex_);
  while (!urgent_.empty()) {
    Item item = std::move(urgent_.front());
    urgent_.pop_front();
    if (!item.question) {
      batch.commands.push_back(item.posted.command);
    } else if (item.question->take()) {
      std::ranges::copy(item.question->commands, std::back_inserter(batch.commands));
    } else {
      continue;
    }
    batch.items.push_back(std::move(item));
  }
  batch.urgent = batch.items.size();
  std::size_t bytes = 0;
  while (!bulk_.empty()) {
    bytes += bytes_of(bulk_.front().posted.command);
    if (bytes > options_.bulk_bytes && batch.items.size() > batch.urgent) break;
    batch.commands.push_back(bulk_.front().posted.command);
    batch.items.push_back(std::move(bulk_.front()));
    bulk_.pop_front();
  }
  return batch;
}

void LinkThread::send(Outgoing batch) {
  const Nanoseconds sent = clock_.boot_time();
  std::vector<RedisReply> replies = call(batch.commands);
  for (int i = 0; i < kMostReloads && resend_unknown_scripts(batch.commands, replies); ++i) {
  }
  settle(std::move(batch), std::move(replies), sent);
}

// Somebody has emptied Redis's cache of scripts. What it did not know it has not executed: those are sent again, in
// their order, once all are loaded. True when there may be more of them.
bool LinkThread::resend_unknown_scripts(const std::vector<RedisCommand>& commands, std::vector<RedisReply>& replies) {
  std::vector<std::size_t> places;
  std::vector<RedisCommand> again = load_scripts();
  const std::size_t scripts = again.size();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!is_unknown_script(replies[i])) continue;
    places.push_back(i);
    again.push_back(commands[i]);
  }
  if (places.empty()) return false;
  std::vector<RedisReply> answers = call(again);
  for (std::size_t i = 0; i < places.size(); ++i) replies[places[i]] = std::move(answers[scripts + i]);
  return answers[0].is_reply();
}

void LinkThread::settle(Outgoing batch, std::vector<RedisReply> replies, Nanoseconds sent) {
  const Nanoseconds received = clock_.boot_time();
  std::optional<Error> broken;
  for (RedisReply& reply : replies) {
    if (is_not_executed(reply)) reply.how = How::not_sent;
    if (reply.how == How::lost || reply.how == How::not_sent) {
      if (!broken) broken = Error{Code::unreachable, reply.why};
    } else {
      note(reply, sent, received);
    }
  }
  if (!broken) {
    pause_ = options_.first_pause;
    is_late_ = false;
  }
  std::vector<Item> urgent;
  std::vector<Item> bulk;
  std::size_t place = 0;
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    Item& item = batch.items[i];
    if (item.question) {
      std::vector<TimedReply> answers;
      for (std::size_t k = 0; k < item.question->commands.size(); ++k) {
        answers.push_back({std::move(replies[place++]), sent, received});
      }
      item.question->answer(std::move(answers));
      continue;
    }
    RedisReply& reply = replies[place++];
    if (reply.how == How::lost || reply.how == How::not_sent) {
      (i < batch.urgent ? urgent : bulk).push_back(std::move(item));
    } else if (item.posted.answered) {
      item.posted.answered({std::move(reply), sent, received});
    }
  }
  put_back(std::move(urgent), std::move(bulk));
  if (broken) go_down(*broken);
}

// Before all that was posted since.
void LinkThread::put_back(std::vector<Item> items, std::vector<Item> bulk) {
  const std::lock_guard lock(mutex_);
  urgent_.insert(urgent_.begin(), std::move_iterator(items.begin()), std::move_iterator(items.end()));
  bulk_.insert(bulk_.begin(), std::move_iterator(bulk.begin()), std::move_iterator(bulk.end()));
}

void LinkThread::note(const RedisReply& reply, Nanoseconds sent, Nanoseconds received) {
  const std::optional<Heading> heading = heading_of(reply);
  if (!heading) return;
  const TimeSample sample{heading->time, sent, received};
  const std::optional<FenceWatch::Lost> lost = fence_.note(*heading);
  for (const Listener& listener : listeners_) {
    if (listener.on_time) listener.on_time(sample);
    if (lost && listener.on_lost_writes) listener.on_lost_writes(*lost);
  }
}

// The counter is raised if it must be.
void LinkThread::ask_for_the_time() {
  const Nanoseconds sent = clock_.boot_time();
  RaiseCall raise{.seen = fence_.seen(), .outcomes_cap = options_.outcomes_cap};
  raise.outcome = lost_writes_text(options_.host, fence_.seen());
  Outgoing batch;
  batch.commands.push_back(raise.command(keys_));
  batch.items.push_back({{batch.commands[0], {}}, {}});
  batch.urgent = 1;
  std::vector<RedisReply> replies = call(batch.commands);
  for (int i = 0; i < kMostReloads && resend_unknown_scripts(batch.commands, replies); ++i) {
  }
  const bool is_answered = replies[0].is_reply() || replies[0].how == How::error;
  // It is not sent again: the next connection begins with it.
  if (is_answered && !is_not_executed(replies[0])) {
    is_late_ = false;
    note(replies[0], sent, clock_.boot_time());
    if (replies[0].is_reply()) fence_.is_raised();
    return;
  }
  go_down({Code::unreachable, replies[0].why});
}

// Nobody will send these any more.
void LinkThread::give_up_all() {
  std::deque<Item> urgent;
  std::deque<Item> bulk;
  {
    const std::lock_guard lock(mutex_);
    is_up_ = false;
    if (why_down_.empty()) why_down_ = "the link has ended";
    urgent.swap(urgent_);
    bulk.swap(bulk_);
  }
  const RedisReply reply = not_sent("the link has ended");
  for (std::deque<Item>* items : {&urgent, &bulk}) {
    for (Item& item : *items) {
      if (item.question) {
        item.question->answer_all(reply);
      } else if (item.posted.answered) {
        item.posted.answered({reply});
      }
    }
  }
}

}  // namespace kron::cluster
