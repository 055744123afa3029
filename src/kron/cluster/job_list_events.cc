// What events do to a job list.
#include <algorithm>

#include "kron/base/text.h"
#include "kron/cluster/definition_edit.h"
#include "kron/cluster/events.h"
#include "kron/cluster/job_list.h"
#include "kron/cluster/job_list_redis.h"

namespace kron::cluster {

// Another text of one job. A text that is refused leaves the job as it runs.
void JobList::take_one(const std::string& name, std::string text, Instant read_at) {
  ReadJob job = read_cluster_job(name, text, *rules_, read_at);
  if (!job.definition || !job.errors.empty()) {
    world_.log.warning("cluster_job_refused", {{"identity", quoted(name, 200)}, {"reason", job.errors}});
    return;
  }
  if (is_draining_) job.definition->job.policy.suspend = true;
  world_.terms.set(name, std::move(job.terms));
  std::vector<jobs::JobDefinition> one;
  one.push_back(*std::move(job.definition));
  if (const Status put = world_.put(std::move(one), read_at); !put) {
    world_.log.warning("cluster_job_not_taken", {{"identity", name}, {"reason", put.error().message}});
    return;
  }
  refused_->erase(name);
  jobs_->insert_or_assign(name, std::move(text));
}

void JobList::add(std::string name, std::string definition) {
  later([this, name = std::move(name), definition = std::move(definition)] {
    const std::string* known = text(name);
    if (known != nullptr && *known == definition) return;
    take_one(name, definition, kron::now(world_.clock));
  });
}

void JobList::remove(std::string name) {
  later([this, name = std::move(name)] {
    if (text(name) == nullptr) return;
    if (const Status dropped = world_.drop(std::span(&name, 1)); !dropped) {
      world_.log.warning("cluster_job_not_dropped", {{"identity", name}, {"reason", dropped.error().message}});
      return;
    }
    jobs_->erase(name);
    refused_->erase(name);
    world_.terms.erase(name);
  });
}

void JobList::set_paused(std::string job, Pause pause) {
  later([this, job = std::move(job), pause = std::move(pause)] {
    if (job == events::kAllJobs) return pause_all(pause);
    const std::string* known = text(job);
    if (known == nullptr) return;
    const std::string before = *known;
    if (Result<std::string> edited = with_paused(before, pause); edited && *edited != before) {
      if (refused_->contains(job)) {
        jobs_->insert_or_assign(job, *std::move(edited));
      } else {
        take_one(job, *std::move(edited), kron::now(world_.clock));
      }
    }
    auto texts = std::make_shared<std::vector<TextOfJob>>();
    texts->push_back({job, before});
    write_paused_aside(job, std::move(texts), pause);
  });
}

void JobList::write_paused_aside(const std::string& job, std::shared_ptr<std::vector<TextOfJob>> texts,
                                 const Pause& pause) {
  const bool is_taken = world_.aside.run(
      [link = &world_.link, keys = &world_.keys, log = &world_.log, job, texts = std::move(texts), pause] {
        const Status written = write_paused(*link, *keys, std::move(*texts), pause);
        if (written) return;
        log->error("cluster_pause_not_written", {{"identity", job}, {"reason", written.error().message}});
      });
  if (is_taken) return;
  world_.log.error("cluster_pause_not_written", {{"identity", job}, {"reason", "too much waits to be done"}});
}

// The jobs that are loaded now. There may be many: they are edited and judged aside.
void JobList::pause_all(const Pause& pause) {
  auto read = std::make_shared<Read>();
  read->is_from_redis = false;
  auto before = std::make_shared<std::vector<TextOfJob>>();
  judge_aside(read, [jobs = jobs_, before, pause, clock = &world_.clock] {
    JobTexts texts;
    texts.read_at = kron::now(*clock);
    for (const auto& [name, text] : *jobs) {
      before->push_back({name, text});
      Result<std::string> edited = with_paused(text, pause);
      texts.definitions.emplace(name, edited ? *std::move(edited) : text);
    }
    return Result<JobTexts>(std::move(texts));
  });
  write_paused_aside(std::string(events::kAllJobs), std::move(before), pause);
}

void JobList::validate(std::vector<std::string> names) {
  later([this, names = std::move(names)] {
    world_.aside.run([link = &world_.link, keys = &world_.keys, log = &world_.log, names, rules = rules_] {
      const Result<bool> done = validate_in_redis(*link, *keys, names, *rules);
      if (!done) log->warning("cluster_validation_failed", {{"reason", done.error().message}});
    });
  });
}

void JobList::drain() {
  if (is_draining_) return;
  is_draining_ = true;
  world_.log.warning("cluster_draining", {{"reason",
                                           "drain_nodes names this host; it starts nothing by schedule "
                                           "until krond is started again"}});
  later([this] {
    auto read = std::make_shared<Read>();
    read->is_from_redis = false;
    judge_aside(read, [jobs = jobs_, clock = &world_.clock] {
      return Result<JobTexts>(JobTexts{.definitions = *jobs, .read_at = kron::now(*clock)});
    });
  });
}

void JobList::read_again(std::string name) {
  const auto work = [link = &world_.link, keys = &world_.keys, clock = &world_.clock, log = &world_.log, name,
                     to_loop = world_.aside.to_loop, alive = std::weak_ptr<Alive>(alive_), this] {
    const std::vector<std::string> names{name};
    Result<JobTexts> texts = read_job_texts_of(*link, *keys, names, kron::now(*clock));
    if (!texts) return log->warning("cluster_jobs_not_read", {{"identity", name}, {"reason", texts.error().message}});
    to_loop([alive, this, texts = std::move(texts)] {
      if (!alive.lock()) return;
      later([this, texts] {
        for (const auto& [own, text] : texts->definitions) take_one(own, text, texts->read_at);
      });
    });
  };
  world_.aside.run(work);
}

}  // namespace kron::cluster
