#include "kron/operator/fake/witness.h"

#include <algorithm>

#include "kron/base/rfc3339.h"
#include "kron/kube/object.h"
#include "kron/operator/fake/samples.h"
#include "kron/operator/job_view.h"
#include "kron/operator/names.h"
#include "kron/operator/reconcile.h"

namespace kron::testing {
namespace {

using kronjobs::JobView;
using kronjobs::KronJobView;
using kube::ApiServer;
using kube::Verb;

constexpr Seconds kMostSkew{3};  // of the clocks of leaders

bool is_about_jobs(const kube::Request& request) { return request.path.find("/jobs/") != std::string::npos; }

ApiServer::Object kron_job_in(const ApiServer& server) { return server.find("kronjobs", kNamespace, kName); }

ApiServer::Object job_in(const ApiServer& server, const std::string& path) {
  return server.find("jobs", kNamespace, path.substr(path.rfind('/') + 1));
}

std::string id_of(const kronjobs::Starting& entry) { return entry.period ? rfc3339(*entry.period) : entry.token; }

}  // namespace

void Witness::look_before(const ApiServer& server, const kube::Request& request) {
  ++calls_;
  kron_job_before_ = kron_job_in(server);
  job_before_ = is_about_jobs(request) ? job_in(server, request.path) : nullptr;
}

void Witness::look_after(const ApiServer& server, const kube::Request& request, const kube::Answer& answer) {
  if (answer.code < 300) {
    if (request.verb == Verb::update) look_at_status(server);
    if (request.verb == Verb::remove) look_at_removal(server, request);
    if (request.verb == Verb::patch && job_before_) {
      const std::string uid = kube::text_at(*job_before_, {"metadata", "uid"});
      const ApiServer::Object after = job_in(server, request.path);
      if (kube::is_true_at(*job_before_, {"spec", "suspend"}) && !kube::is_true_at(*after, {"spec", "suspend"}) &&
          std::ranges::find(ran_, uid, &std::pair<const Period, std::string>::second) != ran_.end()) {
        accuse("a Job that somebody had paused was started again: " + uid);
      }
    }
  }
  look_at_starts(server);
}

void Witness::look_at_status(const ApiServer& server) {
  const ApiServer::Object object = kron_job_in(server);
  const KronJobView before = kronjobs::view_kron_job(*kron_job_before_, zones()).value();
  const KronJobView after = kronjobs::view_kron_job(*object, zones()).value();
  const std::string& uid = after.meta.uid;
  for (const kronjobs::PeriodNote& note : after.status.recent) {
    if (std::ranges::find(before.status.recent, note) != before.status.recent.end()) continue;
    const std::string id = rfc3339(note.period);
    if (!outcomes_.emplace(Period(uid, id), *note.outcome).second) accuse("period " + id + " ended twice");
  }
  const auto through = [](const KronJobView& view) {
    return view.status.handled ? view.status.handled->last_handled : std::nullopt;
  };
  if (through(after) < through(before)) accuse("handled.through went back");
  for (const kronjobs::Starting& entry : after.status.starting) {
    const auto [known, is_new] = recorded_.emplace(Period(uid, id_of(entry)), entry.job_uid);
    if (!is_new && known->second != entry.job_uid) accuse("two Jobs are recorded for " + id_of(entry));
  }
}

void Witness::look_at_removal(const ApiServer& server, const kube::Request& request) {
  const JobView job = kronjobs::view_job(*job_before_).value();
  const bool is_foreground = request.body.find("Foreground") != std::string::npos;
  if (is_foreground) excuse(job.meta.uid);  // replaced, if not started then before it could be
  if (server.has_started(job.meta.uid)) {
    // An edit away from `replace` may not have been heard of yet.
    const bool replaces = std::ranges::any_of(server.events(), [](const ApiServer::Event& event) {
      return kube::text_at(*event.object, {"spec", "policy", "concurrency"}) == "replace";
    });
    if (!job.is_finished() && !(is_foreground && replaces)) accuse("a running Job was removed: " + job.meta.name);
    return;
  }
  if (!kron_job_before_) return;
  const KronJobView kron_job = kronjobs::view_kron_job(*kron_job_before_, zones()).value();
  if (kron_job.meta.deleting) excuse(job.meta.uid);
  for (const kronjobs::Starting& entry : kron_job.status.starting) {
    if (entry.job_uid != job.meta.uid || kron_job.meta.deleting || is_foreground) continue;
    Instant limit = entry.at;
    if (entry.period && kron_job.job) limit = std::max(limit, *job.chosen + kron_job.job->policy.deadline);
    if (server.now + kMostSkew <= limit + kronjobs::kOpeningTime) accuse("a recorded Job was removed too early");
    excuse(job.meta.uid);
  }
}

void Witness::look_at_starts(const ApiServer& server) {
  for (; starts_seen_ < server.started().size(); ++starts_seen_) {
    const ApiServer::Started& start = server.started()[starts_seen_];
    const std::string id = start.period.empty() ? start.name : start.period;
    const Period period(is_strict ? start.identity : start.owner_uid, id);
    if (const auto [known, is_new] = ran_.emplace(period, start.uid); !is_new) accuse("period " + id + " ran twice");
    if (start.period.empty()) continue;
    const ApiServer::Object kron_job = kron_job_in(server);
    const ApiServer::Object job = server.find("jobs", kNamespace, start.name);
    if (kron_job && job && kube::text_at(*kron_job, {"metadata", "uid"}) == start.owner_uid &&
        *kronjobs::view_job(*job)->chosen <= kube::metadata_of(*kron_job)->created) {
      accuse("period " + id + " was due before its KronJob was made");
    }
    const auto outcome = outcomes_.find(Period(start.owner_uid, id));
    if (outcome == outcomes_.end() || outcome->second != Outcome::executed) {
      accuse("period " + id + " ran and is not executed");
    }
  }
}

void Witness::excuse_all(const ApiServer& server) {
  for (const ApiServer::Object& job : server.list("jobs")) excuse(kube::text_at(*job, {"metadata", "uid"}));
}

void Witness::look_at_end(const ApiServer& server) {
  const ApiServer::Object object = kron_job_in(server);
  const bool is_suspended = object && kube::is_true_at(*object, {"spec", "policy", "suspend"});
  for (const auto& [period, uid] : recorded_) {
    if (server.has_started(uid) || excused_.contains(uid)) continue;
    const std::vector<ApiServer::Object> jobs = server.list("jobs");
    const bool is_there = std::ranges::any_of(jobs, [&](const ApiServer::Object& job) {
      return kube::text_at(*job, {"metadata", "uid"}) == uid;
    });
    if (is_there && is_suspended) continue;
    accuse(period.second + " was recorded to run, and did not");
  }
}

std::size_t Witness::executed() const {
  return static_cast<std::size_t>(
      std::ranges::count(outcomes_, Outcome::executed, &std::pair<const Period, Outcome>::second));
}

}  // namespace kron::testing
