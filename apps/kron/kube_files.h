#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/operator/manifest.h"

namespace kron::cli {

// The KronJobs of manifests on the disk.
struct ReadManifests {
  std::vector<kronjobs::Manifest> manifests;
  std::vector<jobs::Problem> problems;
  bool could_not_read = false;  // a path was not there, or not to be read

  // 0, 1 when there are errors, 2 when something could not be read.
  [[nodiscard]] int status() const;
};

// Files, and directories with their files .yaml, .yml and .json, in the order of their names. None at all is an error.
ReadManifests read_manifest_files(const std::vector<std::string>& paths, std::string_view ns, ZoneDatabase& zones);

// The errors among them, on standard error: for verbs that go on with the others.
void show_manifest_errors(const ReadManifests& read);

}  // namespace kron::cli
