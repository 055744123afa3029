#include "kron/ledger/first_seen.h"

#include <algorithm>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"
#include "kron/ledger/state_record.h"

namespace kron {

std::string first_seen_text(const FirstSeen& jobs) {
  std::map<Instant, std::vector<std::string_view>> by_time;
  for (const auto& [identity, at] : jobs) by_time[at].push_back(identity);
  JsonWriter out;
  out.begin_map().member("Version", kStateVersion).key("FirstSeen").begin_list();
  for (auto& [at, identities] : by_time) {
    std::ranges::sort(identities);
    out.begin_map().member("At", rfc3339(at)).key("Identities").begin_list();
    for (const std::string_view identity : identities) out.text(identity);
    out.end_list().end_map();
  }
  out.end_list().end_map();
  return out.take() + "\n";
}

}  // namespace kron
