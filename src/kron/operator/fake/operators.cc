#include "kron/operator/fake/operators.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>

#include "kron/kube/object.h"

namespace kron::testing {

Operator::Operator(kube::ApiServer& server, const Clock& clock, kronjobs::Controller::Options options)
    : metrics("test", kron::now(clock)),
      way(server, clock),
      counted(way, clock, metrics),
      controller({.transport = counted, .clock = clock, .zones = zones(), .log = log, .metrics = metrics},
                 std::move(options)) {}

Operator& Operators::start(const std::string& name, bool elects) {
  kronjobs::Controller::Options options{.instance = name};
  if (elects) options.election = kube::Election::Options{.ns = "kron", .name = "kron-operator", .identity = name};
  return start(name, std::move(options));
}

Operator& Operators::start(const std::string& name, kronjobs::Controller::Options options) {
  auto made = std::make_unique<Operator>(server, clock, std::move(options));
  made->tick();
  return *(members_[name] = std::move(made));
}

bool Operators::step_all() {
  bool has_moved = false;
  for (auto& [name, member] : members_) {
    if (member->is_frozen) continue;
    while (member->way.step()) {
      member->tick();
      has_moved = true;
      if (after_each) after_each();
    }
    const auto& wakeup = member->wakeup;
    const bool is_due =
        (wakeup.wall && *wakeup.wall <= clock.wall()) || (wakeup.monotonic && *wakeup.monotonic <= clock.monotonic());
    if (!is_due) continue;
    member->tick();
    has_moved = true;
  }
  return has_moved;
}

void Operators::run_until(WallTime end) {
  constexpr int kMostRounds = 100'000;
  while (true) {
    server.now = kron::now(clock);
    for (int rounds = 0; step_all(); ++rounds) {
      if (rounds < kMostRounds) continue;
      ADD_FAILURE() << "it goes in a circle at " << rfc3339(kron::now(clock));
      return;
    }
    Nanoseconds pause = end - clock.wall();
    if (pause <= Nanoseconds(0)) return;
    for (const auto& [name, member] : members_) {
      if (member->is_frozen) continue;
      if (member->wakeup.wall) pause = std::min<Nanoseconds>(pause, *member->wakeup.wall - clock.wall());
      if (member->wakeup.monotonic) pause = std::min(pause, *member->wakeup.monotonic - clock.monotonic());
      if (const auto next = member->way.next_at()) pause = std::min(pause, *next - clock.monotonic());
    }
    clock.advance(std::max(pause, Nanoseconds(1)));
  }
}

kronjobs::KronJobView Operators::kron_job(const std::string& name) const {
  return kronjobs::view_kron_job(*server.find("kronjobs", kNamespace, name), zones()).value();
}

std::vector<std::string> Operators::recent(const std::string& name) const {
  std::vector<std::string> all;
  for (const kronjobs::PeriodNote& note : kron_job(name).status.recent) {
    all.push_back(rfc3339(note.period).substr(11, 5) + " " + std::string(name_of(*note.outcome)) +
                  (note.reason.empty() ? "" : ", " + note.reason));
  }
  return all;
}

std::map<std::string, int> Operators::starts() const {
  std::map<std::string, int> counts;
  for (const kube::ApiServer::Started& start : server.started()) {
    ++counts[start.identity + " " + (start.period.empty() ? start.name : start.period)];
  }
  return counts;
}

int Operators::most_starts_of_a_period() const {
  int most = 0;
  for (const auto& [period, count] : starts()) most = std::max(most, count);
  return most;
}

bool is_call(const ModelTransport::Asked& asked) {
  const std::string_view verb = kronjobs::kind_of(asked.request).verb;
  return asked.lane == kube::Lane::call && !asked.is_stream && verb != "list";
}

std::size_t Operators::calls() const {
  std::size_t calls = 0;
  for (const auto& [name, member] : members_) {
    calls += static_cast<std::size_t>(std::ranges::count_if(member->way.asked(), is_call));
  }
  return calls;
}

void Operators::finish_jobs() {
  for (const kube::ApiServer::Object& job : server.list("jobs")) {
    if (!kube::is_true_at(*job, {"spec", "suspend"})) {
      server.finish(kNamespace, kube::text_at(*job, {"metadata", "name"}), true);
    }
  }
}

}  // namespace kron::testing
