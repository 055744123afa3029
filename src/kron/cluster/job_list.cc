#include "kron/cluster/job_list.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/cluster/definition_edit.h"
#include "kron/cluster/job_list_redis.h"

namespace kron::cluster {
namespace {

constexpr Nanoseconds kReadAgain = std::chrono::seconds(1);
constexpr std::size_t kMostSaid = 20;  // remarks of one reading that are logged one by one

// How long the loop is kept at a time, and how many jobs it takes at once.
constexpr Nanoseconds kSlice = std::chrono::milliseconds(20);
constexpr std::size_t kSliceJobs = 256;
// What becomes due while a list is read and applied is on time; of a longer time the last part.
constexpr Seconds kLongestReading{10};

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

// What a list is judged against, as it was applied last. The list itself may be gone when that is done aside.
struct JobList::Before {
  std::shared_ptr<const Texts> jobs;
  std::shared_ptr<const Texts> refused;
  const JobTermsTable& terms;  // of the jobs that the scheduler has
  decltype(World::prefetch) prefetch;
};

// Reads and judges aside; the loop takes what came of it.
void JobList::judge_aside(std::shared_ptr<Read> read, std::function<Result<JobTexts>()> texts) {
  is_reading_ = true;
  const auto work = [read, texts = std::move(texts), rules = rules_,
                     before = Before{jobs_, refused_, world_.terms, world_.prefetch}, to_loop = world_.aside.to_loop,
                     alive = std::weak_ptr<Alive>(alive_), this] {
    read->texts = texts();
    if (read->texts) {
      read->rules = rules_in(read->texts->zone, rules);
      judge(*read, *read->rules, before);
    }
    to_loop([alive, this, read] {
      if (alive.lock()) take(read);
    });
  };
  if (world_.aside.run(work)) return;
  read->texts = fail(Code::unreachable, "too much waits to be done; the job list is read later");
  take(read);
}

// All that can be done before the loop has the list.
void JobList::judge(Read& read, const JobRules& rules, const Before& before) {
  read.jobs = read_jobs(*read.texts, rules);
  for (const JobReading::Remark& remark : read.jobs.refused) read.refused.emplace(remark.name, remark.text);
  std::size_t said = 0;
  const auto note = [&](auto& remarks, const std::string& name, const std::string& text) {
    if (said++ < kMostSaid) remarks.emplace_back(name, text);
    if (said > kMostSaid) ++read.remarks.left_out;
  };
  for (const auto& [name, reason] : read.refused) {
    const auto known = before.refused->find(name);
    if (known == before.refused->end() || known->second != reason) note(read.remarks.refused, name, reason);
  }
  for (const JobReading::Remark& remark : read.jobs.warnings) {
    const auto known = before.jobs->find(remark.name);
    const bool is_known =
        known != before.jobs->end() && known->second == read.texts->definitions.find(remark.name)->second;
    if (!is_known) note(read.remarks.warnings, remark.name, remark.text);
  }
  for (std::string& name : before.terms.names()) {
    if (!read.jobs.terms.contains(name)) read.gone.push_back(std::move(name));
  }
  std::vector<std::string> added;
  for (const jobs::JobDefinition& definition : read.jobs.definitions) {
    if (!before.terms.contains(definition.job.identity)) added.push_back(definition.job.identity);
  }
  if (before.prefetch) read.fetched = before.prefetch(added, read.jobs.terms);
}

void JobList::take(const std::shared_ptr<Read>& read) {
  if (!read->texts) return finish(read, fail(read->texts.error()));
  // A Redis that has lost its data must not stop every job.
  if (read->is_from_redis && read->cause != Cause::requested && read->texts->definitions.empty() && !jobs_->empty()) {
    world_.log.error("cluster_jobs_vanished",
                     {{"jobs", static_cast<std::int64_t>(jobs_->size())},
                      {"reason", "the list in Redis is empty, and was not; the jobs are kept until a reload event"}});
    return finish(read, {});
  }
  if (!read->fetched) return finish(read, read->fetched);
  apply_some(read);
}

// As much as may be done before the loop must hear others.
void JobList::apply_some(const std::shared_ptr<Read>& read) {
  const Nanoseconds until = world_.clock.monotonic() + kSlice;
  do {
    const Result<bool> is_done = apply_slice(*read);
    if (!is_done) return finish(read, fail(is_done.error()));
    if (*is_done) {
      Status loaded = world_.loaded ? world_.loaded() : Status();
      if (loaded) keep(read);
      return finish(read, loaded);
    }
  } while (world_.clock.monotonic() < until);
  world_.aside.to_loop([alive = std::weak_ptr<Alive>(alive_), this, read] {
    if (alive.lock()) apply_some(read);
  });
}

// True: that was the last one. If the next fails, what was applied stays, and is found as it is when the list is read
// again.
Result<bool> JobList::apply_slice(Read& read) {
  if (read.applied < read.jobs.definitions.size()) {
    const std::size_t end = std::min(read.applied + kSliceJobs, read.jobs.definitions.size());
    std::vector<jobs::JobDefinition> slice;
    for (std::size_t i = read.applied; i < end; ++i) slice.push_back(std::move(read.jobs.definitions[i]));
    if (is_draining_) suspend_all(slice);
    // First the terms: a step of a job without them could not be written.
    for (const jobs::JobDefinition& definition : slice) {
      const std::string& name = definition.job.identity;
      world_.terms.set(name, std::move(read.jobs.terms.at(name)));
    }
    const Instant since = std::max(read.texts->read_at, kron::now(world_.clock) - kLongestReading);
    if (Status put = world_.put(std::move(slice), since); !put) return fail(put.error());
    read.applied = end;
  } else if (read.dropped < read.gone.size()) {
    const std::size_t count = std::min(kSliceJobs, read.gone.size() - read.dropped);
    const std::span<const std::string> slice = std::span<const std::string>(read.gone).subspan(read.dropped, count);
    if (Status dropped = world_.drop(slice); !dropped) return fail(dropped.error());
    for (const std::string& name : slice) world_.terms.erase(name);
    read.dropped += count;
  }
  return read.applied == read.jobs.definitions.size() && read.dropped == read.gone.size();
}

// The list is this one now.
void JobList::keep(const std::shared_ptr<Read>& read) {
  say(read->remarks);
  auto old_jobs = std::exchange(jobs_, std::make_shared<Texts>(std::move(read->texts->definitions)));
  auto old_refused = std::exchange(refused_, std::make_shared<Texts>(std::move(read->refused)));
  if (read->rules->zone.name() != rules_->zone.name()) {
    world_.log.warning("cluster_timezone_changed", {{"from", rules_->zone.name()}, {"to", read->rules->zone.name()}});
  }
  rules_ = read->rules;
  is_loaded_ = true;
  if (read->is_from_redis && !read->jobs.edits.empty()) write_aside(std::move(read->jobs.edits));
  // Many texts take their time to go.
  auto judged = std::make_shared<JobReading>(std::move(read->jobs));
  world_.aside.run(
      [old_jobs = std::move(old_jobs), old_refused = std::move(old_refused), judged = std::move(judged)]() mutable {
        old_jobs.reset();
        old_refused.reset();
        judged.reset();
      });
}

void JobList::finish(const std::shared_ptr<Read>& read, const Status& applied) {
  is_reading_ = false;
  if (!applied) {
    failed_ = std::max(failed_.value_or(read->cause), read->cause);
    retry_at_ = world_.clock.monotonic() + kReadAgain;
    if (last_failure_ != applied.error().message) {
      last_failure_ = applied.error().message;
      world_.log.warning("cluster_jobs_not_read", {{"reason", last_failure_}});
    }
  } else {
    last_failure_.clear();
  }
  for (const Done& done : std::exchange(read->done, {})) done(applied);
  work_off_waiting();
}

void JobList::say(const Remarks& remarks) {
  for (const auto& [name, reason] : remarks.refused) {
    world_.log.warning("cluster_job_refused", {{"identity", quoted(name, 200)}, {"reason", reason}});
  }
  for (const auto& [name, reason] : remarks.warnings) {
    world_.log.warning("cluster_job_warning", {{"identity", name}, {"reason", reason}});
  }
  if (remarks.left_out != 0) {
    world_.log.warning("cluster_jobs_refused", {{"more", static_cast<std::int64_t>(remarks.left_out)}});
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
