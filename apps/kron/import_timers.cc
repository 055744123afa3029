#include "kron/jobs/import_timers.h"

#include <cstdio>
#include <set>

#include "convert.h"
#include "flag_values.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/host_zone.h"
#include "kron/jobs/shown_units.h"
#include "lines.h"
#include "systemctl.h"
#include "terminal.h"
#include "verbs.h"

namespace kron::cli {
namespace {

// Every timer that systemd knows, and what they start.
Result<std::string> timers_of_this_machine() {
  const std::vector<std::string> pattern{"*.timer"};
  Result<std::string> timers = shown_by_systemctl(pattern);
  if (!timers) return timers;
  std::set<std::string> started;
  for (const jobs::ShownUnit& unit : jobs::shown_units(*timers)) {
    if (const std::string_view service = unit.text("Unit"); !service.empty()) started.emplace(service);
  }
  if (started.empty()) return timers;
  const Result<std::string> services = shown_by_systemctl(std::vector<std::string>(started.begin(), started.end()));
  if (!services) return services;
  return *timers + "\n" + *services;
}

}  // namespace

int import_timers(const ImportOptions& options) {
  const Result<std::string> text = options.from.empty() ? timers_of_this_machine() : jobs::contents_of(options.from);
  const std::string source = options.from.empty() ? "systemctl show" : options.from;
  if (!text)
    return complain("import", {text.error().code,
                               options.from.empty() ? text.error().message : source + ": " + text.error().message});
  ZoneDatabase zones;
  const jobs::HostZone host = jobs::host_zone(zones);
  jobs::ModelContext context{.zones = zones, .file = std::make_shared<const std::string>(source), .zone = host.zone};
  context.no_zone = {host.problem, host.cure};
  jobs::Report report(source, *text);
  jobs::TimerOptions how{.all = options.all, .now = present()};
  if (options.keep_unit) how.keep = *options.keep_unit ? jobs::KeepUnit::always : jobs::KeepUnit::never;
  const std::vector<jobs::JobDefinition> definitions = jobs::import_timers(*text, how, context, report);
  show_aside(report.problems());
  const std::size_t written = print_definitions(definitions, options.to);
  std::fflush(stdout);
  if (written != 0) {
    std::fprintf(
        stderr,
        "kron import: wrote %s. The timers were not changed: disable them (systemctl disable --now UNIT.timer) "
        "before krond runs these jobs, or both will\n",
        counted(written, "job").c_str());
  }
  return report.error_count() == 0 && written == definitions.size() ? 0 : exit_status(Code::invalid);
}

}  // namespace kron::cli
