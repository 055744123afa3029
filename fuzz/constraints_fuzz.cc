#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kron/core/constraints.h"

// The first line is a kind, the rest its value. Whatever is accepted must print as clauses that make the same set.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::map<std::string, std::vector<kron::DateRange>> calendars{{"holidays", {{20261224, 20261226}}}};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos) return 0;
  kron::ConstraintSet set;
  const kron::Status added = add_clause(set, text.substr(0, newline), text.substr(newline + 1), calendars);
  if (!added) {
    if (added.error().message.empty() || added.error().column > size + 1) std::abort();
    return 0;
  }
  kron::ConstraintSet again;
  for (const auto& [kind, value] : clauses_of(set)) {
    if (!add_clause(again, kind, value, calendars)) std::abort();
  }
  if (again != set) std::abort();
  return 0;
}
