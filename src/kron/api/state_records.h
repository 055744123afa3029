#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/base/sha256.h"
#include "kron/env/file_system.h"
#include "kron/ledger/ledger.h"

// Records as the API and `kron state` show and mend them: one shape, whoever reads the directory. What looks takes no
// lock and may run on any thread.
namespace kron::api {

// {"records":[…],"next":"…"}: by file name, behind `after`; `next` is absent at the end.
Result<std::string> records_json(Directory& directory, std::string_view after, std::size_t limit);

// All that the record says. not_found: the job has none.
Result<std::string> record_json(Directory& directory, std::string_view identity);

// Whether a run is alive that the job's record calls active.
Result<bool> has_run_alive(Directory& directory, std::string_view identity, std::string_view boot_id);

std::string reset_json(std::string_view identity, const KnownJob& anew);

// What is known of a job that is not configured.
struct PrunedJob {
  Sha256 hash;
  std::string identity;  // empty: the file does not tell it
  std::string file;
};

// Jobs that are not among `configured`, by file name. One whose run is still alive, as its record says, is left out.
Result<std::vector<PrunedJob>> jobs_to_prune(Directory& directory, const std::vector<std::string>& configured,
                                             std::string_view boot_id);

// {"count":N,"dryRun":…,"records":[…]} with the first thousand of them.
std::string pruned_json(const std::vector<PrunedJob>& jobs, bool is_dry_run);

}  // namespace kron::api
