#include "kron/runner/accounts.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "kron/base/text.h"
#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"

namespace kron::runner {
namespace {

constexpr Nanoseconds kRemembered = Seconds(5);
constexpr std::size_t kMostRemembered = 1024;
constexpr std::size_t kMostThreads = 4;  // of them hang together, if the databases do

using Key = std::pair<std::string, std::string>;
using Found = Result<std::shared_ptr<const Account>>;

// The databases have said that it is not there, or may not be had; anything else is no answer.
bool is_answer(const Result<Account>& found) {
  return found || found.error().code == Code::not_found || found.error().code == Code::refused;
}

}  // namespace

class Accounts::Lookups : public std::enable_shared_from_this<Accounts::Lookups> {
  struct Entry {
    std::optional<Found> answer;
    Nanoseconds until{0};  // the answer is as good as new
    bool is_asked = false;
  };

 public:
  explicit Lookups(LookUp look_up) : look_up_(std::move(look_up)) {}

  Status ask(const Key& key, Nanoseconds now) {
    const std::scoped_lock lock(mutex_);
    return ask_locked(key, now);
  }

  Found find(const Key& key, Nanoseconds now, Nanoseconds patience) {
    std::unique_lock lock(mutex_);
    if (const Entry& entry = entries_[key]; entry.answer && now < entry.until) return *entry.answer;
    if (Status asked = ask_locked(key, now); !asked && !entries_[key].answer) return fail(asked.error());
    const auto is_answered = [this, &key] { return !entries_[key].is_asked; };
    if (!is_slow_ && !answered_.wait_for(lock, patience, is_answered)) is_slow_ = true;
    if (const Entry& entry = entries_[key]; entry.answer) return *entry.answer;
    return fail(Code::unreachable, "the system's databases do not say who user " + quoted(key.first) +
                                       (key.second.empty() ? "" : " and group " + quoted(key.second)) +
                                       " is; see why `getent passwd` and `getent group` take so long");
  }

  void end() {
    const std::scoped_lock lock(mutex_);
    waiting_.clear();
  }

 private:
  Status ask_locked(const Key& key, Nanoseconds now) {
    if (entries_[key].is_asked) return {};
    if (threads_ < kMostThreads) {
      Result<std::thread> thread = with_thread(
          "looking up users", [self = shared_from_this()] { return std::thread([self] { self->serve(); }); });
      if (!thread && threads_ == 0) return fail(Code::unreachable, thread.error().message);
      if (thread) {
        ++threads_;
        thread->detach();
      }
    }
    forget_some();
    Entry& entry = entries_[key];
    entry.is_asked = true;
    entry.until = now + kRemembered;
    waiting_.push_back(key);
    return {};
  }

  void forget_some() {
    if (entries_.size() >= kMostRemembered) std::erase_if(entries_, [](const auto& e) { return !e.second.is_asked; });
  }

  // Ends when nothing waits: most daemons ask now and then.
  void serve() {
    become_background_thread();
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      const Key key = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      const auto begun = std::chrono::steady_clock::now();
      Result<Account> found = look_up_(key.first, key.second);
      const Nanoseconds took = std::chrono::steady_clock::now() - begun;
      lock.lock();
      take(entries_[key], std::move(found));
      if (took < kQuick) is_slow_ = false;
      answered_.notify_all();
    }
    --threads_;
  }

  static void take(Entry& entry, Result<Account> found) {
    entry.is_asked = false;
    if (entry.answer && *entry.answer && !is_answer(found)) return;
    if (found) {
      entry.answer = std::make_shared<const Account>(*std::move(found));
    } else {
      entry.answer = Found(fail(found.error()));
    }
  }

  static constexpr Nanoseconds kQuick = std::chrono::milliseconds(500);

  LookUp look_up_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::map<Key, Entry> entries_;
  std::deque<Key> waiting_;
  std::size_t threads_ = 0;
  bool is_slow_ = false;  // nobody waits for the databases any more
};

Accounts::Accounts(const Clock& clock, Options options)
    : clock_(clock), patience_(options.patience), lookups_(std::make_shared<Lookups>(std::move(options.look_up))) {}

Accounts::~Accounts() { lookups_->end(); }

// What goes wrong here is told when the account is needed.
void Accounts::prepare(const std::string& user, const std::string& group) {
  (void)lookups_->ask({user, group}, clock_.monotonic());
}

Result<std::shared_ptr<const Account>> Accounts::find(const std::string& user, const std::string& group) {
  return lookups_->find({user, group}, clock_.monotonic(), patience_);
}

}  // namespace kron::runner
