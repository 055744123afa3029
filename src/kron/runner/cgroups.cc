#include "kron/runner/cgroups.h"

#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "kron/runner/protocol.h"
#include "kron/runner/record_lines.h"

namespace kron::runner {
namespace {

constexpr std::size_t kMostBytes = 4 << 20;  // of a file of the kernel's

std::string read_all(int directory, const char* name) {
  const Descriptor file(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  std::string all;
  char part[4096];
  while (file && all.size() < kMostBytes) {
    const ssize_t size = uninterrupted([&] { return ::read(file.get(), part, sizeof part); });
    if (size <= 0) break;
    all.append(part, static_cast<std::size_t>(size));
  }
  return all;
}

// mountinfo writes the bytes that would break its lines as \ooo.
std::string unescaped(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    unsigned char byte = static_cast<unsigned char>(text.front());
    std::size_t used = 1;
    if (byte == '\\' && text.size() >= 4) {
      const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 4, byte, 8);
      if (error == std::errc() && end == text.data() + 4) used = 4;
    }
    plain.push_back(static_cast<char>(byte));
    text.remove_prefix(used);
  }
  return plain;
}

// The path that /proc/<pid>/cgroup gives for the hierarchy of v2, which has the number 0 and no controllers.
std::optional<std::string_view> path_in_v2(std::string_view cgroup) {
  constexpr std::string_view kV2 = "0::";
  while (std::optional<std::string_view> line = cut_before(cgroup, '\n')) {
    if (line->starts_with(kV2)) return line->substr(kV2.size());
  }
  return std::nullopt;
}

// ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [FIELD…] - TYPE SOURCE OPTIONS
std::optional<std::string> in_mount(std::string_view line, std::string_view path) {
  if (line.find(" - cgroup2 ") == std::string_view::npos) return std::nullopt;
  std::string_view fields[5];
  for (std::string_view& field : fields) {
    const std::optional<std::string_view> next = cut_before(line, ' ');
    if (!next) return std::nullopt;
    field = *next;
  }
  std::string root = unescaped(fields[3]);
  if (root == "/") root.clear();
  const bool is_below = path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
  if (!is_below) return std::nullopt;
  path.remove_prefix(root.size());
  if (path == "/") path = {};
  return unescaped(fields[4]).append(path);
}

bool has_mark(const std::string& directory, const char* name) {
  char value = 0;
  return ::getxattr(directory.c_str(), name, &value, 1) == 1 && value == '1';
}

bool has_systemd() { return ::access("/run/systemd/system", F_OK) == 0; }

// systemd manages all cgroups of a machine that it runs, and marks those that it leaves to others.
bool may_be_divided(const std::string& directory) {
  return !has_systemd() || has_mark(directory, "trusted.delegate") || has_mark(directory, "user.delegate");
}

bool can_be_divided(const std::string& directory) {
  char trial[kMostCgroupPath + 64];
  std::snprintf(trial, sizeof trial, "%s/%strial-%d", directory.c_str(), kCgroupPrefix, ::getpid());
  if (::mkdir(trial, 0755) != 0) return false;
  const bool can_kill = ::access((std::string(trial) + "/cgroup.kill").c_str(), W_OK) == 0;
  return ::rmdir(trial) == 0 && can_kill;
}

bool write_word(const std::string& path, std::string_view word) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), word.data(), word.size()) == static_cast<ssize_t>(word.size());
}

// A process at a time is what the kernel takes.
void move_processes(const std::string& from, const std::string& to) {
  if (::mkdir(to.c_str(), 0755) != 0 && errno != EEXIST) return;
  std::string processes = read_all(AT_FDCWD, (from + "/cgroup.procs").c_str());
  std::string_view rest = processes;
  while (std::optional<std::string_view> line = cut_before(rest, '\n')) write_word(to + "/cgroup.procs", *line);
}

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || words[at - 1] == ' ';
    if (begins && (end == words.size() || words[end] == ' ' || words[end] == '\n')) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> cgroup_directory(std::string_view cgroup, std::string_view mounts) {
  const std::optional<std::string_view> path = path_in_v2(cgroup);
  // Above what we can see, or removed under us.
  if (!path || path->starts_with("/..") || path->ends_with(" (deleted)")) return std::nullopt;
  while (std::optional<std::string_view> line = cut_before(mounts, '\n')) {
    if (std::optional<std::string> found = in_mount(*line, *path)) return found;
  }
  return std::nullopt;
}

std::string find_own_cgroup() {
  const std::optional<std::string> directory =
      cgroup_directory(read_all(AT_FDCWD, "/proc/self/cgroup"), read_all(AT_FDCWD, "/proc/self/mountinfo"));
  if (!directory || directory->size() > kMostCgroupPath) return {};
  const std::size_t slash = directory->rfind('/');
  if (slash != std::string::npos && directory->substr(slash + 1) == kDaemonCgroup) {
    const std::string above = directory->substr(0, slash);
    if (may_be_divided(above) && can_be_divided(above)) return above;
  }
  return may_be_divided(*directory) && can_be_divided(*directory) ? *directory : std::string();
}

Controllers enable_controllers(const std::string& directory) {
  const std::string control = directory + "/cgroup.subtree_control";
  if (directory.empty()) return {};
  // Each alone: one that the machine does not have must not take the others along.
  const auto enable = [&] {
    const std::string words = read_all(AT_FDCWD, control.c_str());
    bool is_busy = false;
    for (const std::string_view word : {"+memory", "+pids", "+cpu"}) {
      if (has_word(words, word.substr(1)) || write_word(control, word)) continue;
      is_busy = is_busy || errno == EBUSY;
    }
    return is_busy;
  };
  if (enable() && !has_systemd()) {
    move_processes(directory, directory + "/" + kDaemonCgroup);
    enable();
  }
  return controllers_in(read_all(AT_FDCWD, control.c_str()));
}

Controllers controllers_in(std::string_view words) {
  return {has_word(words, "memory"), has_word(words, "pids"), has_word(words, "cpu")};
}

CgroupEnd end_cgroup(const std::string& path, DyingCgroup& dying) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return CgroupEnd::unknown;
  Descriptor changed(::openat(directory.get(), "cgroup.events", O_RDONLY | O_CLOEXEC));
  const Descriptor kill(::openat(directory.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  char events[256];
  const ssize_t size = changed ? ::read(changed.get(), events, sizeof events) : 0;
  if (!kill || size <= 0) return CgroupEnd::unknown;
  if (std::string_view(events, static_cast<std::size_t>(size)).find("populated 0") != std::string_view::npos) {
    ::rmdir(path.c_str());
    return CgroupEnd::empty;
  }
  std::string processes = read_all(directory.get(), "cgroup.procs");
  if (::write(kill.get(), "1", 1) != 1) return CgroupEnd::unknown;
  std::string_view rest = processes;
  while (std::optional<std::string_view> line = cut_before(rest, '\n')) {
    pid_t pid = 0;
    if (read_number(*line, pid)) dying.processes.push_back(pid);
  }
  dying.changed = std::move(changed);
  return CgroupEnd::dying;
}

std::size_t remove_empty_cgroups(const std::string& parent) {
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::size_t removed = 0;
  const std::unique_ptr<DIR, Close> stream(parent.empty() ? nullptr : ::opendir(parent.c_str()));
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    if (!std::string_view(entry->d_name).starts_with(kCgroupPrefix)) continue;
    if (::unlinkat(::dirfd(stream.get()), entry->d_name, AT_REMOVEDIR) == 0) ++removed;
  }
  return removed;
}

}  // namespace kron::runner
