#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "kron/api/job_json.h"
#include "kron/api/paths.h"
#include "kron/report/attention.h"

namespace kron::api {
namespace {

// Many tabs cost one look at the jobs. Where there are so many jobs that it takes long, it is done the less often.
constexpr Nanoseconds kFresh = std::chrono::seconds(1);
constexpr int kOfTheTime = 10;

constexpr std::size_t kEntriesOfJob = 20;
constexpr std::size_t kMostMessages = 100;  // that could not be delivered
// One that is tried once more just now is not delivered either: a receiver that lets us wait is not well in between.
constexpr TaskState kUndelivered[] = {TaskState::failed, TaskState::pending, TaskState::running};
constexpr std::size_t kJobsAtOnce = 100;    // that the history is asked about
constexpr std::size_t kMostBadJobs = 1000;  // whose entries are read; the others are only counted

using OfJob = report::AttentionFacts::OfJob;

// What is being found out, step by step: on the loop, aside, and by the history.
struct Look {
  Nanoseconds begun{0};
  report::AttentionFacts facts = {};
  std::size_t jobs = 0;
  std::map<std::string, OfJob> found = {};  // by identity
  std::vector<std::string> bad = {};        // of which the history says that somebody may have to look
  std::size_t next = 0;                     // where to go on
};
using LookPtr = std::shared_ptr<Look>;

// Answers those who ask at the same time with one look. From any thread.
class Board : public std::enable_shared_from_this<Board> {
 public:
  explicit Board(Parts& parts) : parts_(parts) {}

  void answer(const CallPtr& call) {
    std::unique_lock lock(mutex_);
    const Nanoseconds present = parts_.clock.monotonic();
    if (body_ && present < fresh_until_) {
      const std::string body = *body_;
      lock.unlock();
      return call->send_json(body);
    }
    waiting_.push_back(call);
    if (waiting_.size() > 1) return;
    lock.unlock();
    const auto look = std::make_shared<Look>();
    look->begun = present;
    begin(look);
  }

 private:
  void begin(const LookPtr& look) {
    parts_.on_loop([self = shared_from_this(), look] {
      const DaemonStatus status = self->parts_.status();
      report::AttentionFacts& facts = look->facts;
      facts.now = now(self->parts_.clock);
      facts.not_ready = why_not_ready(status);
      if (status.job_files.reload_failed) facts.reload_failed = status.job_files.reload_failed->message;
      for (const RefusedFile& file : status.job_files.refused) {
        facts.refused_files.push_back({file.file, file.reason, file.errors});
      }
      for (const auto& [name, reason] : status.not_scheduled) facts.not_scheduled.push_back({name, reason});
      for (const auto& [use, longest] : status.slots) {
        if (!use.longest_since) continue;
        facts.slots_short.push_back({use.pool, use.slots, use.waiting, *use.longest_since, longest});
      }
      facts.not_delivered = status.not_delivered;
      if (status.not_queued) {
        facts.not_queued = status.not_queued->messages;
        facts.queue_refuses = status.not_queued->reason;
      }
      self->add_tokens(facts);
      look->jobs = status.jobs;
      if (!status.notifies) return self->gather(look);
      self->ask_tasks(look, kUndelivered);
    });
  }

  // Messages that were tried in vain. A queue that cannot be asked is told of elsewhere.
  void ask_tasks(const LookPtr& look, std::span<const TaskState> states) {
    if (states.empty()) return parts_.on_loop([self = shared_from_this(), look] { self->gather(look); });
    parts_.tasks.list({.state = states[0], .type = std::string(kNotifyTaskType), .limit = kMostMessages},
                      [self = shared_from_this(), look, states](const Result<TaskPage>& page) {
                        if (page) add_undelivered(look->facts, *page, states[0]);
                        self->ask_tasks(look, states.subspan(1));
                      });
  }

  static void add_undelivered(report::AttentionFacts& facts, const TaskPage& page, TaskState state) {
    for (const Task& task : page) {
      const auto tried = std::ranges::find(task.executions.rbegin(), task.executions.rend(), ExecutionStatus::aborted,
                                           &Execution::status);
      if (tried == task.executions.rend()) continue;
      const Result<Node> data = parse_json(task.spec.data);
      const Node* name = data ? data->find("destination") : nullptr;
      const auto* text = name != nullptr ? name->as<std::string>() : nullptr;
      if (text == nullptr) continue;
      facts.undelivered.push_back({*text, tried->reason, task.created_at, state == TaskState::failed});
    }
  }

  void add_tokens(report::AttentionFacts& facts) const {
    if (parts_.access == nullptr) return;
    for (const AccessStore::Listed& listed : parts_.access->list()) {
      const TokenRecord& token = listed.record;
      if (token.expires_at) facts.tokens.push_back({token.id, token.name, *token.expires_at});
    }
  }

  // On the loop: the jobs that may need somebody whatever their history says. Of those with constraints it takes a
  // while to know, so each part of them is thinned out aside before the next one.
  void gather(const LookPtr& look) {
    const Instant present = look->facts.now;
    Scheduler::Stretch stretch{.first = look->next, .most_views = kLooksAtOnce, .most_looks = kLooksAtOnce};
    stretch.is_wanted = [present](const Scheduler::View& view) {
      return report::may_need_somebody(view.definition.job, suspension_of(view), view.known.active, present);
    };
    const auto views = std::make_shared<Scheduler::Views>(parts_.scheduler.views(stretch));
    const auto go_on = [self = shared_from_this(), look, next = views->next] {
      if (!next) return self->ask_history(look);
      look->next = *next;
      self->parts_.on_loop([self, look] { self->gather(look); });
    };
    if (views->views.empty()) return go_on();
    const bool taken = parts_.aside([self = shared_from_this(), look, views, go_on] {
      for (Scheduler::View& view : views->views) self->keep_if_needed(*look, std::move(view));
      go_on();
    });
    if (!taken) refuse(too_busy());
  }

