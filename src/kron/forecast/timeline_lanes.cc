#include "kron/forecast/timeline_lanes.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "kron/forecast/period_walk.h"

namespace kron {
namespace {

constexpr std::size_t kFewestTogether = 3;  // two jobs are better told apart

bool is_digit(char c) { return c >= '0' && c <= '9'; }

using Places = std::vector<std::size_t>;

// What belongs together, by its key; in the order in which keys were first met.
class Groups {
 public:
  void add(const std::string& key, std::size_t place) {
    const auto [found, is_new] = index_.try_emplace(key, groups_.size());
    if (is_new) groups_.emplace_back(key, Places{});
    groups_[found->second].second.push_back(place);
  }
  std::vector<std::pair<std::string, Places>>& all() { return groups_; }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::pair<std::string, Places>> groups_;
};

// `team/a/` of `team/a/b`, and `team/a/` of the lane `team/a/*`, too.
std::string_view path_of(std::string_view name) { return name.substr(0, name.rfind('/') + 1); }

// Puts lanes of one path together, the fullest first, until there are no more than were asked for.
void join_paths(std::vector<TimelineLane>& lanes, const TimelineQuestion& question) {
  Groups paths;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::string path(path_of(lanes[i].name));
    if (path.size() > question.prefix.size()) paths.add(path, i);
  }
  auto& groups = paths.all();
  std::ranges::stable_sort(groups, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::size_t left = lanes.size();
  for (const auto& [path, places] : groups) {
    if (left <= question.lanes || places.size() < kFewestTogether) break;
    TimelineLane& first = lanes[places.front()];
    first.name = path + "*";
    for (std::size_t i = 1; i < places.size(); ++i) {
      TimelineLane& other = lanes[places[i]];
      first.jobs.insert(first.jobs.end(), other.jobs.begin(), other.jobs.end());
      other.jobs.clear();
    }
    left -= places.size() - 1;
  }
  std::erase_if(lanes, [](const TimelineLane& lane) { return lane.jobs.empty(); });
}

}  // namespace

std::string without_digits(std::string_view name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      plain += name[i];
    } else if (i == 0 || !is_digit(name[i - 1])) {
      plain += '*';
    }
  }
  return plain;
}

std::vector<TimelineLane> lanes_of(std::span<const jobs::JobDefinition> definitions, const TimelineQuestion& question) {
  Groups alike;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (can_start(definitions[i])) alike.add(without_digits(definitions[i].job.identity), i);
  }
  std::vector<TimelineLane> lanes;
  for (auto& [name, places] : alike.all()) {
    if (places.size() >= kFewestTogether) {
      lanes.push_back({.name = name, .jobs = std::move(places)});
      continue;
    }
    for (const std::size_t place : places) lanes.push_back({.name = definitions[place].job.identity, .jobs = {place}});
  }
  if (lanes.size() > question.lanes) join_paths(lanes, question);
  return lanes;
}

}  // namespace kron
