// What operators ask of one krond of a cluster, and all of them do.
#include <utility>

#include "kron/base/text.h"
#include "kron/cluster/events.h"
#include "kron/daemon/cluster_parts.h"
#include "kron/daemon/remote_output.h"
#include "kron/scheduler/log_events.h"

namespace kron::daemon {

// Answered when Redis has taken it: who hears it then hears it.
void ClusterParts::publish(const cluster::Event& event, const Attribution& from, const api::Operations::Done& done) {
  if (!link_->is_up()) return done(fail(Code::unreachable, "Redis does not answer, so the cluster cannot be told"));
  link_->post({"PUBLISH", keys_.events(), cluster::text_of(event, {from.by, from.note})},
              cluster::Link::Urgency::urgent, [this, done](const cluster::TimedReply& timed) {
                Status told;
                if (!timed.reply.is_reply()) told = fail(Code::unreachable, "Redis: " + timed.reply.why);
                world_.mailbox.post([done, told] { done(told); });
              });
}

// Here at once, also when others hear it later.
void ClusterParts::set_paused(const std::string& job, bool is_paused, const Attribution& from,
                              const api::Operations::Done& done) {
  if (!jobs_->scheduler.knows(job)) {
    return done(fail(Code::not_found, "there is no job named " + quoted(job, 200)));
  }
  const Instant t = now(clock_);
  cluster::JobList::Pause pause;
  if (is_paused) pause = {t, from.by, from.note};
  if (member_->jobs() != nullptr) member_->jobs()->set_paused(job, pause);
  const cluster::Event event =
      is_paused ? cluster::Event(cluster::events::Pause{job, t}) : cluster::Event(cluster::events::Resume{job});
  kron::Event told = JobPaused{job, Suspension{t, {}, false, from.by, from.note}};
  if (!is_paused) told = JobResumed{job, false, from, t};
  publish(event, from, telling(std::move(told), done));
}

// Whoever has paused them, on whichever host: what this host knows of them from now on is kept in its history.
void ClusterParts::note_pauses(const std::vector<jobs::JobDefinition>& definitions) {
  for (const jobs::JobDefinition& definition : definitions) {
    const std::string& job = definition.job.identity;
    const jobs::ClusterPause* pause = definition.pause.get();
    const auto known = paused_.find(job);
    if (pause == nullptr) {
      if (known == paused_.end()) continue;
      paused_.erase(known);
      world_.observe(JobResumed{job, false, {}, now(clock_)});
    } else if (known == paused_.end() || known->second != *pause) {
      paused_.insert_or_assign(job, *pause);
      if (pause->since) world_.observe(JobPaused{job, Suspension{*pause->since, {}, false, pause->by, pause->note}});
    }
  }
}

api::Operations::Done ClusterParts::telling(kron::Event event, const api::Operations::Done& done) {
  return [this, event = std::move(event), done](const Status& status) {
    if (status) log_event(world_.log, event);
    done(status);
  };
}

void ClusterParts::end_run(const std::string& run_id, std::string_view signal, const Attribution& from,
                           const api::Operations::Done& done) {
  const bool kills = signal == "KILL";
  Scheduler& scheduler = jobs_->scheduler;
  const Status ended = kills ? scheduler.kill(run_id, from) : scheduler.terminate(run_id, from);
  if (ended || ended.error().code != Code::not_found) return done(ended);
  const cluster::Event event =
      kills ? cluster::Event(cluster::events::KillRun{run_id}) : cluster::Event(cluster::events::TerminateRun{run_id});
  publish(event, from, telling(RunSignalled{{}, run_id, std::string(signal), from}, done));
}

api::Operations ClusterParts::operations() {
  api::Operations operations;
  operations.pause = [this](const std::string& job, const api::Operations::Pause& pause, const Attribution& from,
                            const api::Operations::Done& done) {
    if (pause.until || pause.skip_missed) {
      return done(fail(Code::refused,
                       "in a cluster a job is paused until it is resumed: Redis keeps no time and no wish with it; "
                       "leave out --for, --until and --skip-missed"));
    }
    set_paused(job, true, from, done);
  };
  operations.resume = [this](const std::string& job, bool skip_missed, const Attribution& from,
                             const api::Operations::Done& done) {
    if (skip_missed) return done(fail(Code::refused, "--skip-missed is not there in a cluster"));
    set_paused(job, false, from, done);
  };
  operations.terminate = [this](const std::string& run_id, const Attribution& from, const api::Operations::Done& done) {
    end_run(run_id, "TERM", from, done);
  };
  operations.kill = [this](const std::string& run_id, const Attribution& from, const api::Operations::Done& done) {
    end_run(run_id, "KILL", from, done);
  };
  return operations;
}

api::OtherHosts ClusterParts::others() {
  return {.has_run = [this](const history::Entry& run) { return !run.host.empty() && run.host != instance(); },
          .output = [this](const std::string& run_id,
                           std::size_t first) { return remote_output(*link_, keys_, run_id, first); }};
}

}  // namespace kron::daemon
