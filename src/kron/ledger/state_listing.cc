#include "kron/ledger/state_listing.h"

#include "kron/state/names.h"

namespace kron {

Result<StateListing> list_state(Directory& directory) {
  StateListing listing;
  const Status listed = directory.list([&](std::string_view name, FileType) {
    if (const auto number = parse_recorded_name(name)) listing.recorded.push_back(*number);
    const std::optional<StateName> parsed = parse_state_name(name);
    if (!parsed) return;
    if (parsed->corrupt) {
      listing.set_aside.emplace_back(parsed->identity_hash, name);
    } else {
      listing.records.push_back(parsed->identity_hash);
    }
  });
  if (!listed) return fail(listed.error());
  std::ranges::sort(listing.records);
  std::ranges::sort(listing.set_aside);
  std::ranges::sort(listing.recorded);
  return listing;
}

}  // namespace kron
