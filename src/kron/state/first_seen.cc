#include "kron/state/first_seen.h"

#include <map>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"
#include "kron/state/record.h"

namespace kron {

FirstSeen::FirstSeen(std::initializer_list<std::pair<std::string_view, Instant>> jobs) {
  for (const auto& [identity, at] : jobs) add(identity, at);
}

void FirstSeen::reserve(std::size_t jobs) {
  jobs_.reserve(jobs);
  index_.reserve(jobs);
}

std::optional<Instant> FirstSeen::find(std::string_view wanted) const {
  const auto known = index_.find(hash_of(wanted), [&](std::uint32_t i) { return identity(i) == wanted; });
  if (!known) return std::nullopt;
  return jobs_[*known].at;
}

Instant FirstSeen::add(std::string_view added, Instant at) {
  const std::size_t hash = hash_of(added);
  const auto known = index_.find(hash, [&](std::uint32_t i) { return identity(i) == added; });
  if (known) return jobs_[*known].at;
  index_.insert(hash, static_cast<std::uint32_t>(jobs_.size()));
  jobs_.push_back({at, identities_.size(), added.size()});
  identities_ += added;
  return at;
}

std::string first_seen_text(const FirstSeen& jobs) {
  std::map<Instant, std::vector<std::string_view>> by_time;
  for (std::size_t i = 0; i < jobs.size(); ++i) by_time[jobs.at(i)].push_back(jobs.identity(i));
  JsonWriter out;
  out.begin_map().member("Version", kStateVersion).key("FirstSeen").begin_list();
  for (const auto& [at, identities] : by_time) {
    out.begin_map().member("At", rfc3339(at)).key("Identities").begin_list();
    for (const std::string_view identity : identities) out.text(identity);
    out.end_list().end_map();
  }
  out.end_list().end_map();
  return out.take() + "\n";
}

std::string recorded_text(std::span<const std::string> identities) {
  JsonWriter out;
  out.begin_map().member("Version", kStateVersion).key("Identities").begin_list();
  for (const std::string& identity : identities) out.text(identity);
  out.end_list().end_map();
  return out.take() + "\n";
}

}  // namespace kron
