#include "kron/ledger/recent_records.h"

#include <iterator>
#include <utility>

namespace kron {

void RecentRecords::drop(Place place) {
  places_.erase(place->recent.record.identity);
  bytes_ -= place->bytes;
  kept_.erase(place);
}

std::optional<RecentRecords::Recent> RecentRecords::take(std::string_view identity) {
  const auto known = places_.find(identity);
  if (known == places_.end()) return std::nullopt;
  const Place place = known->second;
  places_.erase(known);
  bytes_ -= place->bytes;
  Recent recent = std::move(place->recent);
  kept_.erase(place);
  return recent;
}

void RecentRecords::keep(Recent recent, std::size_t bytes) {
  if (const auto known = places_.find(recent.record.identity); known != places_.end()) drop(known->second);
  if (bytes > most_bytes_) return;
  kept_.push_back({std::move(recent), bytes});
  const Place place = std::prev(kept_.end());
  places_.emplace(place->recent.record.identity, place);
  bytes_ += bytes;
  while (bytes_ > most_bytes_) drop(kept_.begin());
}

void RecentRecords::clear() {
  places_.clear();
  kept_.clear();
  bytes_ = 0;
}

}  // namespace kron
