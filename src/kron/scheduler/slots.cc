#include "kron/scheduler/slots.h"

namespace kron {

void Slots::admit(const jobs::RunOptions& options) {
  const auto& pool = options.pool;
  if (!pool) return;
  Group& group = groups_[pool->name];
  group.pool_ = pool->name;
  group.limit_ = pool->slots;
  ++group.jobs_;
}

void Slots::dismiss(const jobs::RunOptions& options) {
  const auto& pool = options.pool;
  if (!pool) return;
  const auto known = groups_.find(pool->name);
  if (known == groups_.end()) return;
  Group& group = known->second;
  if (group.jobs_ != 0) --group.jobs_;
  if (group.jobs_ == 0 && group.used_ == 0 && group.waiters_.empty()) groups_.erase(known);
}

Slots::Group* Slots::group_of(const jobs::JobDefinition& definition) {
  const auto& pool = definition.options->pool;
  if ((!pool && most_running_ == 0) || jobs::submits_task(definition)) return nullptr;
  if (!pool) return &groups_[std::string()];
  const auto known = groups_.find(pool->name);
  return known == groups_.end() ? nullptr : &known->second;
}

void Slots::take(Group& group) {
  ++group.used_;
  ++running_;
}

// A pool whose last job was dismissed is gone with its last run.
void Slots::give(Group& group) {
  --group.used_;
  --running_;
  if (group.jobs_ == 0 && group.used_ == 0 && group.waiters_.empty() && !group.pool_.empty()) {
    groups_.erase(groups_.find(group.pool_));
  }
}

bool Slots::is_within_limits(const Group& group) const {
  return (group.limit_ == 0 || group.used_ <= group.limit_) && (most_running_ == 0 || running_ <= most_running_);
}

bool Slots::has_room(const Group& group) const {
  return (group.limit_ == 0 || group.used_ < group.limit_) && (most_running_ == 0 || running_ < most_running_);
}

// Where the host has no limit, pools are not in each other's way.
bool Slots::may_start(const Group& group, const Place& place) const {
  if (!has_room(group)) return false;
  const Group* first = first_ready(most_running_ == 0 ? &group : nullptr);
  return first == nullptr || place <= first->waiters_.begin()->first;
}

// The group whose first waiter comes first of those that could start.
const Slots::Group* Slots::first_ready(const Group* only) const {
  if (waiting_ == 0) return nullptr;
  if (only != nullptr) return only->waiters_.empty() || !has_room(*only) ? nullptr : only;
  const Group* first = nullptr;
  for (const auto& [name, group] : groups_) {
    if (group.waiters_.empty() || !has_room(group)) continue;
    if (first == nullptr || group.waiters_.begin()->first < first->waiters_.begin()->first) first = &group;
  }
  return first;
}

void Slots::wait(Group& group, const Place& place, Job job, Instant since) {
  if (group.waiters_.try_emplace(place, Group::Waiter{job, since}).second) ++waiting_;
}

void Slots::leave(Group& group, const Place& place) { waiting_ -= group.waiters_.erase(place); }

std::optional<Slots::Ready> Slots::pop_ready() {
  const Group* first = first_ready(nullptr);
  if (first == nullptr) return std::nullopt;
  Group& group = groups_.find(first->pool_)->second;
  const auto waiter = group.waiters_.begin();
  Ready ready{waiter->second.job, &group, waiter->first, waiter->second.since};
  group.waiters_.erase(waiter);
  --waiting_;
  return ready;
}

std::string_view Slots::lacks(const Group& group) const {
  return group.limit_ != 0 && group.used_ >= group.limit_ ? std::string_view(group.pool_) : std::string_view();
}

std::vector<Slots::Use> Slots::uses() const {
  std::vector<Use> uses;
  if (most_running_ != 0) uses.push_back({.pool = {}, .slots = most_running_, .used = running_});
  const std::size_t pools_from = uses.size();
  for (const auto& [name, group] : groups_) {
    if (group.limit_ != 0) uses.push_back({.pool = name, .slots = group.limit_, .used = group.used_});
  }
  std::size_t own = pools_from;
  for (const auto& [name, group] : groups_) {
    Use* use = group.limit_ != 0 ? &uses[own++] : nullptr;
    if (lacks(group).empty()) use = most_running_ != 0 ? &uses.front() : use;
    if (use == nullptr) continue;
    for (const auto& [place, waiter] : group.waiters_) {
      ++use->waiting;
      if (use->longest_since && *use->longest_since <= waiter.since) continue;
      use->longest_since = waiter.since;
      use->longest = waiter.job;
    }
  }
  return uses;
}

}  // namespace kron
