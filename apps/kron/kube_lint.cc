#include <algorithm>
#include <iterator>
#include <utility>

#include "flag_values.h"
#include "kube_files.h"
#include "kube_objects.h"
#include "kube_verbs.h"
#include "lines.h"
#include "lint_findings.h"
#include "terminal.h"

namespace kron::cli {

int kube_lint(const KubeLintOptions& options) {
  constexpr std::string_view kVerb = "kube lint";
  const Result<Instant> now = time_flag(options.now, "--now");
  if (!now) return refuse(kVerb, now.error(), options.json);
  if (const Status good = check_namespace_flag(options.ns); !good) return refuse(kVerb, good.error(), options.json);
  ZoneDatabase zones;
  ReadManifests read = read_manifest_files(options.paths, options.ns, zones);
  std::ranges::move(kronjobs::lint_manifests(read.manifests, *now), std::back_inserter(read.problems));
  const int status = read.status();
  show_findings(std::move(read.problems), counted(read.manifests.size(), "KronJob"),
                {.quiet = options.quiet, .json = options.json});
  return status;
}

}  // namespace kron::cli
