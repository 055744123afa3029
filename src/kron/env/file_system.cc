#include "kron/env/file_system.h"

#include "kron/base/text.h"

namespace kron {

namespace {

// All the names of a moment, for a directory that has no better way.
class ListedNames : public NameReader {
 public:
  explicit ListedNames(std::vector<std::string> names) : names_(std::move(names)) {}

  Result<bool> next(std::size_t most, const std::function<void(std::string_view)>& visit) override {
    for (; most > 0 && at_ < names_.size(); --most) visit(names_[at_++]);
    return at_ < names_.size();
  }

 private:
  std::vector<std::string> names_;
  std::size_t at_ = 0;
};

Result<std::unique_ptr<Directory>> make_and_open(FileSystem& file_system, Directory& parent, std::string_view path,
                                                 std::string_view name, mode_t mode) {
  Status made = parent.make_directory(name, mode);
  if (!made && made.error().code != Code::conflict) return fail(made.error());
  // If we die here the name may be lost in a power cut; the next open finds it or makes it, and syncs.
  if (Status synced = parent.sync(); !synced) return fail(synced.error());
  return file_system.open_directory(path);
}

}  // namespace

Result<std::unique_ptr<NameReader>> Directory::read_names() {
  std::vector<std::string> names;
  if (Status listed = list([&](std::string_view name, FileType) { names.emplace_back(name); }); !listed) {
    return fail(listed.error());
  }
  return std::make_unique<ListedNames>(std::move(names));
}

Result<std::unique_ptr<File>> Directory::overwrite(std::string_view name) {
  return fail(Code::refused, "cannot overwrite " + entry_path(path(), name) + " on this file system");
}

Result<bool> Directory::exchange(std::string_view /*name*/, std::string_view /*other*/) { return false; }

Result<std::unique_ptr<Directory>> open_or_make_directory(FileSystem& file_system, std::string_view path, mode_t mode) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (path.empty() || path.front() != '/') {
    return fail(Code::invalid, "directory " + quoted(path, 200) + " is not an absolute path; start it with '/'");
  }
  if (path == "/") return file_system.open_directory(path);
  const std::size_t slash = path.rfind('/');
  const std::string_view parent_path = slash == 0 ? "/" : path.substr(0, slash);

  auto directory = file_system.open_directory(path);
  if (directory) {
    // Who made it may have died before the sync. A parent we may not even open is not one we made it in.
    if (auto parent = file_system.open_directory(parent_path)) {
      if (Status synced = (*parent)->sync(); !synced) return fail(synced.error());
    }
    return directory;
  }
  if (directory.error().code != Code::not_found) return directory;
  auto parent = open_or_make_directory(file_system, parent_path, mode);
  if (!parent) return parent;
  return make_and_open(file_system, **parent, path, path.substr(slash + 1), mode);
}

Status write_all(File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto taken = file.write(bytes);
    if (!taken) return fail(taken.error());
    bytes.remove_prefix(*taken);
  }
  return {};
}

Status check_name(std::string_view directory, std::string_view name) {
  const bool bad = name.empty() || name == ".." || name.find('/') != name.npos || name.find('\0') != name.npos;
  if (!bad) return {};
  return fail(Code::invalid, quoted(name) + " cannot be a name in " + std::string(directory) + "; use one without '/'");
}

std::string entry_path(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

Error lock_is_taken(std::string_view path, std::string_view pid) {
  std::string message = "cannot lock ";
  message.append(path).append(": process ").append(pid);
  message.append(" has it; stop that process, or use another directory");
  return Error{Code::conflict, std::move(message)};
}

}  // namespace kron
