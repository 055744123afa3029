#include "kron/runner/run_files.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

#include "kron/base/text.h"
#include "kron/env/system_error.h"
#include "kron/runner/exit_record.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

constexpr std::size_t kMostRunId = 128;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

bool is_run_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

// Visits every name in the directory but "." and "..".
Status for_each_name(const Descriptor& directory, const std::string& path,
                     const std::function<void(const char*)>& visit) {
  const int copy = ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<DIR, CloseDirectory> stream(copy < 0 ? nullptr : ::fdopendir(copy));
  if (stream == nullptr) return fail(system_error("list", path, errno));
  ::rewinddir(stream.get());
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(entry->d_name);
    errno = 0;
  }
  if (errno != 0) return fail(system_error("list", path, errno));
  return {};
}

}  // namespace

bool is_run_id(std::string_view text) {
  return !text.empty() && text.size() <= kMostRunId && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_run_id_character);
}

Status check_run_id(std::string_view text) {
  if (is_run_id(text)) return {};
  return fail(Code::invalid,
              quoted(text) + " is no run id: use 1 to 128 letters, digits, '.', '_' and '-', and no dot first");
}

Result<RunFiles> RunFiles::open(std::string_view state_directory) {
  std::string path = std::string(state_directory) + "/runs";
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail(system_error("create", path, errno));
  Descriptor directory(::open(path.c_str(), kOpenDirectory));
  if (!directory) return fail(system_error("open", path, errno));
  return RunFiles(std::move(directory), std::move(path));
}

// A record of kron-exec's; of a larger file, more than a record may have.
std::optional<std::string> RunFiles::read(std::string_view run_id, std::string_view name) const {
  if (!is_run_id(run_id)) return std::nullopt;
  const std::string path = std::string(run_id).append("/").append(name);
  const Descriptor file(::openat(directory_.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return std::nullopt;
  char text[kMostRecord + 1];
  std::size_t size = 0;
  while (size < sizeof text) {
    const ssize_t got = uninterrupted([&] { return ::read(file.get(), text + size, sizeof text - size); });
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return std::string(text, size);
}

std::optional<RunExit> RunFiles::read_exit(std::string_view run_id) const {
  const std::optional<std::string> text = read(run_id, kExitName);
  return text ? parse_exit_record(*text, run_id) : std::nullopt;
}

std::optional<Session> RunFiles::read_started(std::string_view run_id) const {
  const std::optional<std::string> text = read(run_id, kStartedName);
  return text ? parse_started_record(*text) : std::nullopt;
}

bool RunFiles::has_started(std::string_view run_id) const {
  if (!is_run_id(run_id)) return false;
  const std::string name = std::string(run_id) + "/" + kStartedName;
  return ::faccessat(directory_.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

// What was held when its daemon died has left a directory in which it says so.
bool RunFiles::has(std::string_view run_id) const {
  if (!is_run_id(run_id)) return false;
  if (::faccessat(directory_.get(), std::string(run_id).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const std::optional<RunExit> exit = read_exit(run_id);
  return !exit || !exit->never_ran;
}

std::string RunFiles::output_path(std::string_view run_id) const {
  return path_ + "/" + std::string(run_id) + "/" + kOutputName;
}

Status RunFiles::remove(std::string_view run_id) {
  if (Status valid = check_run_id(run_id); !valid) return valid;
  const std::string name(run_id);
  const std::string path = path_ + "/" + name;
  const Descriptor directory(::openat(directory_.get(), name.c_str(), kOpenDirectory));
  if (!directory) {
    if (errno == ENOENT) return {};
    return fail(system_error("open", path, errno));
  }
  const Status emptied =
      for_each_name(directory, path, [&](const char* entry) { ::unlinkat(directory.get(), entry, 0); });
  if (!emptied) return emptied;
  if (::unlinkat(directory_.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return fail(system_error("remove", path, errno));
  }
  return {};
}

Status RunFiles::list(const std::function<void(std::string_view)>& visit) const {
  return for_each_name(directory_, path_, [&](const char* name) {
    if (is_run_id(name)) visit(name);
  });
}

}  // namespace kron::runner
