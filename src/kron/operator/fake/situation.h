#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/simulation.h"
#include "kron/operator/names.h"

namespace kron::testing {

// One KronJob, one leader, and a clock that is moved by hand. What the leader does is told as the list of its calls.
class Situation : public ::testing::Test {
 protected:
  using Calls = std::vector<std::string>;

  explicit Situation() { set_clock("11:59:30"); }

  // Of 2026-03-01.
  void set_clock(const std::string& time) { world.server.now = at("2026-03-01T" + time + "Z"); }

  void create() {
    world.server.create("kronjobs", spec.object());
    leader.list("kronjobs");
    leader.list("jobs");
  }
  void edit() {
    world.server.edit("kronjobs", kNamespace, kName,
                      [&](const Node& object) { return kube::with(object, {"spec"}, spec.spec()); });
  }
  void run_now(const std::string& token) {
    world.server.edit("kronjobs", kNamespace, kName, [&](const Node& object) {
      return kube::with_text(object, {"metadata", "annotations", "kron.io/run-now"}, token);
    });
  }
  // Another leader, who knows nothing but what the server has.
  void change_leader() {
    leader.crash();
    leader.list("jobs");
    leader.list("kronjobs");
  }

  // Everything that has happened is heard, and the leader works until it rests or backs off. Its calls, as "create
  // 201".
  Calls work() {
    leader.hear_all();
    const std::size_t before = world.trace.size();
    for (int i = 0; i < 100 && leader.step(Fate::answered); ++i) {
    }
    return calls_since(before);
  }
  Calls work_at(const std::string& time) {
    set_clock(time);
    return work();
  }
  // At 12:00:00 the first period is due.
  Calls first_run() {
    create();
    work();
    return work_at("12:00:00");
  }
  // One call.
  Calls step(Fate fate = Fate::answered) {
    const std::size_t before = world.trace.size();
    leader.step(fate);
    return calls_since(before);
  }

  [[nodiscard]] Calls calls_since(std::size_t before) const {
    Calls calls;
    for (std::size_t i = before; i < world.trace.size(); ++i) {
      const std::string& line = world.trace[i];
      if (line.ends_with(":")) continue;
      const std::string verb = line.substr(21, line.find(' ', 21) - 21);
      const std::size_t last = line.rfind(' ');
      calls.push_back(line.ends_with(")") ? verb : verb + line.substr(last));
    }
    return calls;
  }

  [[nodiscard]] kronjobs::KronJobView kron_job() const {
    return kronjobs::view_kron_job(*world.server.find("kronjobs", kNamespace, kName), zones()).value();
  }
  [[nodiscard]] kronjobs::KronJobStatus status() const { return kron_job().status; }
  [[nodiscard]] std::string last() const {
    const auto status = this->status();
    if (!status.last) return "";
    const std::string outcome(name_of(*status.last->outcome));
    return rfc3339(status.last->period).substr(11, 5) + " " + outcome +
           (status.last->reason.empty() ? "" : ", " + status.last->reason);
  }
  [[nodiscard]] std::string next() const {
    const auto status = this->status();
    return status.next ? rfc3339(status.next->period).substr(11, 8) : "";
  }
  // "Ready" or "not Ready: InvalidSpec".
  [[nodiscard]] std::string condition(const std::string& type) const {
    const auto status = this->status();
    const kronjobs::Condition* found = status.find(type);
    if (found == nullptr) return "";
    return (found->is_true ? "" : "not ") + type + ": " + found->reason;
  }
  [[nodiscard]] std::string job_of(const std::string& period) const {
    return kronjobs::job_name(kNamespace, kName, at("2026-03-01T" + period + ":00Z"));
  }
  [[nodiscard]] std::optional<kronjobs::JobView> job(const std::string& period) const {
    const auto found = world.server.find("jobs", kNamespace, job_of(period));
    return found ? std::optional(kronjobs::view_job(*found).value()) : std::nullopt;
  }
  void finish(const std::string& period, bool is_success = true) {
    world.server.finish(kNamespace, job_of(period), is_success);
  }
  void remove_job(const std::string& period) {
    world.server.remove("jobs", kNamespace, job_of(period), kube::ApiServer::Deletion::background);
  }
  [[nodiscard]] std::size_t starts() const { return world.server.started().size(); }
  [[nodiscard]] bool has_notice(const std::string& reason) const {
    for (const kronjobs::Notice& notice : leader.notices()) {
      if (notice.reason == reason) return true;
    }
    return false;
  }

  World world;
  KronJobText spec;
  Leader leader{world, "leader"};
};

}  // namespace kron::testing
