#include <cstdlib>

#include "kron/cluster/definition_edit.h"
#include "kron/cluster/json_spans.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// A definition that can be edited stays JSON, says what it was told, and is not changed by being told again.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool paused : {true, false}) {
    const kron::Result<std::string> edited = kron::cluster::with_paused(text, paused);
    if (!edited) continue;
    check(kron::cluster::parse_foreign_json(*edited).has_value());
    check(*kron::cluster::with_paused(*edited, paused) == *edited);
  }
  const kron::Result<std::string> noted = kron::cluster::with_validation_errors(text, "bad \"x\"");
  if (!noted) return 0;
  check(**kron::cluster::validation_errors_of(*noted) == "bad \"x\"");
  const kron::Result<std::string> taken = kron::cluster::with_validation_errors(*noted, std::nullopt);
  check(taken && kron::cluster::parse_foreign_json(*taken).has_value());
  check(!*kron::cluster::validation_errors_of(*taken));
  const kron::Result<std::string> signed_text = kron::cluster::with_signature(text, "00");
  check(signed_text && kron::cluster::parse_foreign_json(*signed_text).has_value());
  return 0;
}
