#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kron/kube/fake/api_server.h"
#include "kron/operator/kron_job.h"

namespace kron::testing {

// Sees every call of the operator that reaches the server, and what it did there, and says which promises are broken.
class Witness {
 public:
  // Before and after the server has handled a request of the operator.
  void look_before(const kube::ApiServer& server, const kube::Request& request);
  void look_after(const kube::ApiServer& server, const kube::Request& request, const kube::Answer& answer);

  // Others do as they like: what they delete is not lost by us.
  void excuse(const std::string& job_uid) { excused_.insert(job_uid); }
  // Every Job that is there: garbage collection, or the deletion of a KronJob.
  void excuse_all(const kube::ApiServer& server);

  // At the end, when everything is quiet: what was recorded to run has run.
  void look_at_end(const kube::ApiServer& server);

  // A period is one of its KronJob object, or, when this is set, of every KronJob that has ever had the name.
  bool is_strict = false;

  [[nodiscard]] const std::vector<std::string>& broken() const { return broken_; }
  [[nodiscard]] std::size_t executed() const;
  [[nodiscard]] std::size_t ended() const { return outcomes_.size(); }
  [[nodiscard]] std::size_t calls() const { return calls_; }

 private:
  using Period = std::pair<std::string, std::string>;  // uid of the KronJob, period id

  void look_at_status(const kube::ApiServer& server);
  void look_at_removal(const kube::ApiServer& server, const kube::Request& request);
  void look_at_starts(const kube::ApiServer& server);
  void accuse(std::string what) { broken_.push_back(std::move(what)); }

  kube::ApiServer::Object job_before_;  // that the request is about
  kube::ApiServer::Object kron_job_before_;
  std::map<Period, Outcome> outcomes_;
  std::map<Period, std::string> recorded_;  // period or token → the uid of its Job
  std::set<std::string> excused_;
  std::map<Period, std::string> ran_;  // period or token → the uid of the Job that was started
  std::size_t starts_seen_ = 0;
  std::size_t calls_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace kron::testing