  static OfJob of(Scheduler::View view) {
    std::optional<Suspension> suspended = suspension_of(view);
    OfJob of_job{.job = std::move(view.definition.job),
                 .suspended = std::move(suspended),
                 .active = std::move(view.known.active)};
    if (view.next) of_job.next = view.next->nominal;
    return of_job;
  }

  void keep_if_needed(Look& look, Scheduler::View view) {
    OfJob of_job = of(std::move(view));
    if (of_job.next && !report::may_have_no_time(of_job.job, *of_job.next)) of_job.next.reset();
    if (!of_job.next && !of_job.suspended && of_job.active.empty()) return;
    std::string name = of_job.job.identity;
    look.found.insert_or_assign(std::move(name), std::move(of_job));
  }

  // Which jobs are bad, and how long those that run usually take.
  void ask_history(const LookPtr& look) {
    std::vector<std::string> running;
    for (const auto& [name, of_job] : look->found) {
      if (!of_job.active.empty()) running.push_back(name);
    }
    parts_.history.recent_of(std::move(running), [look](const Result<std::map<std::string, history::Recent>>& recent) {
      if (!recent) return;
      for (const auto& [name, of_job] : *recent) {
        if (of_job.usual) look->found.at(name).usual = std::chrono::round<Seconds>(*of_job.usual);
      }
    });
    parts_.history.bad_jobs([self = shared_from_this(), look](Result<std::vector<std::string>> bad) {
      if (!bad) {
        look->facts.history_failed = bad.error().message;
        return self->finish(look);
      }
      look->bad = *std::move(bad);
      look->next = 0;
      self->parts_.on_loop([self, look] { self->look_up(look); });
    });
  }

  // On the loop: what is known of the bad ones. The history also knows jobs that are gone.
  void look_up(const LookPtr& look) {
    const std::size_t end = std::min(look->bad.size(), look->next + kLooksAtOnce);
    for (; look->next < end; ++look->next) {
      const std::string& name = look->bad[look->next];
      auto view = parts_.scheduler.view(name);
      if (view && !look->found.contains(name)) {
        OfJob of_job = of(*std::move(view));
        of_job.next.reset();
        look->found.emplace(name, std::move(of_job));
      }
    }
    if (look->next < look->bad.size()) {
      return parts_.on_loop([self = shared_from_this(), look] { self->look_up(look); });
    }
    std::erase_if(look->bad, [&](const std::string& name) { return !look->found.contains(name); });
    look->next = 0;
    read_entries(look);
  }

  void read_entries(const LookPtr& look) {
    const std::size_t all = std::min(look->bad.size(), kMostBadJobs);
    if (look->next >= all) return finish(look);
    const std::size_t end = std::min(all, look->next + kJobsAtOnce);
    const auto at = look->bad.begin();
    std::vector<std::string> some(at + static_cast<std::ptrdiff_t>(look->next), at + static_cast<std::ptrdiff_t>(end));
    look->next = end;
    parts_.history.newest_of(
        std::move(some), kEntriesOfJob,
        [self = shared_from_this(), look](Result<std::map<std::string, std::vector<history::Entry>>> newest) {
          if (!newest) {
            look->facts.history_failed = newest.error().message;
            return self->finish(look);
          }
          for (auto& [name, entries] : *newest) look->found.at(name).recent = std::move(entries);
          self->read_entries(look);
        });
  }

  void finish(const LookPtr& look) {
    const bool taken = parts_.aside([self = shared_from_this(), look] {
      for (auto& [name, of_job] : look->found) look->facts.jobs.push_back(std::move(of_job));
      const std::size_t uncounted = look->bad.size() - std::min(look->bad.size(), kMostBadJobs);
      self->tell(look, report::attention_json(report::attention(look->facts), look->jobs, look->facts.now, uncounted));
    });
    if (!taken) refuse(too_busy());
  }

  void tell(const LookPtr& look, const std::string& body) {
    std::unique_lock lock(mutex_);
    const Nanoseconds present = parts_.clock.monotonic();
    fresh_until_ = present + std::max(kFresh, kOfTheTime * (present - look->begun));
    body_ = body;
    const auto waiting = std::exchange(waiting_, {});
    lock.unlock();
    for (const CallPtr& call : waiting) call->send_json(body);
  }

  void refuse(const Error& error) {
    std::unique_lock lock(mutex_);
    const auto waiting = std::exchange(waiting_, {});
    lock.unlock();
    for (const CallPtr& call : waiting) call->refuse(error);
  }

  Parts& parts_;
  std::mutex mutex_;  // guards what follows
  std::optional<std::string> body_;
  Nanoseconds fresh_until_{0};
  std::vector<CallPtr> waiting_;
};

}  // namespace

std::vector<Route> attention_routes(Parts& parts) {
  const auto board = std::make_shared<Board>(parts);
  return {{"GET", "/api/v1/attention", Right::read, [board](const CallPtr& call) { board->answer(call); }}};
}

}  // namespace kron::api
