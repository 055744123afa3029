#include <cstdio>

#include "convert.h"
#include "flag_values.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/host_zone.h"
#include "kron/jobs/import_cronicle.h"
#include "kron/jobs/import_dkron.h"
#include "lines.h"
#include "terminal.h"
#include "verbs.h"

namespace kron::cli {

int import_foreign(const ImportOptions& options) {
  const Result<std::string> text = jobs::contents_of(options.file);
  if (!text) return complain("import", {text.error().code, options.file + ": " + text.error().message});
  ZoneDatabase zones;
  const jobs::HostZone host = jobs::host_zone(zones);
  jobs::ModelContext context{
      .zones = zones, .file = std::make_shared<const std::string>(options.file), .zone = host.zone};
  context.no_zone = {host.problem, host.cure};
  jobs::Report report(options.file, *text);
  const bool is_dkron = options.kind == "dkron";
  const auto definitions =
      is_dkron ? jobs::import_dkron(*text, context, report) : jobs::import_cronicle(*text, context, report);
  show_aside(report.problems());
  const std::size_t written = print_definitions(definitions, options.to);
  std::fflush(stdout);
  if (written != 0) {
    std::fprintf(stderr,
                 "kron import: wrote %s. %s was not changed: disable its jobs before krond runs these, or both will\n",
                 counted(written, "job").c_str(), is_dkron ? "dkron" : "Cronicle");
  }
  return report.error_count() == 0 && written == definitions.size() ? 0 : exit_status(Code::invalid);
}

}  // namespace kron::cli
