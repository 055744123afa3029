#include "kron/operator/answers.h"

#include <algorithm>
#include <utility>

#include "kron/base/text.h"
#include "kron/kube/api_error.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using kube::Answer;
using kube::ApiError;

constexpr Seconds kNamespaceGone{60};

bool is_failure(const kube::Reply& reply) { return std::holds_alternative<kube::Failure>(reply); }

class Taker {
 public:
  Taker(Cache& cache, std::string_view identity, const kube::Reply& reply, Instant now, ZoneDatabase& zones)
      : cache_(cache), identity_(identity), reply_(reply), now_(now), zones_(zones) {
    if (const auto* answer = std::get_if<Answer>(&reply)) error_ = kube::error_in(*answer);
  }

  // Unknown: the same name again is the same lock again.
  Next operator()(const Create& step) {
    if (is_failure(reply_)) return trouble("no answer of the API server");
    if (!error_ || error_->code == 409) trouble_is_over();
    if (!error_) return took_job();
    if (error_->code == 409) return {.then = ReadJob{step.name}};
    if (error_->namespace_terminating) return {.back_off = true, .retry_after = kNamespaceGone};
    if (!kube::is_final(*error_)) return trouble(error_->message);
    if (CacheEntry* entry = cache_.find(identity_)) entry->refusal = {step.name, error_->message};
    return {};
  }

  // A trial that could not be made must not hold anything up: the gate does not depend on it.
  Next operator()(const TryTemplate& step) {
    CacheEntry* entry = cache_.find(identity_);
    if (entry == nullptr) return {};
    Trial trial{.generation = step.generation};
    if (error_ && kube::is_final(*error_)) trial.refusal = error_->message;
    if (!error_ && !is_failure(reply_)) {
      const Node* suspend = kube::node_at(std::get<Answer>(reply_).body, {"spec", "suspend"});
      const bool* is_suspended = suspend != nullptr ? suspend->as<bool>() : nullptr;
      if (is_suspended == nullptr) trial.gate = GateKind::ungated;
      if (is_suspended != nullptr && *is_suspended) trial.gate = GateKind::foreign;
    }
    entry->trial = std::move(trial);
    return {};
  }

  // Unknown: it has landed, will never land, or lands later and finds another version. Reading tells.
  Next operator()(const WriteStatus&) {
    if (!is_failure(reply_) && !error_) return took_kron_job();
    if (!is_failure(reply_) && (error_->code == 409 || error_->code == 404)) return {.then = read_again()};
    CacheEntry* entry = cache_.find(identity_);
    if (entry != nullptr && entry->trouble) entry->trouble->muted = true;
    return is_failure(reply_) ? Next{.then = read_again()} : failed();
  }

  Next operator()(const Open& step) {
    if (is_failure(reply_)) return trouble("no answer of the API server");
    if (!error_ || error_->code == 404) trouble_is_over();
    if (!error_) return took_job();
    if (error_->code == 404) return gone_at_gate(step);
    // Another uid, or no mark of a gate: answered. Otherwise a policy of the cluster refuses it, which reading shows by
    // the Job being as it was; then it is tried again.
    if (error_->code == 422 || error_->code == 409) {
      Next next = trouble("Job " + step.name + " could not be opened: " + error_->message);
      next.then = ReadJob{step.name, step.uid};
      return next;
    }
    return trouble(error_->message);
  }

  Next operator()(const Remove& step) {
    if (is_failure(reply_)) return {.then = ReadJob{step.name, step.uid}};
    if (error_ && error_->code == 409) return {.then = ReadJob{step.name, step.uid}};
    if (error_ && error_->code != 404) return failed();
    // With finalizers or in the foreground it is still there, and is being deleted.
    if (!error_ && kube::text_at(body(), {"metadata", "uid"}) == step.uid) {
      if (const Result<JobView> job = view_job(body()); job && job->meta.deleting) return took_job();
    }
    cache_.note_gone(identity_, step.uid);
    return {};
  }

