#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kron/kube/api_error.h"
#include "kron/kube/lease.h"
#include "kron/kube/lines.h"
#include "kron/kube/wire.h"

namespace {

struct Seen {
  std::vector<std::string> lines;
  bool is_refused = false;

  bool operator==(const Seen&) const = default;
};

Seen read_in_pieces(std::string_view bytes, std::size_t piece) {
  kron::kube::LineReader reader(500);
  Seen seen;
  while (!bytes.empty() && !seen.is_refused) {
    const auto fed = reader.feed(bytes.substr(0, piece), [&](std::string_view line) { seen.lines.emplace_back(line); });
    seen.is_refused = !fed.has_value();
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return seen;
}

}  // namespace

// However the bytes of a watch are cut, they are the same lines; what each says, and what an answer says, is read or
// refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Seen whole = read_in_pieces(bytes, bytes.size() + 1);
  if (read_in_pieces(bytes, 1) != whole || read_in_pieces(bytes, 13) != whole) std::abort();
  for (const std::string& line : whole.lines) static_cast<void>(kron::kube::read_watch_event(line));
  static_cast<void>(kron::kube::read_list_page(bytes));
  for (const int code : {200, 409}) {
    const auto reply = kron::kube::reply_of(kron::kube::Response{.code = code, .body = std::string(bytes)});
    const auto* answer = std::get_if<kron::kube::Answer>(&reply);
    if (answer == nullptr) continue;
    static_cast<void>(kron::kube::error_in(*answer));
    // A lease that was read can be written, and is the same then but for what a server adds.
    if (const auto lease = kron::kube::read_lease(answer->body)) {
      if (!kron::kube::read_body(kron::kube::lease_body(*lease))) std::abort();
    }
  }
  return 0;
}
