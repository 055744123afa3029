#include "kron/env/fake/power_cut_file_system.h"

#include <cerrno>

#include "kron/env/system_error.h"

namespace kron::testing {
namespace {

int error_number(Fault fault) {
  switch (fault) {
    case Fault::no_space:
      return ENOSPC;
    case Fault::read_only:
      return EROFS;
    case Fault::no_permission:
      return EACCES;
    case Fault::interrupted:
      return EINTR;
    case Fault::none:
    case Fault::short_write:
    case Fault::io_error:
      break;
  }
  return EIO;
}

}  // namespace

std::string_view name_of(Call call) {
  static constexpr std::string_view kNames[] = {
      "open directory", "read",   "list",   "read",           "create",           "open", "write",
      "sync",           "rename", "remove", "make directory", "remove directory", "sync", "lock"};
  return kNames[static_cast<std::size_t>(call)];
}

class FakeFile : public File {
 public:
  FakeFile(PowerCutFileSystem& owner, InodeId id, std::string path) : owner_(owner), id_(id), path_(std::move(path)) {}

  Result<std::size_t> write(std::string_view bytes) override {
    const auto begun = owner_.begin(Call::write, path_);
    if (begun.fault == Fault::interrupted) return std::size_t{0};
    if (begun.error) return fail(*begun.error);
    if (begun.fault == Fault::short_write) bytes = bytes.substr(0, (bytes.size() + 1) / 2);
    owner_.disk_.append(id_, bytes, owner_.now_);
    return bytes.size();
  }

  Status sync() { return owner_.sync_file(id_, path_); }

 private:
  PowerCutFileSystem& owner_;
  InodeId id_;
  std::string path_;
};

class FakeLock : public Lock {
 public:
  FakeLock(PowerCutFileSystem& owner, std::string path) : owner_(owner), path_(std::move(path)) {}
  ~FakeLock() override { owner_.locks_.erase(path_); }

 private:
  PowerCutFileSystem& owner_;
  std::string path_;
};

class FakeDirectory : public Directory {
 public:
  FakeDirectory(PowerCutFileSystem& owner, InodeId id, std::string path)
      : owner_(owner), id_(id), path_(std::move(path)) {}

  const std::string& path() const override { return path_; }

  Result<std::unique_ptr<File>> create(std::string_view name, mode_t mode) override {
    const std::string path = entry_path(path_, name);
    if (Status added = add(Call::create, name, {FileType::regular, owner_.user(), mode, 0, owner_.now_}); !added) {
      return fail(added.error());
    }
    return std::make_unique<FakeFile>(owner_, *owner_.disk_.find(id_, name), path);
  }

  Result<std::unique_ptr<File>> append(std::string_view name, mode_t mode) override {
    if (!owner_.disk_.find(id_, name)) return create(name, mode);
    const auto id = regular(name);
    if (!id) return fail(id.error());
    return std::make_unique<FakeFile>(owner_, *id, entry_path(path_, name));
  }

  Result<std::unique_ptr<File>> overwrite(std::string_view name) override {
    const auto id = existing(Call::overwrite, name);
    if (!id) return fail(id.error());
    owner_.disk_.empty(*id);
    return std::make_unique<FakeFile>(owner_, *id, entry_path(path_, name));
  }

  Result<FileContents> read(std::string_view name, std::size_t most) override {
    const auto id = regular(name);
    if (!id) return fail(id.error());
    const Inode& inode = owner_.disk_.at(*id);
    if (inode.data.size() > most) {
      return fail(Code::invalid, "cannot read " + entry_path(path_, name) + ": too large");
    }
    return FileContents{inode.data, inode.info};
  }

  Result<std::string> read_part(std::string_view name, std::uint64_t from, std::size_t most) override {
    const auto id = regular(name);
    if (!id) return fail(id.error());
    const std::string& data = owner_.disk_.at(*id).data;
    return from >= data.size() ? std::string() : data.substr(static_cast<std::size_t>(from), most);
  }

  Result<FileInfo> info(std::string_view name) override {
    const auto id = existing(Call::info, name);
    if (!id) return fail(id.error());
    return owner_.disk_.at(*id).info;
  }

  Status list(const std::function<void(std::string_view, FileType)>& visit) override {
    if (const auto begun = owner_.begin(Call::list, path_); begun.error) return fail(*begun.error);
    const auto entries = owner_.disk_.at(id_).entries;
    for (const auto& [name, id] : entries) visit(name, owner_.disk_.at(id).info.type);
    return {};
  }

