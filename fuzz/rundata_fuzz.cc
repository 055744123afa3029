#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/base/text.h"
#include "kron/cluster/claims.h"
#include "kron/cluster/rundata.h"

using kron::cluster::Dialect;

// Whatever stands in rundata or in a claim file is read or refused; and any output makes a blob that is read back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)kron::cluster::parse_claim(bytes, "run");
  (void)kron::cluster::time_of(bytes);
  if (const auto read = kron::cluster::parse_rundata(bytes)) {
    if (!kron::is_valid_utf8(read->output) || !kron::is_valid_utf8(read->job)) std::abort();
  }
  const kron::cluster::FinalRun run{"vm", "job", "1.000000", kron::cluster::RunStatus::fail, -9, std::string(bytes)};
  for (const Dialect dialect : {Dialect::seed, Dialect::cronken}) {
    const auto back = kron::cluster::parse_rundata(kron::cluster::final_blob(dialect, run).with("0.25"));
    if (!back || back->output != kron::cluster::as_utf8(bytes) || back->retcode != -9) std::abort();
  }
  return 0;
}
