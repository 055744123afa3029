#include "kron/cluster/job_list.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/cluster/definition_edit.h"
#include "kron/cluster/events.h"
#include "kron/cluster/job_list_redis.h"

namespace kron::cluster {
namespace {

constexpr Nanoseconds kReadAgain = std::chrono::seconds(1);
constexpr std::size_t kMostSaid = 20;  // remarks of one reading that are logged one by one

// The rules with the zone that the cluster has now. One that this host does not know is passed by: it is refused where
// krond starts.
std::shared_ptr<const JobRules> rules_in(const std::string& zone, std::shared_ptr<const JobRules> rules) {
  if (zone.empty() || zone == rules->zone.name()) return rules;
  const Result<TimeZone> found = rules->zones.find(zone);
  if (!found) return rules;
  auto changed = std::make_shared<JobRules>(*rules);
  changed->zone = *found;
  return changed;
}

void suspend_all(std::vector<jobs::JobDefinition>& definitions) {
  for (jobs::JobDefinition& definition : definitions) definition.job.policy.suspend = true;
}

}  // namespace

JobList::JobList(World world, JobRules rules)
    : world_(std::move(world)), rules_(std::make_shared<const JobRules>(std::move(rules))) {}

JobList::~JobList() = default;

const std::string* JobList::text(std::string_view name) const {
  const auto found = jobs_->find(name);
  return found != jobs_->end() ? &found->second : nullptr;
}

void JobList::reload(Cause cause, Done done) {
  std::vector<Done> all;
  if (done) all.push_back(std::move(done));
  if (!is_reading_) return begin_reading(cause, std::move(all));
  // Who asks while one is read may mean a change that it has not seen.
  if (waiting_.empty() || waiting_.back().work) waiting_.push_back({.cause = cause});
  Waiting& next = waiting_.back();
  next.cause = std::max(next.cause, cause);
  std::ranges::move(all, std::back_inserter(next.done));
}

void JobList::later(Aside::Work work) {
  if (is_reading_) {
    waiting_.push_back({.work = std::move(work)});
  } else {
    work();
  }
}

void JobList::work_off_waiting() {
  while (!is_reading_ && !waiting_.empty()) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next.work) {
      next.work();
    } else {
      begin_reading(next.cause, std::move(next.done));
    }
  }
}

void JobList::begin_reading(Cause cause, std::vector<Done> done) {
  failed_.reset();
  auto read = std::make_shared<Read>();
  read->cause = cause;
  read->done = std::move(done);
  judge_aside(read, [link = &world_.link, keys = &world_.keys, clock = &world_.clock] {
    return read_job_texts(*link, *keys, kron::now(*clock));
  });
}

// Reads and judges aside; the loop takes what came of it.
void JobList::judge_aside(std::shared_ptr<Read> read, std::function<Result<JobTexts>()> texts) {
  is_reading_ = true;
  const auto work = [read, texts = std::move(texts), rules = rules_, to_loop = world_.aside.to_loop,
                     alive = std::weak_ptr<Alive>(alive_), this] {
    read->texts = texts();
    if (read->texts) {
      read->rules = rules_in(read->texts->zone, rules);
      read->jobs = read_jobs(*read->texts, *read->rules);
      for (const JobReading::Remark& remark : read->jobs.refused) read->refused.emplace(remark.name, remark.text);
    }
    to_loop([alive, this, read] {
      if (alive.lock()) take(*read);
    });
  };
  if (world_.aside.run(work)) return;
  read->texts = fail(Code::unreachable, "too much waits to be done; the job list is read later");
  take(*read);
}

void JobList::take(Read& read) {
  is_reading_ = false;
  const Status applied = read.texts ? apply(read) : Status(fail(read.texts.error()));
  if (!applied) {
    failed_ = std::max(failed_.value_or(read.cause), read.cause);
    retry_at_ = world_.clock.monotonic() + kReadAgain;
    if (last_failure_ != applied.error().message) {
      last_failure_ = applied.error().message;
      world_.log.warning("cluster_jobs_not_read", {{"reason", last_failure_}});
    }
  } else {
    last_failure_.clear();
  }
  for (const Done& done : read.done) done(applied);
  work_off_waiting();
}

Status JobList::apply(Read& read) {
  // A Redis that has lost its data must not stop every job.
  if (read.is_from_redis && read.cause != Cause::requested && read.texts->definitions.empty() && !jobs_->empty()) {
    world_.log.error("cluster_jobs_vanished",
                     {{"jobs", static_cast<std::int64_t>(jobs_->size())},
                      {"reason", "the list in Redis is empty, and was not; the jobs are kept until a reload event"}});
    return {};
  }
  if (is_draining_) suspend_all(read.jobs.definitions);
  // First the terms: a step of a job without them could not be written.
  world_.terms.set(std::move(read.jobs.terms));
  if (Status applied = world_.apply(std::move(read.jobs.definitions)); !applied) return applied;
  say_of(read);
  auto old = std::exchange(jobs_, std::make_shared<Texts>(std::move(read.texts->definitions)));
  refused_ = std::move(read.refused);
  if (read.rules->zone.name() != rules_->zone.name()) {
    world_.log.warning("cluster_timezone_changed", {{"from", rules_->zone.name()}, {"to", read.rules->zone.name()}});
  }
  rules_ = std::move(read.rules);
  is_loaded_ = true;
  // Many texts take their time to go.
  world_.aside.run([old = std::move(old)]() mutable { old.reset(); });
  if (read.is_from_redis && !read.jobs.edits.empty()) write_aside(std::move(read.jobs.edits));
  return {};
}

// What was said at the last reading is not said again.
void JobList::say_of(const Read& read) {
  std::size_t said = 0;
  std::size_t left_out = 0;
  for (const auto& [name, reason] : read.refused) {
    const auto known = refused_.find(name);
    if (known != refused_.end() && known->second == reason) continue;
    if (said++ < kMostSaid) {
      world_.log.warning("cluster_job_refused", {{"identity", quoted(name, 200)}, {"reason", reason}});
    } else {
      ++left_out;
    }
  }
  for (const JobReading::Remark& remark : read.jobs.warnings) {
    const std::string* known = text(remark.name);
    if (known != nullptr && *known == read.texts->definitions.find(remark.name)->second) continue;
    if (said++ < kMostSaid) {
      world_.log.warning("cluster_job_warning", {{"identity", remark.name}, {"reason", remark.text}});
    } else {
      ++left_out;
    }
  }
  if (left_out != 0) {
    world_.log.warning("cluster_jobs_refused", {{"more", static_cast<std::int64_t>(left_out)}});
  }
}

// What is not written now is found out by the next reading.
void JobList::write_aside(std::vector<DefinitionEdit> edits) {
  world_.aside.run([link = &world_.link, keys = &world_.keys, log = &world_.log, edits = std::move(edits)] {
    const Result<std::size_t> written = write_edits(*link, *keys, edits);
    if (!written) log->warning("cluster_definitions_not_written", {{"reason", written.error().message}});
  });
}

std::optional<Nanoseconds> JobList::tick(Nanoseconds now) {
  if (!failed_ || is_reading_) return std::nullopt;
  if (now < retry_at_) return retry_at_;
  begin_reading(*failed_, {});
  return std::nullopt;
}

}  // namespace kron::cluster