  std::optional<DiskSpace> space() override { return owner_.space_; }

  Status rename(std::string_view name, Directory& to, std::string_view to_name, IfTaken if_taken) override {
    const auto& target = dynamic_cast<FakeDirectory&>(to);
    if (Status good = check_name(target.path_, to_name); !good) return good;
    if (const auto id = existing(Call::rename, name); !id) return fail(id.error());
    if (if_taken == IfTaken::refuse && owner_.disk_.find(target.id_, to_name)) {
      return fail(system_error("rename to", entry_path(target.path_, to_name), EEXIST));
    }
    owner_.disk_.rename(id_, name, target.id_, to_name);
    return {};
  }

  Result<bool> exchange(std::string_view name, std::string_view other) override {
    if (!owner_.disk_.find(id_, name) || !owner_.disk_.find(id_, other)) return false;
    if (const auto id = existing(Call::rename, name); !id) return fail(id.error());
    owner_.disk_.exchange(id_, name, other);
    return true;
  }

  Status remove(std::string_view name) override {
    const auto id = existing(Call::remove, name);
    if (!id) return fail(id.error());
    if (is_directory(*id)) return fail(system_error("remove", entry_path(path_, name), EISDIR));
    owner_.disk_.remove(id_, name);
    return {};
  }

  Status make_directory(std::string_view name, mode_t mode) override {
    return add(Call::make_directory, name, {FileType::directory, owner_.user(), mode, 0, owner_.now_});
  }

  Status remove_directory(std::string_view name) override {
    const auto id = existing(Call::remove_directory, name);
    if (!id) return fail(id.error());
    const std::string path = entry_path(path_, name);
    if (!is_directory(*id)) return fail(system_error("remove directory", path, ENOTDIR));
    if (!owner_.disk_.at(*id).entries.empty()) return fail(system_error("remove directory", path, ENOTEMPTY));
    owner_.disk_.remove(id_, name);
    return {};
  }

  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override {
    const auto id = existing(Call::open_directory, name);
    if (!id) return fail(id.error());
    if (!is_directory(*id)) return fail(system_error("open", entry_path(path_, name), ENOTDIR));
    return std::make_unique<FakeDirectory>(owner_, *id, entry_path(path_, name));
  }

  Status sync() override { return owner_.sync_directory(id_, path_); }

  Result<std::unique_ptr<Lock>> lock(std::string_view name) override {
    const std::string path = entry_path(path_, name);
    const auto id = owner_.disk_.find(id_, name);
    if (id && owner_.disk_.at(*id).info.type == FileType::symlink) return fail(system_error("lock", path, ELOOP));
    if (id) {
      if (const auto begun = owner_.begin(Call::lock, path); begun.error) return fail(*begun.error);
    } else if (Status added = add(Call::lock, name, {FileType::regular, owner_.user(), 0600, 0, owner_.now_}); !added) {
      return fail(added.error());
    }
    const auto [holder, is_free] = owner_.locks_.try_emplace(path, owner_.pid_);
    if (!is_free) return fail(lock_is_taken(path, std::to_string(holder->second)));
    return std::make_unique<FakeLock>(owner_, path);
  }

 private:
  bool is_directory(InodeId id) const { return owner_.disk_.at(id).info.type == FileType::directory; }

  Result<InodeId> existing(Call call, std::string_view name) const {
    if (Status good = check_name(path_, name); !good) return fail(good.error());
    const std::string path = entry_path(path_, name);
    if (const auto begun = owner_.begin(call, path); begun.error) return fail(*begun.error);
    const auto id = owner_.disk_.find(id_, name);
    if (!id) return fail(system_error(name_of(call), path, ENOENT));
    return *id;
  }

  Result<InodeId> regular(std::string_view name) const {
    const auto id = existing(Call::read, name);
    if (!id) return id;
    const FileType type = owner_.disk_.at(*id).info.type;
    const std::string path = entry_path(path_, name);
    if (type == FileType::symlink) return fail(system_error("read", path, ELOOP));
    if (type != FileType::regular) return fail(Code::refused, "cannot read " + path + ": no regular file");
    return *id;
  }