  Next operator()(const ReadJob& step) {
    if (is_failure(reply_) || (error_ && error_->code != 404)) return failed();
    const bool is_gone = error_ || kube::text_at(body(), {"metadata", "uid"}) != step.uid;
    if (is_gone && !step.uid.empty()) cache_.note_gone(identity_, step.uid);
    if (is_gone || !kube::annotation_of(body(), kGate)) trouble_is_over();
    return error_ ? Next{} : took_job();
  }

  Next operator()(const ReadKronJob& step) {
    if (is_failure(reply_) || (error_ && error_->code != 404)) return failed();
    if (!error_) return took_kron_job();
    const CacheEntry* entry = cache_.find(identity_);
    if (entry != nullptr && entry->kron_job && entry->kron_job->meta.uid == step.uid) {
      cache_.remove_kron_job(identity_, entry->kron_job->meta.resource_version, now_);
    }
    return {};
  }

  Next operator()(const Rest&) { return {}; }

 private:
  [[nodiscard]] const Node& body() const { return std::get<Answer>(reply_).body; }

  [[nodiscard]] Next failed() const {
    return {.back_off = true, .retry_after = error_ ? error_->retry_after : std::nullopt};
  }

  Next trouble(std::string message) {
    CacheEntry* entry = cache_.find(identity_);
    if (entry != nullptr) {
      if (!entry->trouble) entry->trouble = {message, now_};
      entry->trouble->message = std::move(message);
    }
    return failed();
  }

  Next took_job() {
    Result<JobView> job = view_job(body());
    if (!job) return trouble(job.error().message);
    cache_.put(*std::move(job), identity_);
    return {};
  }

  Next took_kron_job() {
    Result<KronJobView> kron_job = view_kron_job(body(), zones_, cache_.kron_job(identity_));
    if (!kron_job) return failed();
    cache_.put(*std::move(kron_job), now_);
    return {};
  }

  Next gone_at_gate(const Open& step) {
    Next next;
    if (CacheEntry* entry = cache_.find(identity_)) {
      const auto job = std::ranges::find_if(entry->jobs, [&](const JobView& j) { return j.meta.uid == step.uid; });
      if (job != entry->jobs.end() && job->is_at_gate()) {
        next.notices.push_back(
            {true, "NotOpened", "Job " + step.name + " was recorded and did not run: somebody deleted it at its gate"});
      }
    }
    cache_.note_gone(identity_, step.uid);
    return next;
  }

  void trouble_is_over() {
    if (CacheEntry* entry = cache_.find(identity_)) entry->trouble.reset();
  }

  [[nodiscard]] ReadKronJob read_again() const {
    const CacheEntry* entry = std::as_const(cache_).find(identity_);
    return {entry != nullptr && entry->kron_job ? entry->kron_job->meta.uid : std::string()};
  }

  Cache& cache_;
  std::string_view identity_;
  const kube::Reply& reply_;
  Instant now_;
  ZoneDatabase& zones_;
  std::optional<ApiError> error_;
};

}  // namespace

// view_job and view_kron_job say what is read. A spec that is known is not read again.
kube::LeftOut left_out_of(const Step& step, const KronJobView* known) {
  static constexpr std::string_view kOfJob[] = {"metadata.managedFields",
                                                "spec.selector",
                                                "spec.template.metadata",
                                                "spec.template.spec.containers",
                                                "spec.template.spec.initContainers",
                                                "spec.template.spec.volumes"};
  static constexpr std::string_view kOfKronJob[] = {"metadata.managedFields", "spec"};
  if (!std::holds_alternative<WriteStatus>(step) && !std::holds_alternative<ReadKronJob>(step)) {
    return [](const kube::ObjectMeta&) { return kube::Parts(kOfJob); };
  }
  return [known](const kube::ObjectMeta& meta) {
    const bool is_known = known != nullptr && has_same_spec(meta, known->meta);
    return kube::Parts(kOfKronJob).first(is_known ? 2 : 1);
  };
}

Next take_answer(Cache& cache, std::string_view identity, const Step& step, const kube::Reply& reply, Instant now,
                 ZoneDatabase& zones) {
  Taker taker(cache, identity, reply, now, zones);
  return std::visit(taker, step);
}

}  // namespace kron::kronjobs
