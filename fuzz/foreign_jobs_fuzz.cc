#include "kron/jobs/import_cronicle.h"
#include "kron/jobs/import_dkron.h"
#include "reads_back.h"

// Whatever dkron or Cronicle is said to have is read or refused, and every job reads back.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static kron::ZoneDatabase zones;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto import : {kron::jobs::import_dkron, kron::jobs::import_cronicle}) {
    kron::jobs::ModelContext context{.zones = zones};
    kron::jobs::Report report("fuzz", text);
    for (const kron::jobs::JobDefinition& definition : import(text, context, report)) {
      if (!kron::fuzz::reads_back(definition, zones)) __builtin_trap();
    }
    for (const kron::jobs::Problem& problem : report.problems()) {
      if (kron::jobs::text_of(problem).empty()) __builtin_trap();
    }
  }
  return 0;
}