  Status add(Call call, std::string_view name, FileInfo info) const {
    if (Status good = check_name(path_, name); !good) return good;
    const std::string path = entry_path(path_, name);
    if (const auto begun = owner_.begin(call, path); begun.error) return fail(*begun.error);
    if (owner_.disk_.find(id_, name)) return fail(system_error(name_of(call), path, EEXIST));
    owner_.disk_.add(id_, name, info);
    return {};
  }

  PowerCutFileSystem& owner_;
  InodeId id_;
  std::string path_;
};

PowerCutFileSystem::Begun PowerCutFileSystem::begin(Call call, std::string_view path) {
  if (is_powered_off()) return {Fault::none, Error{Code::io, "powered off"}};
  if (is_change(call) && observe_) observe_();
  const CallRecord& record = calls_.emplace_back(CallRecord{call, std::string(path), changes_});
  if (is_change(call)) ++changes_;
  const Fault fault = rule_ ? rule_(record) : Fault::none;
  if (fault == Fault::none || fault == Fault::short_write) return {fault, std::nullopt};
  return {fault, system_error(name_of(call), path, error_number(fault))};
}

void PowerCutFileSystem::fail_change(std::size_t index, Fault fault) {
  fail_when([index, fault](const CallRecord& record) {
    return is_change(record.call) && record.index == index ? fault : Fault::none;
  });
}

Result<std::unique_ptr<Directory>> PowerCutFileSystem::open_directory(std::string_view path) {
  if (const Begun begun = begin(Call::open_directory, path); begun.error) return fail(*begun.error);
  const auto id = disk_.find_path(path);
  if (!id) return fail(system_error("open directory", path, ENOENT));
  if (disk_.at(*id).info.type != FileType::directory) return fail(system_error("open directory", path, ENOTDIR));
  return std::make_unique<FakeDirectory>(*this, *id, std::string(path));
}

std::vector<Status> PowerCutFileSystem::sync_together(std::span<File* const> files) {
  std::vector<Status> results;
  for (File* file : files) results.push_back(dynamic_cast<FakeFile&>(*file).sync());
  return results;
}

Status PowerCutFileSystem::sync_file(InodeId file, std::string_view path) {
  if (sabotage_ == Sabotage::no_file_sync) return {};
  if (sabotage_ == Sabotage::file_sync_after_rename) {
    postponed_syncs_.emplace_back(file, path);
    return {};
  }
  const Begun begun = begin(Call::sync_file, path);
  if (!begun.error) {
    disk_.sync_file(file);
    return {};
  }
  if (!is_powered_off() && begun.fault != Fault::interrupted) disk_.fail_file_sync(file);
  return fail(*begun.error);
}

Status PowerCutFileSystem::sync_directory(InodeId directory, std::string_view path) {
  if (sabotage_ != Sabotage::file_sync_after_rename) return sync_directory_now(directory, path);
  sabotage_ = Sabotage::none;
  Status result;
  for (const auto& [file, file_path] : std::exchange(postponed_syncs_, {})) {
    if (Status synced = sync_file(file, file_path); !synced) result = synced;
  }
  if (result) result = sync_directory_now(directory, path);
  sabotage_ = Sabotage::file_sync_after_rename;
  return result;
}

Status PowerCutFileSystem::sync_directory_now(InodeId directory, std::string_view path) {
  if (sabotage_ == Sabotage::no_directory_sync) return {};
  const Begun begun = begin(Call::sync_directory, path);
  if (!begun.error) {
    disk_.sync_directory(directory);
    return {};
  }
  if (!is_powered_off() && begun.fault != Fault::interrupted) disk_.fail_directory_sync(directory);
  return fail(*begun.error);
}

void PowerCutFileSystem::plant(std::string_view path, std::string data, FileInfo info) {
  const std::size_t slash = path.rfind('/');
  const InodeId parent = disk_.find_path(path.substr(0, slash)).value();
  const InodeId id = disk_.add(parent, path.substr(slash + 1), info);
  disk_.append(id, data, info.modified);
  disk_.sync_everything();
}

void PowerCutFileSystem::plant_file(std::string_view path, std::string data) {
  plant(path, std::move(data), {FileType::regular, user(), 0600, 0, now_});
}

void PowerCutFileSystem::plant_directory(std::string_view path) {
  plant(path, {}, {FileType::directory, user(), 0700, 0, now_});
}

}  // namespace kron::testing
