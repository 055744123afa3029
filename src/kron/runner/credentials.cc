#include "kron/runner/credentials.h"

#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/runner/run_files.h"

namespace kron::runner {
namespace {

struct CloseCredentials {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

// Nobody but us can have put a directory there.
bool remove_if_left(int above, const std::string& path, const std::string& run_id) {
  const Descriptor directory(::openat(above, run_id.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!directory || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return false;
  ::fchmod(directory.get(), 0700);
  // Below it is the job's user's; links are not followed.
  std::error_code error;
  std::filesystem::remove_all(path + "/" + run_id, error);
  return !error;
}

Descriptor open_place(const std::string& directory) {
  return Descriptor(directory.empty() ? -1
                                      : ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

}  // namespace

std::size_t remove_left_credentials(const std::string& directory) {
  const Descriptor above = open_place(directory);
  const std::unique_ptr<DIR, CloseCredentials> stream(above ? ::opendir(directory.c_str()) : nullptr);
  if (stream == nullptr) return 0;
  std::vector<std::string> runs;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (is_run_id(entry->d_name)) runs.emplace_back(entry->d_name);
  }
  std::size_t removed = 0;
  for (const std::string& run_id : runs) removed += remove_if_left(above.get(), directory, run_id) ? 1U : 0U;
  ::rmdir(directory.c_str());
  return removed;
}

bool remove_left_credentials(const std::string& directory, std::string_view run_id) {
  const Descriptor above = open_place(directory);
  if (!above || !is_run_id(run_id)) return false;
  const bool is_removed = remove_if_left(above.get(), directory, std::string(run_id));
  ::rmdir(directory.c_str());
  return is_removed;
}

}  // namespace kron::runner
