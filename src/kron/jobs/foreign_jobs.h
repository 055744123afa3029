#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

// What the readers of other schedulers' JSON have in common.
namespace kron::jobs {

// The documents of a text that hold jobs: a list of them, one alone, or a map with a list below `list_key`. Each that
// is a map is given to `take`; what is none is an error.
void each_foreign_job(std::string_view text, std::string_view list_key, Report& report,
                      const std::function<void(const Node& job)>& take);

// A member that says something: no null, no false, no zero, and nothing empty.
const Node* said(const Node& job, std::string_view key);
// A text, or a number as it is spelled; empty when there is none.
std::string text_in(const Node& job, std::string_view key);

// A job of the model that grows key by key, all of them at the place of what they were made from.
class ForeignJob {
 public:
  ForeignJob(const Node& from, Report& report) : from_(from), report_(report), errors_before_(report.error_count()) {}

  void put(std::string_view key, Node::Value value);
  void put_policy(std::string_view key, Node::Value value);
  // `schedule` in the zone of this name; an empty one is that of the host.
  void put_schedule(const std::string& schedule, const std::string& zone, const ModelContext& context);
  // What is said there and is not carried over; `why` and `cure` are for people.
  void lose(std::string_view key, const std::string& why, const std::string& cure = "");
  void refuse(std::string_view key, const std::string& why, const std::string& cure = "");

  // Nothing when something was refused.
  std::optional<JobDefinition> finish(ModelContext& context);

 private:
  Position place_of(std::string_view key) const;

  const Node& from_;
  Report& report_;
  std::size_t errors_before_;
  Node::Map keys_;
  Node::Map policy_;
};

// A name that job files allow, and that none of `taken` has; it is among them then.
std::string name_for(std::string_view title, std::set<std::string>& taken);

}  // namespace kron::jobs
