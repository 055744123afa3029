#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "kron/state/first_seen.h"
#include "kron/state/migrate.h"

namespace {

using kron::Code;
using kron::Result;
using kron::StateRecord;

// A refusal is of one kind or the other: set aside, or not known to this program.
void check_refusal(const kron::Error& error) {
  if (error.message.empty() || (error.code != Code::invalid && error.code != Code::refused)) std::abort();
}

// An older version that differs in nothing, so that migrating is tried too.
constexpr kron::state::Migration kOlder[] = {
    {.from = "0", .to = "1", .record = [](kron::Node::Map members) -> Result<kron::Node::Map> { return members; }}};

void read_record(std::string_view text) {
  Result<StateRecord> record = kron::state::parse(text, kOlder);
  if (!record) return check_refusal(record.error());
  const std::string printed = kron::state::print(*record);
  const Result<StateRecord> again = kron::state::parse(printed);
  if (!again || *again != *record) std::abort();
  const std::size_t most = printed.size() / 2;
  const Result<std::string> fitted = kron::state::fit(*record, most);
  if (!fitted) return check_refusal(fitted.error());
  if (fitted->size() > most || kron::state::parse(*fitted).value() != *record) std::abort();
}

void read_first_seen(std::string_view text) {
  const Result<kron::FirstSeen> seen = kron::parse_first_seen(text);
  if (!seen) return check_refusal(seen.error());
  const kron::FirstSeen again = kron::parse_first_seen(first_seen_text(*seen)).value();
  if (again.size() != seen->size()) std::abort();
  for (std::size_t i = 0; i < seen->size(); ++i) {
    if (again.find(seen->identity(i)) != seen->at(i)) std::abort();
  }
}

void read_recorded(std::string_view text) {
  const Result<std::vector<std::string>> recorded = kron::parse_recorded(text);
  if (!recorded) return check_refusal(recorded.error());
  if (kron::parse_recorded(kron::recorded_text(*recorded)).value() != *recorded) std::abort();
}

}  // namespace

// The files of a state directory: whatever is accepted is written back as it was read, and a record fits or is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_record(text);
  read_first_seen(text);
  read_recorded(text);
  return 0;
}
